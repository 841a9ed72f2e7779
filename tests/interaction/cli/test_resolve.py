"""`compozy agent resolve`: the derivation as a person and a script see it (issue 5 item 4)."""

from tests.kit.cli import Cli, sequence, write_agent


def test_a_derivation_is_one_line_a_value_with_source_and_file(shared: Cli) -> None:
    path = write_agent(shared.folder / ".compozy", "local", "---\nname: local\nmodel: own\n---\nHello.\n")
    assert shared("workspace", "add", ".").code == 0
    out = shared("agent", "resolve", "local").out
    rows = {line.split("  ")[0].strip(): line for line in out.splitlines()}
    assert "own" in rows["model"] and "agent" in rows["model"] and str(path) in rows["model"]
    assert "project default" in rows["provider"] and str(shared.home.config_file) + ":" in rows["provider"]
    assert "built in" in rows["permissions"]
    found = shared("agent", "resolve", "local", "-o", "json").object()
    assert next(iter(found)) == "resolution_source" and found["trusted"] is True
    values = {str(row["name"]): row for row in sequence(found["values"])}
    assert list(values)[:3] == ["agent", "provider", "command"]
    assert values["model"] == {"name": "model", "value": "own", "source": "agent", "place": str(path)}


def test_an_untrusted_agent_resolves_and_says_that_it_would_not_start(shared: Cli) -> None:
    text = "---\nname: local\ncommand: sh run.sh\npermissions: approve-all\n---\nHello.\n"
    write_agent(shared.folder / ".compozy", "local", text)
    assert shared("workspace", "add", ".").code == 0
    call = shared("agent", "resolve", "local")
    assert call.code == 0 and "compozy trust show" in call.err and "sh run.sh" in call.out


def test_the_built_in_agents_resolve_without_a_folder(shared: Cli) -> None:
    for name in ("coordinator", "dreaming-curator"):
        found = shared("agent", "resolve", name, "-o", "json").object()
        assert found["builtin"] is True and found["agent"] == name
        assert shared("agent", "info", name).code == 69


def test_an_unknown_agent_and_a_broken_setting_are_errors(shared: Cli) -> None:
    assert shared("agent", "resolve", "nobody").code == 65
    assert shared("workspace", "add", ".").code == 0
    (shared.folder / ".compozy").mkdir(exist_ok=True)
    (shared.folder / ".compozy" / "config.toml").write_text("[roles.dreem]\n")
    broken = shared("agent", "resolve", "general")
    assert broken.code in (71, 78) and "config.toml:1" in broken.err


def test_lists_show_what_a_session_of_the_workspace_would_use(shared: Cli) -> None:
    folder = shared.folder / ".compozy"
    write_agent(folder, "local", "---\nname: local\n---\nHello.\n")
    (folder / "config.toml").write_text('[defaults]\nagent = "local"\nprovider = "offline"\n')
    assert shared("workspace", "add", ".").code == 0
    info = shared("agent", "info", "local", "-o", "json").object()
    assert isinstance(info["effective_runtime"], dict) and info["effective_runtime"]["provider"] == "offline"
    session = shared("session", "new", "-o", "json").object()
    assert session["agent_name"] == "local"
    assert shared("agent", "resolve", "local").out.count(str(folder / "config.toml") + ":3") == 1
    (folder / "config.toml").write_text("[defaults]\nagnet = 1\n")
    assert shared("agent", "info", "local").code == 0
    refused = shared("session", "new")
    assert refused.code in (71, 78) and "did you mean 'agent'" in refused.err
