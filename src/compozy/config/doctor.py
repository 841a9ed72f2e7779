"""Checks of a home that need no daemon: folders, configuration, providers, socket, disk (contract §3.6 doctor).

Each check returns findings with a stable id, a code, a sentence, and the command that mends it. Reads only; starts
nothing, changes nothing. `runtime/doctor.py` adds what only a running daemon knows.
"""

import os
import shlex
import shutil
import stat
from collections.abc import Iterator

from compozy.config.backup_notes import backup_findings
from compozy.config.config import Config
from compozy.config.detection import is_installed
from compozy.config.doctor_secrets import trust_findings, vault_findings
from compozy.config.errors import ConfigError
from compozy.config.findings import Finding, finding
from compozy.config.home import Home
from compozy.config.load import load_config
from compozy.config.provider_auth import auth_status
from compozy.config.providers import build_defaults
from compozy.config.redaction import Redactor
from compozy.config.secrets import Secrets
from compozy.model.command_secrets import command_secrets
from compozy.model.errors import CompozyError
from compozy.model.provider import Provider
from compozy.model.provider_answers import ProviderAuth

# Below this the store and the log soon cannot be written.
_LOW_DISK_BYTES = 256 << 20


def check_home(home: Home) -> list[Finding]:
    """Run every check that needs no daemon."""
    findings = [
        *_folders(home),
        *_disk(home),
        *vault_findings(home),
        *trust_findings(home),
        *backup_findings(home),
    ]
    try:
        config = load_config(home)
    except (ConfigError, CompozyError) as error:
        findings.append(finding("config", "config_invalid", "error", error.message))
        return findings
    findings += _configuration(home, config)
    findings += _providers(home, config)
    return findings


def _folders(home: Home) -> Iterator[Finding]:
    if not home.root.is_dir():
        text = f"there is no home at {str(home.root)!r} yet; the first start creates it"
        yield finding("home", "home_missing", "info", text, command="compozy daemon start")
        return
    mode = stat.S_IMODE(home.root.stat().st_mode)
    if mode & 0o077:
        yield finding(
            "home",
            "home_open",
            "warn",
            f"home {str(home.root)!r} can be read by other users (mode {mode:o}); make it private",
            command=f"chmod 700 {home.root}",
        )
    else:
        yield finding("home", "home_private", "ok", f"home {str(home.root)!r} is private")
    all_rights, effective = os.R_OK | os.W_OK | os.X_OK, os.access in os.supports_effective_ids
    if not os.access(home.root, all_rights, effective_ids=effective):
        text = f"home {str(home.root)!r} cannot be read and written by this user; the daemon cannot start"
        yield finding(
            "home", "home_not_writable", "error", text, command=f"chmod u+rwx {shlex.quote(str(home.root))}"
        )


def _disk(home: Home) -> Iterator[Finding]:
    place = home.root if home.root.is_dir() else home.root.parent
    try:
        free = shutil.disk_usage(place).free
    except OSError:
        return
    if free < _LOW_DISK_BYTES:
        text = f"only {free >> 20} MiB are free where the home lies; events cannot be stored once it is full"
        yield finding("home", "disk_low", "warn", text)


def _configuration(home: Home, config: Config) -> Iterator[Finding]:
    for number, note in enumerate(config.notes, start=1):
        yield finding("config", f"note_{number}", "info", note, code="config_note")
    if config.trust.mode == "off":
        text = "[trust] mode is off: what a cloned repository brings is run without asking"
        yield finding("config", "trust_off", "warn", text)
    if config.http.enabled:
        text = f"any user of this machine can reach port {config.http.port}; [http] enabled = false closes it"
        yield finding("http", "tcp_port_open_to_local_users", "info", text)
    if not config.notes:
        yield finding("config", "config_valid", "ok", f"{str(home.config_file)!r} is valid")


def _providers(home: Home, config: Config) -> Iterator[Finding]:
    name = config.defaults.provider
    row = config.providers.get(name)
    is_there = Secrets(home, Redactor()).is_there
    if not name:
        text = "no default provider is set; agents that name none cannot run"
        yield finding("provider", "default_missing", "warn", text, command="compozy install")
    elif row is None:
        text = f"the default provider {name!r} does not exist; set one that does"
        yield finding("provider", "default_unknown", "error", text, command="compozy install")
    else:
        yield _default_provider(row, auth_status(row, is_there))
    yield from _plain_secrets(config)
    plain = build_defaults(home)
    mends: dict[str, object] = {}
    for other in config.providers.values():
        auth = auth_status(other, is_there)
        if auth.mend:
            mends[other.id] = auth.mend
        if other.id != name and other != plain.get(other.id) and auth.mend and auth.state != "authenticated":
            text = f"provider {other.id!r} cannot be used yet: {auth.message}; {auth.mend}"
            yield finding(
                "provider", f"not_ready_{other.id}", "info", text, code=auth.code, command=_command(auth.mend)
            )
    found = [one.id for one in config.providers.values() if is_installed(one)]
    text = f"found on this machine: {', '.join(found) or 'none'}; what each other one needs: compozy provider list"
    yield finding("provider", "installed", "info", text, evidence={"needs": mends})


def _plain_secrets(config: Config) -> Iterator[Finding]:
    """Name every provider whose command lines hold a secret."""
    for row in config.providers.values():
        lines = {
            "command": row.command,
            "auth_status_command": row.auth_status_command,
            "auth_login_command": row.auth_login_command,
        }
        held = [name for name, line in lines.items() if command_secrets(line)]
        if held:
            text = (
                f"{' and '.join(held)} of provider {row.id!r} {'hold' if len(held) > 1 else 'holds'} what looks like "
                "a secret: the file and the list of processes show it; put it into the vault and name it in a "
                f"credential slot ([[providers.{row.id}.credential_slots]])"
            )
            yield finding("provider", f"secret_in_command_{row.id}", "warn", text, code="command_secret_like")


def _default_provider(row: Provider, auth: ProviderAuth) -> Finding:
    """Say whether the provider that agents use by default can be used."""
    if auth.state == "missing_cli":
        text = f"the default provider {row.id!r} cannot be started: {auth.message}; {auth.mend}"
        name = "default_program_missing"
    elif auth.state == "missing_credential" or (auth.state == "unknown" and "is not set" in auth.message):
        text = f"the default provider {row.id!r} cannot be used: {auth.message}; {auth.mend}"
        name = "default_not_ready"
    else:
        return finding("provider", "default_found", "ok", f"the default provider {row.id!r} can be started")
    return finding("provider", name, "error", text, code=auth.code, command=_command(auth.mend))


def _command(mend: str) -> str | None:
    """Return the step when it is a command that can be copied, None when it is advice."""
    return mend if mend.startswith(("compozy ", "npm ", "uv ")) else None
