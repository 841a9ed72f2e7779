"""The environment an agent's process gets: a base by policy, then the product's own variables (contract §1.2, §5.3).

Functions over mappings that resolve no secrets; bound secrets are added by the caller, last. Only
`make_provider_folders` touches the disk.
"""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from compozy.config.home import Home
from compozy.config.openai_compatible import endpoint_environment, is_openai_compatible
from compozy.config.pi_folder import pi_folder
from compozy.model.provider import EnvPolicy, Provider

# A variable whose name contains one of these is not inherited (contract §5.3).
_SECRET_PARTS = (
    "API_KEY",
    "APIKEY",
    "ACCESS_KEY",
    "PRIVATE_KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "CREDENTIAL",
    "AUTH",
    "COOKIE",
    "SESSION",
)
_ISOLATED = frozenset(
    {
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "TMPDIR",
        "TMP",
        "TEMP",
        "LANG",
        "TERM",
        "COLORTERM",
        "NO_COLOR",
        "FORCE_COLOR",
        "COMPOZY_HOME",
        "COMPOZY_CONFIG",
        "COMPOZY_LOG_LEVEL",
        "PROVIDER_HOME",
        "PROVIDER_CODEX_HOME",
    }
)
_ISOLATED_PREFIXES = ("LC_", "XDG_")
# Set for every agent or for none: a stale value of ours must not be inherited.
OWN_VARIABLES = (
    "COMPOZY_SESSION_ID",
    "COMPOZY_AGENT",
    "COMPOZY_AGENT_NAME",
    "COMPOZY_PROVIDER",
    "COMPOZY_PROVIDER_HARNESS",
    "COMPOZY_PROVIDER_AUTH_MODE",
    "COMPOZY_PROVIDER_ENV_POLICY",
    "COMPOZY_PROVIDER_HOME_POLICY",
    "COMPOZY_MODEL",
    "COMPOZY_REASONING_EFFORT",
    "COMPOZY_BIN",
    "COMPOZY_SESSION_CHANNEL",
    "COMPOZY_PEER_ID",
    "COMPOZY_INTERNAL_CHILD",
)
# What keeps a provider's own configuration apart when its home is isolated.
_ISOLATED_HOME_VARIABLES: dict[str, tuple[str, ...]] = {
    "claude": ("CLAUDE_CONFIG_DIR",),
    "codex": ("CODEX_HOME", "PROVIDER_CODEX_HOME"),
    "opencode": ("OPENCODE_CONFIG_DIR",),
}


def is_secret_name(name: str) -> bool:
    """Whether a variable of this name is kept from children under the `filtered` policy."""
    upper = name.upper()
    return upper.endswith("_KEY") or any(part in upper for part in _SECRET_PARTS)


def base_environment(policy: EnvPolicy, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return what a child inherits from this process under one policy."""
    env = os.environ if environ is None else environ
    if policy == "isolated":
        return {k: v for k, v in env.items() if k in _ISOLATED or k.startswith(_ISOLATED_PREFIXES)}
    return {k: v for k, v in env.items() if not is_secret_name(k)}


def agent_environment(
    provider: Provider,
    *,
    home: Home,
    session_id: str,
    agent_name: str,
    model: str = "",
    reasoning_effort: str = "",
    environ: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return the complete environment of one agent process, without bound secrets."""
    env = base_environment(provider.env_policy, environ)
    for name in OWN_VARIABLES:
        env.pop(name, None)
    env |= {
        "COMPOZY_HOME": str(home.root),
        "COMPOZY_SESSION_ID": session_id,
        "COMPOZY_AGENT": agent_name,
        "COMPOZY_AGENT_NAME": agent_name,
        "COMPOZY_PROVIDER": provider.id,
        "COMPOZY_PROVIDER_HARNESS": provider.harness,
        "COMPOZY_PROVIDER_AUTH_MODE": provider.auth_mode,
        "COMPOZY_PROVIDER_ENV_POLICY": provider.env_policy,
        "COMPOZY_PROVIDER_HOME_POLICY": provider.home_policy,
    }
    if model:
        env["COMPOZY_MODEL"] = model
    if reasoning_effort:
        env["COMPOZY_REASONING_EFFORT"] = reasoning_effort
    if provider.home_policy == "isolated":
        env |= _isolated_home(provider, home)
    if provider.harness == "pi_acp":
        env["PI_CODING_AGENT_DIR"] = str(pi_folder(home, session_id))
    if is_openai_compatible(provider):
        env |= endpoint_environment(provider, model)
    program = own_program()
    if program:
        env["COMPOZY_BIN"] = program
        env["PATH"] = _prepended(str(Path(program).parent), env.get("PATH", os.defpath))
    env |= _bridge_programs(provider, env)
    return env


def login_environment(provider: Provider, home: Home, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment in which a person logs in, or a status is asked: the agent's, without a session."""
    env = base_environment(provider.env_policy, environ)
    for name in OWN_VARIABLES:
        env.pop(name, None)
    if provider.home_policy == "isolated":
        env |= _isolated_home(provider, home)
    return env


def server_environment(declared: Mapping[str, str], environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of an MCP server that the daemon starts: the short fixed base and its own keys (P40)."""
    base = base_environment("isolated", environ)
    # Whose home this is, and the settings of an outer session, are none of a server's business.
    kept = {name: value for name, value in base.items() if not name.startswith(("COMPOZY_", "PROVIDER_"))}
    return {**kept, **declared}


def own_program() -> str:
    """Return the absolute path of the `compozy` command of this installation, "" when it has none."""
    beside = Path(sys.executable).parent / "compozy"
    return str(beside) if beside.is_file() else (shutil.which("compozy") or "")


def make_provider_folders(provider: Provider, home: Home) -> None:
    """Create the folders the environment of this provider names, 0700 each.

    Raises:
        OSError: one cannot be made.
    """
    folders = set(_isolated_home(provider, home).values()) if provider.home_policy == "isolated" else set()
    for folder in sorted(folders):
        for path in (*reversed(Path(folder).relative_to(home.root).parents), Path(folder).relative_to(home.root)):
            (home.root / path).mkdir(mode=0o700, exist_ok=True)


def provider_home(provider: Provider, home: Home) -> Path:
    """Return the folder that stands for HOME when the provider's home is isolated."""
    return home.root / "providers" / provider.id


def _isolated_home(provider: Provider, home: Home) -> dict[str, str]:
    root = provider_home(provider, home)
    values = {
        "PROVIDER_HOME": root,
        "HOME": root,
        "XDG_CONFIG_HOME": root / ".config",
        "XDG_DATA_HOME": root / ".local" / "share",
        "XDG_CACHE_HOME": root / ".cache",
    }
    values |= dict.fromkeys(_ISOLATED_HOME_VARIABLES.get(provider.id, ()), root / f".{provider.id}")
    return {name: str(path) for name, path in values.items()}


def _bridge_programs(provider: Provider, env: Mapping[str, str]) -> dict[str, str]:
    """Point the two known bridges at the vendor's installed program."""
    names = {"claude": ("CLAUDE_CODE_EXECUTABLE", "claude"), "codex": ("CODEX_PATH", "codex")}
    if provider.id not in names:
        return {}
    variable, program = names[provider.id]
    found = shutil.which(program, path=env.get("PATH", os.defpath))
    return {variable: found} if found and variable not in env else {}


def _prepended(folder: str, path: str) -> str:
    rest = [part for part in path.split(os.pathsep) if part and part != folder]
    return os.pathsep.join([folder, *rest])
