"""`compozy vault`: a value goes in by terminal or standard input and never comes out again."""

from tests.kit.cli import Cli, sequence

SECRET = "tok-7f3a9-planted"


def test_a_value_from_standard_input_is_kept_listed_by_name_and_deleted(cli: Cli) -> None:
    assert cli("vault", "list").out.startswith("the vault is empty")
    kept = cli("vault", "set", "mcp/tracker/token", stdin=SECRET + "\n")
    assert kept.code == 0 and "vault:mcp/tracker/token" in kept.err
    again = cli("vault", "set", "mcp/tracker/token", "-o", "json", stdin=SECRET)
    assert again.object() == {"name": "mcp/tracker/token", "reference": "vault:mcp/tracker/token", "replaced": True}
    rows = sequence(cli("vault", "list", "-o", "json").json())
    assert [row["name"] for row in rows] == ["mcp/tracker/token"] and set(rows[0]) == {
        "name",
        "reference",
        "updated_at",
    }
    for call in (kept, again, cli("vault", "list")):
        assert SECRET not in call.out + call.err
    for path in cli.home.root.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()
    assert cli("vault", "delete", "mcp/tracker/token", "--yes").code == 0
    gone = cli("vault", "delete", "mcp/tracker/token", "--yes")
    assert gone.code == 69 and "try: compozy vault list" in gone.err


def test_on_a_terminal_the_value_is_asked_for_without_echo(cli: Cli) -> None:
    with cli.terminal("vault", "set", "mcp/tracker/token") as terminal:
        terminal.wait_for("Value of mcp/tracker/token (not shown)")
        terminal.type(SECRET + "\n")
        terminal.wait_for("kept mcp/tracker/token")
        assert terminal.process.wait(30) == 0
        assert SECRET not in terminal.text
    assert "mcp/tracker/token" in cli("vault", "list").out


def test_a_value_is_no_argument(cli: Cli) -> None:
    refused = cli("vault", "set", "mcp/tracker/token", SECRET)
    assert refused.code == 2 and not (cli.home.root / "vault.json").exists()


def test_bad_input_is_one_sentence_with_its_code(cli: Cli) -> None:
    assert (empty := cli("vault", "set", "a", stdin="\n")).code == 78 and "is empty" in empty.err
    assert (name := cli("vault", "set", "../a", stdin="x")).code == 78 and "no name of a secret" in name.err
    wrong = cli("vault", "set", "a", stdin="x", env={"COMPOZY_VAULT_KEY": "nonsense"})
    assert wrong.code == 78 and "32 bytes" in wrong.err
    (cli.home.root / "vault.json").write_text("{")
    for words in (("list",), ("set", "a"), ("delete", "a", "--yes")):
        damaged = cli("vault", *words, stdin="x")
        assert damaged.code == 78 and "vault.json' is damaged" in damaged.err


def test_an_agent_may_not_write_secrets(cli: Cli) -> None:
    for words in (("set", "a"), ("delete", "a", "--yes")):
        refused = cli("vault", *words, stdin="x", env={"COMPOZY_SESSION_ID": "sess-0000000000000000"})
        assert refused.code == 77 and "for a person" in refused.err
