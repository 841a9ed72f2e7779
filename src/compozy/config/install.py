"""What makes a home usable: its folders, the managed `general` agent, the default provider (contract §1.5; D21).

`install_home` is what ``compozy install`` does; `prepare_home` is what every start of the daemon does. Files are
created exclusively or replaced atomically, and nothing a person wrote is overwritten.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from compozy.config.builtin_providers import BUILTIN_PROVIDERS, canonical_provider
from compozy.config.detection import first_installed
from compozy.config.errors import ConfigError, HomeError
from compozy.config.home import Home
from compozy.config.load import load_config
from compozy.config.toml_source import read_toml
from compozy.documents.atomic import write_atomically
from compozy.documents.text import nearest
from compozy.model.record import Record

MANAGED_AGENT = "general"
_MANAGED_TEXT = """\
---
name: general
---

You are a general assistant that works inside the user's workspace. Look at the files before you answer, do what was
asked and nothing beyond it, and say plainly what you did, what you found, and what is left.
"""
_FIRST_CONFIG = """\
# Settings of compozy. Every key and its default: docs/configuration.md
[defaults]
provider = {provider}
"""


class Installed(Record, frozen=True, kw_only=True):
    """What an installation left behind; the JSON answer of ``compozy install``."""

    agent_name: str
    provider: str
    model: str
    permissions: str
    config_file: str
    agent_file: str
    created_agent: bool
    managed: bool


def prepare_home(home: Home, environ: Mapping[str, str] | None = None) -> None:
    """Make the home ready for a daemon: folders, `general` agent, and on the first start a default provider.

    Raises:
        HomeError: a folder or file cannot be made.
        ConfigError: config.toml exists and is no TOML.
    """
    create_home(home)
    ensure_managed_agent(home)
    if home.database.exists():
        return
    source = read_toml(home.config_file)
    if source is None:
        write_settings_file(home.config_file, _FIRST_CONFIG.format(provider=f'"{_first_provider(environ)}"'))
        return
    defaults = source.table.get("defaults", {})
    if isinstance(defaults, dict) and "provider" not in defaults:
        _change(home.config_file, {("defaults", "provider"): _first_provider(environ)})


def install_home(
    home: Home, *, provider: str = "", model: str = "", environ: Mapping[str, str] | None = None
) -> Installed:
    """Write the defaults ``compozy install`` promises and create the managed agent.

    Args:
        provider: a built-in one or one of config.toml; "" keeps the default that is set, else means the first
            one whose program is on this machine, else `offline`.

    Raises:
        ConfigError: the provider is unknown, or needs a model and none was given; or config.toml is not valid.
        HomeError: a file cannot be written.
    """
    config = load_config(home)
    name = canonical_provider(provider or config.defaults.provider or _first_provider(environ))
    row = config.providers.get(name)
    if row is None:
        close = nearest(name, config.providers)
        advice = f"did you mean {close!r}?" if close else f"choose one of {', '.join(config.providers)}"
        raise ConfigError(f"unknown provider {provider!r}; {advice}")
    if row.harness == "pi_acp" and not (model or row.default_model):
        raise ConfigError(f"provider {name!r} needs a model; add --model")
    create_home(home)
    values: dict[tuple[str, ...], str] = {
        ("defaults", "agent"): MANAGED_AGENT,
        ("defaults", "provider"): name,
        ("permissions", "mode"): "approve-all",
    }
    if model:
        values["providers", name, "models", "default"] = model
    _change(home.config_file, values)
    created = ensure_managed_agent(home)
    return Installed(
        agent_name=MANAGED_AGENT,
        provider=name,
        model=model or row.default_model,
        permissions="approve-all",
        config_file=str(home.config_file),
        agent_file=str(managed_agent_file(home)),
        created_agent=created,
        managed=True,
    )


def create_home(home: Home) -> None:
    """Create the home's folders, 0700 each.

    Raises:
        HomeError: the home is a file, belongs to somebody else, or cannot be read or written.
    """
    root = str(home.root)
    try:
        home.create()
    except FileExistsError as error:
        raise HomeError(
            f"{error.filename or root!r} is a file where a folder is needed; move it or set COMPOZY_HOME"
        ) from error
    except NotADirectoryError as error:
        raise HomeError(f"home {root!r} lies below a file; set COMPOZY_HOME to another folder") from error
    except OSError as error:
        raise HomeError(
            f"cannot use home {root!r}: {error.strerror}; fix its owner and mode, or set another COMPOZY_HOME"
        ) from error
    if not os.access(home.root, os.R_OK | os.W_OK | os.X_OK):
        raise HomeError(f"home {root!r} cannot be read and written by this user; run: chmod u+rwx {root}")


def managed_agent_file(home: Home) -> Path:
    """Return where the managed agent's AGENT.md lies."""
    return home.agents / MANAGED_AGENT / "AGENT.md"


def ensure_managed_agent(home: Home) -> bool:
    """Create agents/general/AGENT.md (0600) unless anything is there already; return whether it was created.

    Raises:
        HomeError: it cannot be written.
    """
    path = managed_agent_file(home)
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        return False
    except OSError as error:
        raise HomeError(
            f"cannot create {str(path)!r}: {error.strerror}; check the folder's owner and mode"
        ) from error
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(_MANAGED_TEXT)
    return True


def _first_provider(environ: Mapping[str, str] | None) -> str:
    return first_installed(BUILTIN_PROVIDERS.values(), environ)


def _change(path: Path, values: dict[tuple[str, ...], str]) -> None:
    from compozy.config.toml_edit import change_values  # noqa: PLC0415 - start-up cost

    source = read_toml(path)
    write_settings_file(path, change_values(source.text if source else "", dict(values), path=str(path)))


def write_settings_file(path: Path, text: str) -> None:
    """Replace config.toml atomically; a new one is 0600, an existing one keeps its mode. A linked file is followed.

    Raises:
        HomeError: it cannot be written.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
        write_atomically(target, text.encode("utf-8"), mode=mode)
    except OSError as error:
        raise HomeError(f"cannot write {str(path)!r}: {error.strerror}; check the folder's owner and mode") from error
