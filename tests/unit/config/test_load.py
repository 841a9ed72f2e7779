"""config.toml: defaults, merging, and every mistake with its file, line and remedy (contract §2.1, §2.2; D15)."""

from pathlib import Path

import msgspec
import pytest

from compozy.config.config import Config
from compozy.config.errors import ConfigError
from compozy.config.home import Home
from compozy.config.load import load_config


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.root.mkdir()
    return home


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "repo" / ".compozy").mkdir(parents=True)
    return tmp_path / "repo"


def load(home: Home, text: str) -> Config:
    home.config_file.write_text(text)
    return load_config(home)


def load_both(home: Home, text: str, workspace: Path, local: str) -> Config:
    home.config_file.write_text(text)
    (workspace / ".compozy" / "config.toml").write_text(local)
    return load_config(home, workspace)


def problems(home: Home, text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(home, text)
    assert caught.value.exit_code == 78
    assert (caught.value.status, caught.value.code) == (422, "config_invalid")
    return [line.removeprefix(f"{home.config_file}:") for line in str(caught.value).splitlines()]


def test_without_a_file_the_documented_defaults_are_in_force(home: Home) -> None:
    config = load_config(home)
    assert (config.http.host, config.http.port, config.http.enabled) == ("localhost", 2123, True)
    assert (config.defaults.agent, config.defaults.provider) == ("general", "")
    assert config.permissions.mode == "approve-all"
    assert config.limits.max_concurrent_agents == 20
    assert config.session.supervision.inactivity_timeout == 1800
    assert (config.session.busy_input.default_mode, config.session.busy_input.queue_cap) == ("queue", 10)
    assert config.tools.policy.approval_timeout_seconds == 120
    assert (config.log.level, config.log.max_size_mb, config.log.max_backups) == ("info", 10, 5)
    assert config.redact.enabled and config.trust.mode == "required"
    assert config.notes == () and config.sources == ()


def test_written_values_replace_defaults_and_the_rest_stays(home: Home) -> None:
    config = load(home, '[http]\nport = 3000\n[session.supervision]\ninactivity_timeout = "1h30m"\n')
    assert (config.http.port, config.http.host) == (3000, "localhost")
    assert config.session.supervision.inactivity_timeout == 5400
    assert config.session.supervision.inactivity_warning_after == 900
    assert config.sources == (str(home.config_file),)


def test_every_mistake_of_a_file_is_reported_at_once_with_line_and_nearest_key(home: Home) -> None:
    text = '\n[http]\nprot = 1\nport = 70000\n[permisions]\nmode = "x"\n[log]\nlevel = "loud"\nmax_backups = -1\n'
    assert problems(home, text) == [
        "3: unknown config key 'http.prot'; did you mean 'port'?",
        "5: unknown config key 'permisions'; did you mean 'permissions'?",
        "4: http.port: expected `int` <= 65535",
        "8: log.level: invalid enum value 'loud'; choose one of debug, info, warn, error",
        "9: log.max_backups: expected `int` >= 0",
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[session.limits]\ntimeout = "5 parsecs"\n', "2: session.limits.timeout: '5 parsecs' is no duration"),
        ("[session.limits]\ntimeout = 5\n", '2: session.limits.timeout: expected a duration such as "30s", got 5'),
        ('[session.limits]\ntimeout = "-5s"\n', "2: session.limits.timeout: '-5s' is negative"),
        ('[defaults]\nagent = "No Name"\n', "2: defaults.agent: expected `str` matching regex"),
        ("[http]\nport = true\n", "2: http.port: expected `int`, got `bool`"),
        ("http = 3\n", "1: http: expected `object`, got `int`"),
        ('[tools.policy]\ntrusted_sources = ["mcp:a", "b"]\n', "2: tools.policy.trusted_sources[1]: expected `str`"),
        ("[http]\nport = 1\nport = 2\n", "3: invalid TOML"),
        ("[http\n", "1: invalid TOML"),
        (
            '[session.supervision]\ninactivity_warning_after = "1h"\n',
            "2: session.supervision.inactivity_warning_after must not exceed inactivity_timeout",
        ),
    ],
)
def test_a_wrong_value_names_line_key_and_expectation(home: Home, text: str, says: str) -> None:
    (line,) = problems(home, text)
    assert line.startswith(says)


def test_a_file_that_is_no_utf8_or_no_file_is_named(home: Home) -> None:
    home.config_file.write_bytes(b'[http]\nhost = "\xff"\n')
    with pytest.raises(ConfigError, match="is not UTF-8"):
        load_config(home)
    home.config_file.unlink()
    home.config_file.mkdir()
    with pytest.raises(ConfigError, match="cannot read"):
        load_config(home)


def test_sections_of_other_implementations_are_read_past_with_a_note(home: Home) -> None:
    config = load(home, "[network]\nenabled = true\nchannels = 3\n[task.orchestration]\nx = 1\n")
    assert [note.removeprefix(f"{home.config_file}:").partition(":")[0] for note in config.notes] == ["1", "4"]


@pytest.mark.parametrize(
    ("key", "advice"),
    [
        ('default_model = "x"', "use models.default"),
        ("supported_models = []", "use models.curated"),
        ("supports_reasoning_effort = true", "use models.curated[].reasoning_efforts"),
        ("aliases = []", "aliases are built in"),
    ],
)
def test_a_removed_provider_key_names_what_replaced_it(home: Home, key: str, advice: str) -> None:
    (line,) = problems(home, f"[providers.claude]\n{key}\n")
    assert line.startswith(f"2: provider key '{key.split()[0]}' was removed; {advice}")


def test_keys_of_nested_tables_arrays_and_inline_tables_are_placed(home: Home) -> None:
    text = """
[[providers.claude.models.curated]]
id = "a"

[[providers.claude.models.curated]]
id = "b"
kontext = 3

[providers.codex]
models = { default = "x", defualt = "y" }
display_name = '''
[http]
port = 1'''
comand = "c"
"""
    assert [line.partition(";")[0] for line in problems(home, text)] == [
        "7: unknown config key 'providers.claude.models.curated[1].kontext'",
        "10: unknown config key 'providers.codex.models.defualt'",
        "14: unknown config key 'providers.codex.comand'",
    ]


def test_a_provider_is_merged_field_by_field_under_its_canonical_name(home: Home) -> None:
    config = load(home, '[providers.claude-code]\ndisplay_name = "Mine"\nmodels.default = "claude-opus-4-8"\n')
    row = config.providers["claude"]
    assert (row.display_name, row.default_model) == ("Mine", "claude-opus-4-8")
    assert row.command.startswith("npx") and len(row.curated) == 4
    assert "claude-code" not in config.providers


def test_the_default_provider_may_be_written_as_an_alias(home: Home) -> None:
    assert load(home, 'defaults.provider = "claude-code"\n').defaults.provider == "claude"


def test_curated_models_replace_as_a_list(home: Home) -> None:
    config = load(home, '[[providers.claude.models.curated]]\nid = "only"\nreasoning_efforts = ["low"]\n')
    assert [model.id for model in config.providers["claude"].curated] == ["only"]


def test_an_own_provider_with_slots_is_bound_to_their_variables(home: Home) -> None:
    slot = '[[providers.mine.credential_slots]]\nname = "k"\ntarget_env = "MY_KEY"\n'
    row = load(home, f'[providers.mine]\ncommand = "run me"\n{slot}').providers["mine"]
    assert row.auth_mode == "bound_secret"
    assert row.credential_slots[0].secret_ref == "env:MY_KEY"
    assert not row.builtin


def test_another_auth_mode_drops_what_belonged_to_the_old_one(home: Home) -> None:
    config = load(home, '[providers.groq]\nauth_mode = "none"\n[providers.claude]\nauth_mode = "bound_secret"\n')
    assert config.providers["groq"].credential_slots == ()
    assert config.providers["claude"].auth_login_command == ""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[providers.mine]\ndisplay_name = "x"\n', "1: provider 'mine' command is required"),
        ('[providers.mine]\ncommand = "a \'b"\n', "cannot be split"),
        (
            'providers.claude.auth_mode = "native_cli"\n'
            '[[providers.claude.credential_slots]]\nname = "a"\ntarget_env = "B"\n',
            "takes no credential_slots",
        ),
        ('[providers.x]\ncommand="c"\nauth_mode="none"\nauth_login_command="l"\n', "takes no auth_status_command"),
        (
            '[[providers.codex.models.curated]]\nid="m"\ndefault_reasoning_effort="high"\n',
            "default_reasoning_effort 'high' is not one of its reasoning_efforts",
        ),
    ],
)
def test_contradictions_of_a_provider_are_refused(home: Home, text: str, says: str) -> None:
    (line,) = problems(home, text)
    assert says in line


def test_a_workspace_overlays_the_home(home: Home, workspace: Path) -> None:
    local = 'defaults.agent = "reviewer"\nsession.busy_input.queue_cap = 3\npermissions.mode = "approve-reads"\n'
    config = load_both(home, '[defaults]\nprovider = "codex"\nagent = "a"\n', workspace, local)
    assert (config.defaults.provider, config.defaults.agent) == ("codex", "reviewer")
    assert config.session.busy_input.queue_cap == 3
    assert config.permissions.mode == "approve-reads"
    assert config.notes == ()
    assert len(config.sources) == 2


def test_an_untrusted_workspace_cannot_widen_run_or_redirect_anything(home: Home, workspace: Path) -> None:
    local = """
[trust]
mode = "off"
[permissions]
mode = "approve-all"
[http]
port = 9
[redact]
enabled = false
[providers.claude]
command = "evil"
models.default = "theirs"
[tools.policy]
external_default = "enabled"
[[hooks.declarations]]
name = "h"
[[mcp_servers]]
name = "m"
command = "m-srv"
"""
    config = load_both(home, '[permissions]\nmode = "approve-reads"\n', workspace, local)
    assert config.trust.mode == "required"
    assert config.permissions.mode == "approve-reads"
    assert (config.http.port, config.redact.enabled) == (2123, True)
    assert config.providers["claude"].command.startswith("npx")
    assert config.providers["claude"].default_model == "theirs"
    assert config.tools.policy.external_default == "disabled"
    assert config.hooks.declarations == () and config.mcp_servers == ()
    assert len(config.notes) == 8
    assert all("it is left out" in note for note in config.notes)


OFF = 'trust.mode = "off"\npermissions.mode = "deny-all"\n'


def test_with_trust_off_in_the_home_a_workspace_decides_as_in_the_contract(home: Home, workspace: Path) -> None:
    text = '[[mcp_servers]]\nname = "m"\ncommand = "a"\nargs = ["x"]\n'
    local = 'permissions.mode = "approve-all"\nproviders.claude.command = "theirs"\n'
    server = '[[mcp_servers]]\nname = "m"\ncommand = "b"\n'
    config = load_both(home, OFF + text, workspace, local + server)
    assert config.permissions.mode == "approve-all"
    assert config.providers["claude"].command == "theirs"
    # Nothing of the home's server shines through the workspace's (decisions D19).
    assert config.mcp_servers == ({"name": "m", "command": "b"},)


def test_hook_declarations_replace_by_name_as_whole_objects(home: Home, workspace: Path) -> None:
    text = '[[hooks.declarations]]\nname = "a"\ncommand = "x"\n[[hooks.declarations]]\nname = "b"\n'
    config = load_both(home, OFF + text, workspace, '[[hooks.declarations]]\nname = "a"\nevent = "e"\n')
    assert config.hooks.declarations == ({"name": "a", "event": "e"}, {"name": "b"})


def test_a_workspace_may_add_models_to_a_provider_of_the_home(home: Home, workspace: Path) -> None:
    local = 'providers.mine.models.default = "small"\n'
    config = load_both(home, 'providers.mine.command = "run me"\n', workspace, local)
    assert (config.providers["mine"].command, config.providers["mine"].default_model) == ("run me", "small")


def test_a_mistake_in_a_workspace_names_the_workspaces_file(home: Home, workspace: Path) -> None:
    with pytest.raises(ConfigError, match=rf"{workspace}/\.compozy/config\.toml:1: unknown config key 'htpt'"):
        load_both(home, "", workspace, "htpt = 1\n")


def test_a_workspace_that_contains_the_home_is_not_read_twice(tmp_path: Path) -> None:
    home = Home(tmp_path / ".compozy")
    home.root.mkdir()
    home.config_file.write_text('[permissions]\nmode = "approve-reads"\n[http]\nport = 5\n')
    config = load_config(home, tmp_path)
    assert config.http.port == 5
    assert config.notes == () and len(config.sources) == 1


def test_every_section_can_be_encoded_for_people_who_ask(home: Home) -> None:
    from compozy.daemon.messages import json_response

    decoded = msgspec.json.decode(bytes(json_response(load(home, '[session.limits]\ntimeout = "5s"\n')).body))
    assert decoded["session"]["limits"]["timeout"] == 5.0
