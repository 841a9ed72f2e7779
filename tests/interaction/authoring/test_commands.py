"""The authoring commands of `compozy agent`, and `compozy capability`, against a running daemon (contract §4)."""

import json
from pathlib import Path

import pytest

from tests.kit.cli import Cli, sequence, write_agent

CATALOG = '[[capabilities]]\nid = "review-change"\nsummary = "Review."\noutcome = "A list."\nversion = "2.1"\n'


@pytest.fixture
def name(tmp_path: Path) -> str:
    """A name of its own: global agents of all tests lie in one home."""
    return "a" + "".join(c for c in tmp_path.name.lower() if c.isalnum())[-40:]


@pytest.fixture
def project(shared: Cli) -> Cli:
    assert shared("workspace", "add", ".").code == 0
    return shared


def digest_of(cli: Cli, name: str) -> str:
    return str(cli("agent", "info", name, "-o", "json").object()["definition_digest"])


def test_create_is_global_unless_a_workspace_is_named_by_flag_or_environment(project: Cli, name: str) -> None:
    made = project("agent", "create", name, "--prompt", "Hi.", "-o", "json")
    assert made.code == 0 and made.object()["origin"] == "global" and "resolution_source" not in made.object()
    assert (project.home.agents / name / "AGENT.md").exists(), "standing in a workspace does not count"
    for words, env, source in ((("--workspace", "."), {}, "flag"), ((), {"COMPOZY_WORKSPACE": "."}, "env")):
        call = project("agent", "create", f"{name}-{source}", "--prompt", "Hi.", *words, "-o", "json", env=env)
        assert call.code == 0, call.err
        assert next(iter(call.object().items())) == ("resolution_source", source)
        assert (project.folder / f".compozy/agents/{name}-{source}/AGENT.md").exists()
    blank = project("agent", "create", "x", "--prompt", "Hi.", "--workspace", " ")
    assert blank.code == 2 and "is blank" in blank.err


def test_every_flag_of_create_arrives_in_the_file(project: Cli, name: str) -> None:
    prompt = project.folder / "prompt.md"
    prompt.write_text("Keep the tables.\n")
    flags = [
        "--provider",
        "offline",
        "--model",
        "m",
        "--reasoning-effort",
        "high",
        "--permissions",
        "deny-all",
        "--tool",
        "compozy__a",
        "--tool",
        "compozy__b",
        "--toolset",
        "compozy__read",
        "--deny-tool",
        "compozy__c",
        "--category",
        "a",
        "--category",
        "b",
        "--disable-skill",
        "s",
    ]
    call = project("agent", "create", name, "--prompt-file", "prompt.md", "--command", "run me --acp", *flags)
    assert call.code == 0, call.err
    text = (project.home.agents / name / "AGENT.md").read_text()
    assert text == (
        f"---\nname: {name}\nprovider: offline\ncommand: run me --acp\nmodel: m\nreasoning_effort: high\n"
        "tools:\n- compozy__a\n- compozy__b\ntoolsets:\n- compozy__read\ndeny_tools:\n- compozy__c\n"
        "permissions: deny-all\nskills:\n  disabled:\n  - s\ncategory_path:\n- a\n- b\n---\n\nKeep the tables.\n"
    )


def test_the_prompt_comes_from_one_place(project: Cli, name: str) -> None:
    both = project("agent", "create", name, "--prompt", "a", "--prompt-file", "b")
    none = project("agent", "create", name)
    missing = project("agent", "create", name, "--prompt-file", "nowhere.md")
    assert (both.code, none.code, missing.code) == (2, 2, 1) and "nowhere.md" in missing.err
    piped = project("agent", "create", name, "--prompt-file", "-", stdin="From a pipe.\n")
    assert piped.code == 0 and "From a pipe." in (project.home.agents / name / "AGENT.md").read_text()


def test_refusals_have_their_exit_codes(project: Cli, name: str) -> None:
    assert project("agent", "create", name, "--prompt", "Hi.").code == 0
    reserved = project("agent", "create", "coordinator", "--prompt", "Hi.", "-o", "json")
    assert reserved.code == 71
    assert json.loads(reserved.err)["diagnostic"]["code"] == "agent_name_reserved"
    assert project("agent", "create", name, "--prompt", "Hi.").code == 65
    assert project("agent", "create", "../x", "--prompt", "Hi.").code == 65
    assert project("agent", "update", "nobody-here", "--expected-digest", "x", "--model", "m").code == 69
    assert project("agent", "update", name, "--model", "m").code == 2, "the digest is required"
    assert project("agent", "duplicate", name, name).code == 65
    assert project("agent", "delete", "nobody-here", "--yes").code == 69


def test_update_overlays_what_is_there_and_keeps_every_other_byte(project: Cli, name: str) -> None:
    """P30."""
    text = f"---\n# who\nname: {name}\nmodel: 'a'   # which\ntools: [compozy__a]\n---\n\nKeep.\n"
    path = write_agent(project.home.root, name, text)
    call = project("agent", "update", name, "--expected-digest", digest_of(project, name), "--model", "b")
    assert call.code == 0 and path.read_text() == text.replace("'a'", "'b'")
    cleared = project(
        "agent",
        "update",
        name,
        "--expected-digest",
        digest_of(project, name),
        "--tool",
        "",
        "--model",
        "",
        "-o",
        "json",
    )
    assert cleared.object()["edit"] == {"changed": True} and "tools" not in cleared.object()
    assert path.read_text() == f"---\n# who\nname: {name}\n---\n\nKeep.\n"
    same = project("agent", "update", name, "--expected-digest", digest_of(project, name), "--permissions", "")
    assert same.code == 0 and "nothing changed" in same.err


def test_a_stale_update_says_in_one_sentence_what_both_changed(project: Cli, name: str) -> None:
    project("agent", "create", name, "--prompt", "Hi.", "--model", "a")
    digest = digest_of(project, name)
    assert project("agent", "update", name, "--expected-digest", digest, "--prompt", "Anew.").code == 0
    call = project("agent", "update", name, "--expected-digest", digest, "--model", "b")
    assert call.code == 65 and "you change model, somebody changed prompt; the changes do not touch" in call.err
    call = project("agent", "update", name, "--expected-digest", digest, "--prompt", "Other.", "-o", "json")
    details = json.loads(call.err)["details"]
    assert details["touches"] == "yes" and details["current_digest"] == digest_of(project, name)


def test_deleting_asks_on_a_terminal_and_needs_yes_elsewhere(project: Cli, name: str) -> None:
    project("agent", "create", name, "--prompt", "Hi.")
    for words in ((), ("-o", "json"), ("-o", "jsonl")):
        assert project("agent", "delete", name, *words).code == 2
    with project.terminal("agent", "delete", name) as terminal:
        terminal.wait_for(f'Delete agent "{name}"? [y/N] ')
        terminal.type("\n")
        assert terminal.wait_exit() == 130
    assert (project.home.agents / name).exists()
    call = project("agent", "delete", name, "--yes", "-o", "json")
    assert call.object() == {"name": name, "origin": "global"} and not (project.home.agents / name).exists()


@pytest.mark.parametrize("format_name", ["human", "json", "jsonl", "toon"])
def test_every_command_speaks_every_format(project: Cli, name: str, format_name: str) -> None:
    out = ("-o", format_name)
    assert name in project("agent", "create", name, "--prompt", "Hi.", *out).out
    digest = digest_of(project, name)
    assert name in project("agent", "update", name, "--expected-digest", digest, "--model", "m", *out).out
    assert f"{name}-b" in project("agent", "duplicate", name, f"{name}-b", "--permissions", "deny-all", *out).out
    assert name in project("agent", "delete", name, "--yes", *out).out
    listed = project("agent", "history", name, *out)
    assert listed.code == 0 and "delete" in listed.out and "update" in listed.out
    kept = sequence(project("agent", "history", name, "-o", "json").json())
    assert name in project("agent", "restore", name, str(kept[0]["hash"])[:12], *out).out


def test_a_copy_into_a_workspace_shadows_and_a_deletion_says_what_is_in_force(project: Cli, name: str) -> None:
    project("agent", "create", name, "--prompt", "Hi.")
    words = ("--scope", "workspace", "--workspace", ".")
    copied = project("agent", "duplicate", name, name, *words, "-o", "json")
    assert copied.code == 0 and copied.object()["origin"] == "workspace"
    gone = project("agent", "delete", name, "--workspace", ".", "--yes", "-o", "json").object()
    assert gone == {"resolution_source": "flag", "name": name, "origin": "workspace", "unshadowed_origin": "global"}


def test_capabilities_are_listed_pinned_and_carried_away_verified(project: Cli, name: str) -> None:
    """D27: the receiver recomputes the digest and refuses a mismatch."""
    project("agent", "create", name, "--prompt", "Hi.")
    (project.home.agents / name / "capabilities.toml").write_text(CATALOG)
    (row,) = sequence(project("agent", "capabilities", name, "-o", "json").json())
    digest = str(row["digest"])
    for pin in ("", "@2.1", f"@{digest}"):
        assert project("agent", "capabilities", name, f"review-change{pin}").code == 0
    for pin in ("@2.0", "@sha256:00"):
        call = project("agent", "capabilities", name, f"review-change{pin}")
        assert (call.code, call.out) == (65, "") and "is pinned to" in call.err
    assert project("capability", "show", name, "nothing").code == 69
    shown = project("capability", "show", name, "review-change")
    assert digest in shown.out and "A list." in shown.out
    document = project.folder / "review-change.json"
    document.write_text(project("capability", "export", name, "review-change").out)
    verified = project("capability", "verify", str(document), "-o", "json")
    assert verified.code == 0 and verified.object()["digest"] == digest
    document.write_text(document.read_text().replace("A list.", "A lie."))
    refused = project("capability", "verify", str(document))
    assert refused.code == 65 and "do not use it" in refused.err
    assert project("capability", "verify", "-", stdin="{").code == 65


def test_a_session_says_that_its_definition_changed_since_it_began(project: Cli, name: str) -> None:
    """P34."""
    project("agent", "create", name, "--prompt", "Hi.")
    session = str(project("session", "new", "--agent", name, "-o", "json").object()["id"])
    assert "since start" not in project("session", "status", session).out
    project("agent", "update", name, "--expected-digest", digest_of(project, name), "--prompt", "Anew.")
    assert "changed since start" in project("session", "status", session).out
    project("agent", "delete", name, "--yes")
    assert "deleted since start" in project("session", "status", session).out
