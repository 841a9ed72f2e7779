"""The support bundle: one redacted JSON file that says enough about a home to help its user (``doctor --bundle``).

Holds versions, the doctor's report, the daemon's status when there is one, the configuration, the ends of the logs,
and names and sizes in the home. No prompts, no answers, no definitions. Everything passes the redactor first.
"""

import contextlib
import json
import os
import platform
import sys
from importlib import metadata
from pathlib import Path

from compozy import __version__
from compozy.config.errors import ConfigError
from compozy.config.home import Home
from compozy.config.redaction import Redactor
from compozy.config.toml_source import read_toml
from compozy.documents.atomic import write_atomically
from compozy.model.secret_patterns import MASK
from compozy.model.times import now

BUNDLE_SCHEMA = "compozy.support_bundle.v1"
_TAIL_BYTES = 256 * 1024
_MAX_ENTRIES = 500
_PACKAGES = ("msgspec", "starlette", "uvicorn", "uvloop", "httptools", "h11", "click", "PyYAML", "rtoml")


def write_bundle(home: Home, *, report: object = None, status: object = None) -> Path:
    """Write the bundle below the home, 0600, and return its path.

    Args:
        report: the doctor's report as plain data.
        status: the daemon's status as plain data, None when none runs.

    Raises:
        OSError: it cannot be written.
    """
    folder = home.root / "support-bundles"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"compozy-{now()[:19].replace(':', '')}.json"
    data = json.dumps(bundle(home, report=report, status=status), indent=2, ensure_ascii=False)
    write_atomically(Path(os.path.realpath(folder)) / path.name, data.encode("utf-8", "surrogatepass"))
    return path


def bundle(home: Home, *, report: object = None, status: object = None) -> dict[str, object]:
    """Return the content of the bundle."""
    redactor = Redactor(enabled=True)
    with contextlib.suppress(ConfigError):
        source = read_toml(home.config_file)
        _register_words(redactor, source.table if source is not None else None)
    return {
        "schema": BUNDLE_SCHEMA,
        "generated_at": now(),
        "versions": _versions(),
        "doctor": redactor.value(report),
        "status": redactor.value(status),
        "config": redactor.text(_tail(home.config_file)),
        "log": [redactor.text(line) for line in _tail(home.log_file).splitlines()],
        "crash_log": redactor.text(_tail(home.root / "logs" / "daemon-crash.log")),
        "home": _listing(home.root),
    }


def _versions() -> dict[str, str]:
    return {
        "compozy": __version__,
        "python": sys.version.split()[0],
        "system": platform.platform(),
        **{name: _version(name) for name in _PACKAGES},
    }


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "missing"


def _register_words(redactor: Redactor, value: object) -> None:
    """Tell the redactor what follows a secret flag in a list of words: the file's text alone does not show it."""
    if isinstance(value, dict):
        for inner in value.values():
            _register_words(redactor, inner)
    elif isinstance(value, list):
        for inner, clean in zip(value, redactor.items(value, lambda one: one), strict=True):
            if isinstance(inner, str) and clean == MASK:
                redactor.register(inner)
            _register_words(redactor, inner)


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as handle:
            size = handle.seek(0, os.SEEK_END)
            handle.seek(max(0, size - _TAIL_BYTES))
            text = handle.read().decode("utf-8", "replace")
    except OSError:
        return ""
    # The first line may be cut: half a line can hide the name that marks its value as a secret.
    return text.partition("\n")[2] if size > _TAIL_BYTES else text


def _listing(root: Path) -> list[dict[str, object]]:
    entries: list[dict[str, object]] = []
    for folder, _, files in os.walk(root):
        for name in sorted(files):
            path = Path(folder) / name
            try:
                found = path.lstat()
            except OSError:
                continue
            entries.append({"path": str(path.relative_to(root)), "size": found.st_size, "mode": oct(found.st_mode)})
            if len(entries) >= _MAX_ENTRIES:
                return entries
    return entries
