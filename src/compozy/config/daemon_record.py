"""daemon.json: which process serves this home, and where it listens (contract §1.1; P64, P65).

Written atomically by the daemon, read by everyone who wants to reach it. The contract's fields are `pid`, `port` and
`started_at`; the others are ours. A record is a claim, not a proof: `is_alive` compares pid and start time.
"""

import json
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from compozy.config.process_identity import is_same_process
from compozy.documents.atomic import write_atomically

# Readers refuse anything larger (contract §1.1).
MAX_BYTES = 64 * 1024


@dataclass(frozen=True, kw_only=True)
class DaemonRecord:
    """One daemon. `port` is 0 when it serves the socket only; `process_start` is opaque."""

    pid: int
    port: int
    started_at: str
    process_start: str = ""
    host: str = ""
    socket: str = ""
    version: str = ""

    @property
    def is_alive(self) -> bool:
        """Whether that very process still runs."""
        return is_same_process(self.pid, self.process_start)


def read_record(path: Path) -> DaemonRecord | None:
    """Return the record, None when there is none or it makes no sense."""
    try:
        with path.open("rb") as handle:
            data = handle.read(MAX_BYTES + 1)
        raw: object = json.loads(data) if len(data) <= MAX_BYTES else None
    except (OSError, ValueError):
        return None
    if not isinstance(raw, dict):
        return None
    known = {field.name: raw[field.name] for field in fields(DaemonRecord) if field.name in raw}
    numbers = ("pid", "port")
    if not all(isinstance(known.get(name), int) and not isinstance(known[name], bool) for name in numbers):
        return None
    if not all(isinstance(value, str) for name, value in known.items() if name not in numbers):
        return None
    return DaemonRecord(**known) if "started_at" in known else None


def write_record(path: Path, record: DaemonRecord) -> None:
    """Replace the record atomically, 0600.

    Raises:
        OSError: it cannot be written.
    """
    # The home itself may be a link; the record may not.
    target = Path(os.path.realpath(path.parent)) / path.name
    write_atomically(target, (json.dumps(asdict(record)) + "\n").encode("utf-8"))


def remove_record(path: Path, pid: int) -> None:
    """Remove the record if it is still the one of `pid`."""
    record = read_record(path)
    if record is not None and record.pid == pid:
        path.unlink(missing_ok=True)
