"""Which server processes were started, in a file of the home, so that the next daemon can end what this one left.

Old-or-new on disk, written before a server is used. Only the process with the recorded pid and start time, its
relatives, and processes with its marker are ever ended (`acp/processes.py`). Methods block: call them in a thread.
"""

import logging
import threading
from pathlib import Path

import msgspec

from compozy.acp.contract import ProcessIdentity
from compozy.acp.processes import end_members_blocking
from compozy.documents.atomic import write_atomically

log = logging.getLogger(__name__)
FILE_NAME = "mcp-processes.json"


class ProcessJournal:
    """The started servers of one home."""

    def __init__(self, root: Path) -> None:
        self._path = root / FILE_NAME
        self._started: dict[str, ProcessIdentity] = {}
        self._lock = threading.Lock()

    def add(self, identity: ProcessIdentity) -> None:
        """Remember a started server.

        Raises:
            OSError: the file cannot be written.
        """
        with self._lock:
            self._write({**self._started, identity.marker: identity})

    def remove(self, marker: str) -> None:
        """Forget a server whose processes have all ended."""
        with self._lock:
            try:
                self._write({key: one for key, one in self._started.items() if key != marker})
            except OSError as error:
                # Sweeping what has ended once more does no harm.
                log.warning("%s cannot be written: %s", self._path, error)

    def sweep(self, *, term_grace: float) -> int:
        """End what an earlier daemon left; return of how many servers something was left."""
        try:
            left = msgspec.json.decode(self._path.read_bytes(), type=list[ProcessIdentity])
        except FileNotFoundError:
            return 0
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
            log.warning("%s cannot be read, servers of an earlier daemon are not looked for: %s", self._path, error)
            return 0
        ended = sum(bool(end_members_blocking(identity, term_grace=term_grace).met) for identity in left)
        self._path.unlink(missing_ok=True)
        return ended

    def _write(self, started: dict[str, ProcessIdentity]) -> None:
        write_atomically(self._path, msgspec.json.encode(list(started.values())))
        self._started = started
