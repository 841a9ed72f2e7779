"""Every built-in row is started as the contract says: command, variables, secrets, folders (contract §2.3, §5.3).

A recording program stands in for each provider's own and writes down what it was started with.
"""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import msgspec
import pytest

from compozy.acp.contract import LaunchSpec
from compozy.config.builtin_providers import ALIASES, BUILTIN_PROVIDERS
from compozy.config.errors import ConfigError
from compozy.config.home import Home
from compozy.config.load import load_config
from compozy.config.redaction import Redactor
from compozy.config.secrets import Secrets
from compozy.model.errors import CompozyError
from compozy.model.provider import Provider
from compozy.runtime.sessions.binding import BindFailed, launch_spec
from compozy.runtime.sessions.deps import Deps
from tests.kit.store_records import make_session

# The table of the contract, and our two: id, command, default model, variable of its secret, provider behind Pi.
NPX_PI = "npx -y pi-acp@latest"
ROWS: tuple[tuple[str, str, str, str, str], ...] = (
    ("claude", "npx -y @agentclientprotocol/claude-agent-acp@latest", "claude-sonnet-5", "", ""),
    ("codex", "npx -y @agentclientprotocol/codex-acp@latest", "gpt-5.6-sol", "", ""),
    ("gemini", "gemini --acp", "gemini-3.1-pro-preview", "", ""),
    ("opencode", "npx -y opencode-ai@latest acp", "", "", ""),
    ("copilot", "copilot --acp --stdio", "", "", ""),
    ("cursor", "cursor-agent acp", "", "", ""),
    ("kiro", "kiro-cli-chat acp", "", "", ""),
    ("blackbox", "blackbox --experimental-acp", "", "", ""),
    ("cline", "npx -y cline@latest --acp", "", "", ""),
    ("goose", "goose acp", "", "", ""),
    ("hermes", "hermes acp", "", "", ""),
    ("junie", "junie --acp true", "", "", ""),
    ("kimi-cli", "kimi acp", "", "", ""),
    ("openclaw", "openclaw acp", "", "", ""),
    ("openhands", "openhands acp", "", "", ""),
    ("qoder", "npx -y @qoder-ai/qodercli@latest --acp", "", "", ""),
    ("qwen-code", "npx -y @qwen-code/qwen-code@latest --acp --experimental-skills", "qwen3.6-plus", "", ""),
    ("pi", NPX_PI, "claude-opus-4-7", "", "anthropic"),
    ("openrouter", NPX_PI, "openai/gpt-5.4", "OPENROUTER_API_KEY", "openrouter"),
    ("zai", NPX_PI, "glm-4.6", "ZAI_API_KEY", "zai"),
    ("moonshot", NPX_PI, "kimi-k2-thinking", "KIMI_API_KEY", "kimi-coding"),
    ("vercel-ai-gateway", NPX_PI, "anthropic/claude-opus-4-7", "AI_GATEWAY_API_KEY", "vercel-ai-gateway"),
    ("xai", NPX_PI, "grok-4-fast-non-reasoning", "XAI_API_KEY", "xai"),
    ("minimax", NPX_PI, "MiniMax-M2.1", "MINIMAX_API_KEY", "minimax"),
    ("mistral", NPX_PI, "devstral-medium-latest", "MISTRAL_API_KEY", "mistral"),
    ("groq", NPX_PI, "openai/gpt-oss-120b", "GROQ_API_KEY", "groq"),
    ("openai-compatible", "{home}/providers/openai-compatible/bin/agentao --acp", "", "OPENAI_API_KEY", ""),
    ("offline", "{python} -m compozy_offline_agent", "", "", ""),
)
RECORDER = """#!{python}
import json, os, sys
print(json.dumps({{"argv": sys.argv, "env": dict(os.environ), "cwd": os.getcwd()}}))
"""


class Bed:
    """A home, a folder of recording programs on PATH, and the launch of one provider."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.home = Home(folder / "home")
        self.home.create()
        self.programs = folder / "bin"
        self.programs.mkdir()
        monkeypatch.setenv("PATH", f"{self.programs}:/usr/bin:/bin")
        monkeypatch.setenv("HOME", str(folder / "user"))
        self.redactor = Redactor()

    def record(self, program: str) -> None:
        path = Path(program) if "/" in program else self.programs / program
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(RECORDER.format(python=sys.executable))
        path.chmod(0o755)

    def provider(self, name: str) -> Provider:
        return load_config(self.home).providers[name]

    def start(self, provider: Provider, model: str) -> dict[str, object]:
        spec = self.spec(provider, model)
        done = subprocess.run(spec.argv, env=dict(spec.env), cwd=spec.cwd, capture_output=True, text=True, timeout=30)
        found: dict[str, object] = json.loads(done.stdout)
        return found

    def environment(self, provider: Provider, model: str) -> dict[str, str]:
        return dict(self.spec(provider, model).env)

    def spec(self, provider: Provider, model: str) -> LaunchSpec:
        record = make_session(provider=provider.id)
        record = msgspec.structs.replace(record, command=provider.command, model=model, cwd=str(self.folder))
        deps = cast(Deps, SimpleNamespace(home=self.home, redactor=self.redactor))
        credentials = Secrets(self.home, self.redactor).credentials(provider)
        return launch_spec(deps, record, provider, "marker", credentials)


@pytest.fixture
def bed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bed:
    return Bed(tmp_path, monkeypatch)


def test_the_table_here_names_every_built_in_row() -> None:
    assert [row[0] for row in ROWS] == list(BUILTIN_PROVIDERS)


@pytest.mark.parametrize("row", [row for row in ROWS if row[0] != "offline"], ids=lambda row: row[0])
def test_a_provider_is_started_as_its_row_says(
    bed: Bed, monkeypatch: pytest.MonkeyPatch, row: tuple[str, str, str, str, str]
) -> None:
    name, command, model, secret, runtime = row
    words = shlex.split(command.format(home=bed.home.root))
    bed.record(words[0])
    monkeypatch.setenv("UNRELATED_TOKEN", "tok-never-seen-by-agents")
    if secret:
        monkeypatch.setenv(secret, f"value-of-{secret}")
    if name == "openai-compatible":
        bed.home.config_file.write_text('[providers.openai-compatible]\nbase_url = "http://127.0.0.1:9/v1"\n')
        model = "m"
    provider = bed.provider(name)
    assert name == "openai-compatible" or provider.default_model == model
    seen = bed.start(provider, model)
    argv, env = cast(list[str], seen["argv"]), cast(dict[str, str], seen["env"])
    assert [Path(argv[0]).name, *argv[1:]] == [Path(words[0]).name, *words[1:]]
    assert seen["cwd"] == str(bed.folder)
    assert "UNRELATED_TOKEN" not in env
    told = ("PROVIDER", "PROVIDER_HARNESS", "PROVIDER_AUTH_MODE", "PROVIDER_ENV_POLICY", "PROVIDER_HOME_POLICY")
    harness = "pi_acp" if runtime else "acp"
    assert [env[f"COMPOZY_{part}"] for part in told] == [
        name,
        harness,
        "bound_secret" if secret else "native_cli",
        "filtered",
        "operator",
    ]
    assert env.get("COMPOZY_MODEL", "") == model
    if secret:
        assert env[secret] == f"value-of-{secret}"
        assert not any(f"value-of-{secret}" in word for word in argv)
        assert bed.redactor.text(f"x value-of-{secret} y") == "x [REDACTED] y"
    if runtime:
        settings = json.loads((Path(env["PI_CODING_AGENT_DIR"]) / "settings.json").read_text())
        assert settings == {"defaultProvider": runtime, "defaultModel": model}
    else:
        assert "PI_CODING_AGENT_DIR" not in env


def test_the_offline_row_starts_this_interpreter(bed: Bed) -> None:
    assert shlex.split(bed.provider("offline").command) == [sys.executable, "-m", "compozy_offline_agent"]


@pytest.mark.parametrize(("alias", "name"), ALIASES.items())
def test_an_alias_in_the_file_changes_the_row_it_means(bed: Bed, alias: str, name: str) -> None:
    bed.home.config_file.write_text(f'[providers."{alias}"]\ndisplay_name = "Mine"\n')
    providers = load_config(bed.home).providers
    assert providers[name].display_name == "Mine" and alias not in providers
    assert providers[name].command == BUILTIN_PROVIDERS[name].command


def test_one_more_endpoint_is_a_provider_of_its_own_with_its_own_key(
    bed: Bed, monkeypatch: pytest.MonkeyPatch
) -> None:
    bed.home.config_file.write_text(
        '[providers.router]\nruntime_provider = "openai-compatible"\nbase_url = "http://127.0.0.1:9/v1"\n'
        '[[providers.router.credential_slots]]\nname = "api_key"\ntarget_env = "OPENAI_API_KEY"\n'
        'secret_ref = "env:ROUTER_KEY"\n'
    )
    monkeypatch.setenv("ROUTER_KEY", "key-of-the-router")
    provider = bed.provider("router")
    bed.record(shlex.split(provider.command)[0])
    env = cast(dict[str, str], bed.start(provider, "big")["env"])
    assert (env["OPENAI_BASE_URL"], env["OPENAI_MODEL"]) == ("http://127.0.0.1:9/v1", "big")
    assert (env["OPENAI_API_KEY"], env["COMPOZY_PROVIDER"]) == ("key-of-the-router", "router")
    assert "ROUTER_KEY" not in env


def test_a_local_endpoint_needs_no_key(bed: Bed) -> None:
    bed.home.config_file.write_text('[providers.openai-compatible]\nbase_url = "http://127.0.0.1:9/v1"\n')
    provider = bed.provider("openai-compatible")
    bed.record(shlex.split(provider.command)[0])
    env = cast(dict[str, str], bed.start(provider, "m")["env"])
    assert env["OPENAI_API_KEY"] == "not-needed"


@pytest.mark.parametrize(
    ("text", "model", "code", "said"),
    [
        ("", "m", "provider_not_configured", "needs base_url"),
        ('base_url = "http://127.0.0.1:9/v1"\n', "", "provider_not_configured", "needs models.default"),
        ('base_url = "http://127.0.0.1:9/v1"\n', "m", "provider_cli_missing", "compozy provider install"),
    ],
)
def test_an_endpoint_that_is_not_ready_is_refused_with_the_one_step_that_mends_it(
    bed: Bed, text: str, model: str, code: str, said: str
) -> None:
    bed.home.config_file.write_text(f"[providers.openai-compatible]\n{text}")
    with pytest.raises(BindFailed) as caught:
        bed.start(bed.provider("openai-compatible"), model)
    assert caught.value.error.code == code and said in caught.value.error.message


def test_a_slot_without_a_value_names_the_variable_and_starts_nothing(bed: Bed) -> None:
    bed.record("npx")
    with pytest.raises(CompozyError) as caught:
        bed.start(bed.provider("groq"), "m")
    assert caught.value.code == "provider_credential_unresolved" and "GROQ_API_KEY" in caught.value.message


def test_an_isolated_environment_and_home_reach_the_program(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "vi")
    bed.home.config_file.write_text('[providers.codex]\nenv_policy = "isolated"\nhome_policy = "isolated"\n')
    bed.record("npx")
    env = cast(dict[str, str], bed.start(bed.provider("codex"), "m")["env"])
    own = str(bed.home.root / "providers" / "codex")
    assert "EDITOR" not in env and (env["HOME"], env["PROVIDER_HOME"]) == (own, own)
    assert env["CODEX_HOME"].startswith(own) and Path(env["XDG_CONFIG_HOME"]).is_dir()


# Where three programs keep their own things, beside HOME.
OWN_FOLDERS = {"claude": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME", "opencode": "OPENCODE_CONFIG_DIR"}


@pytest.mark.parametrize("env_policy", ["filtered", "isolated"])
@pytest.mark.parametrize("home_policy", ["operator", "isolated"])
@pytest.mark.parametrize("name", [row[0] for row in ROWS])
def test_every_row_takes_every_policy(
    bed: Bed, monkeypatch: pytest.MonkeyPatch, name: str, home_policy: str, env_policy: str
) -> None:
    monkeypatch.setenv("EDITOR", "vi")
    monkeypatch.setenv("UNRELATED_TOKEN", "tok-never-seen-by-agents")
    endpoint = 'base_url = "http://127.0.0.1:9/v1"\n' if name == "openai-compatible" else ""
    bed.home.config_file.write_text(
        f'[providers."{name}"]\nenv_policy = "{env_policy}"\nhome_policy = "{home_policy}"\n{endpoint}'
    )
    provider = bed.provider(name)
    for slot in provider.credential_slots:
        monkeypatch.setenv(slot.target_env, "value-of-the-slot")
    if name != "offline":
        bed.record(shlex.split(provider.command)[0])
    env = bed.environment(provider, "m")
    assert "UNRELATED_TOKEN" not in env and ("EDITOR" in env) == (env_policy == "filtered")
    assert (env["COMPOZY_PROVIDER_ENV_POLICY"], env["COMPOZY_PROVIDER_HOME_POLICY"]) == (env_policy, home_policy)
    own = bed.home.root / "providers" / name
    if home_policy == "operator":
        assert env["HOME"] == str(bed.folder / "user") and "PROVIDER_HOME" not in env
    else:
        places = ("HOME", "PROVIDER_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")
        folders = [env[place] for place in (*places, *filter(None, [OWN_FOLDERS.get(name)]))]
        assert folders[:2] == [str(own), str(own)]
        assert all(Path(folder).is_dir() and Path(folder).is_relative_to(own) for folder in folders)
        # The folder of an endpoint's program was there before.
        made = [folder for folder in folders if name != "openai-compatible" or folder != str(own)]
        assert all(Path(folder).stat().st_mode & 0o077 == 0 for folder in made)
    if provider.harness == "pi_acp":
        # Local to the session: another session of the same provider has a folder of its own.
        folder = Path(env["PI_CODING_AGENT_DIR"])
        assert folder.is_relative_to(bed.home.root) and "sess-" in str(folder)
        assert json.loads((folder / "settings.json").read_text())["defaultModel"] == "m"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('[providers.mine]\ndisplay_name = "x"\n', 1, "command is required"),
        ('[providers.claude]\nauth_mode = "none"\nauth_login_command = "x"\n', 1, "auth_mode 'none' takes no auth_"),
        ('[providers.claude]\n[[providers.claude.credential_slots]]\nname="a"\n', 2, "target_env"),
        ('[providers.claude]\n\nenv_policy = "open"\n', 3, "env_policy"),
        ("[providers.claude]\nsupported_models = []\n", 2, "was removed; use models.curated"),
        ('[providers.mine]\ncommand = "a \'b"\n', 1, "close its quotes"),
    ],
)
def test_a_mistake_in_a_provider_is_named_with_file_and_line(bed: Bed, text: str, line: int, said: str) -> None:
    bed.home.config_file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_config(bed.home)
    assert f"{bed.home.config_file}:{line}:" in caught.value.message and said in caught.value.message
