"""The daemon's log: one JSON object a line, redacted, rotated by size, 0600 (contract §1.1, §2.2 [log]).

Only the daemon writes it. Errors in writing the log never end a request: logging reports them on standard error.
"""

import gzip
import json
import logging
import logging.handlers
import os
import shutil
import time
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path

from compozy.config.sections import LogSection
from compozy.model.times import now

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING, "error": logging.ERROR}
_LEVEL_NAMES = {logging.DEBUG: "debug", logging.INFO: "info", logging.WARNING: "warn", logging.ERROR: "error"}
# Attributes every record has; whatever else it carries was given by the caller as `extra`.
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_DAY = 86400


class JsonLines(logging.Formatter):
    """Renders a record as one line of JSON: time, level, logger, message, the caller's facts, an exception."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__()
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": now(),
            "level": _LEVEL_NAMES.get(record.levelno, record.levelname.lower()),
            "logger": record.name,
            "message": self._redact(record.getMessage()),
        }
        for name, value in vars(record).items():
            if name not in _STANDARD:
                line[name] = self._clean(value)
        if record.exc_info:
            line["exception"] = self._redact(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False, default=str)

    def _clean(self, value: object) -> object:
        if isinstance(value, dict):
            return {str(name): self._clean(inner) for name, inner in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self._clean(inner) for inner in value]
        if value is None or isinstance(value, bool | int | float):
            return value
        return self._redact(str(value))


class RotatingLog(logging.handlers.RotatingFileHandler):
    """A file of at most `max_size_mb`, with numbered backups that may be compressed and expire by age."""

    def __init__(self, path: Path, settings: LogSection) -> None:
        self._settings = settings
        super().__init__(
            path,
            maxBytes=settings.max_size_mb << 20,
            backupCount=settings.max_backups,
            encoding="utf-8",
            # A log line is never worth an exception about a lone surrogate.
            errors="backslashreplace",
        )
        if settings.compress_backups:
            self.namer = lambda name: f"{name}.gz"
            self.rotator = _compress

    def _open(self) -> TextIOWrapper:
        """Open the file 0600 whatever the umask: the umask stays the user's, because agents inherit it."""
        return open(self.baseFilename, "a", encoding=self.encoding, errors=self.errors, opener=_open_private)

    def doRollover(self) -> None:
        super().doRollover()
        if not self._settings.max_backups and self.stream is not None:
            # Without backups the standard handler would append for ever.
            self.stream.truncate(0)
        self._expire()

    def _expire(self) -> None:
        if not self._settings.max_age_days:
            return
        oldest = time.time() - self._settings.max_age_days * _DAY
        base = Path(self.baseFilename)
        for path in base.parent.glob(f"{base.name}.*"):
            try:
                if path.stat().st_mtime < oldest:
                    path.unlink()
            except FileNotFoundError:
                continue


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def _compress(source: str, target: str) -> None:
    with (
        open(source, "rb") as plain,
        open(target, "wb", opener=_open_private) as file,
        gzip.GzipFile(fileobj=file, mode="wb") as packed,
    ):
        shutil.copyfileobj(plain, packed)
    os.unlink(source)  # noqa: PTH108 - logging hands over plain text


def start_log(path: Path, settings: LogSection, redact: Callable[[str], str], *, level: str = "") -> RotatingLog:
    """Send everything that is logged to the file; return the handler, which the caller closes.

    Raises:
        OSError: the file cannot be opened.
    """
    handler = RotatingLog(path, settings)
    handler.setFormatter(JsonLines(redact))
    root = logging.getLogger()
    root.addHandler(handler)
    chosen = LEVELS[level or settings.level]
    root.setLevel(chosen)
    # What the server and the loop say at info is noise beside our own lines.
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "asyncio"):
        logging.getLogger(name).setLevel(max(chosen, logging.WARNING))
    return handler


def stop_log(handler: RotatingLog) -> None:
    """Take the file out of logging and close it."""
    logging.getLogger().removeHandler(handler)
    handler.close()
