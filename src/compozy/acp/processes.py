"""Which processes belong to an agent, and how to end them: identity, membership, signals, reaping.

Membership is decided by facts of the system, not by what an agent says: the recorded pid (with its start time), its
process group and session, its descendants, the marker in the environment. Linux reads /proc; elsewhere `ps` gives
pid, parent and group, and the marker cannot be seen. Knows no ACP. spec/acp.md, fault group 5; reports P47, P48.
"""

import asyncio
import contextlib
import ctypes
import errno
import os
import signal
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compozy.acp.contract import ProcessIdentity
from compozy.config.process_identity import HAS_PROC, ProcessRow, read_row, read_rows
from compozy.model.record import Record

MARKER_NAME = "COMPOZY_PROCESS_MARKER"
_PROC = Path("/proc")
# prctl(2): orphans among our descendants become our children instead of init's.
_PR_SET_CHILD_SUBREAPER = 36
# A process that forks while it is being ended is met again in the next round.
_KILL_ROUNDS = 20
_POLL = 0.01


@dataclass(frozen=True, kw_only=True)
class ProcessEntry(ProcessRow):
    """A process as far as membership goes: `marker` is the one its environment carries (own processes only)."""

    marker: str = ""


class Ended(Record, frozen=True, kw_only=True):
    """What ending a launch took: pids that were alive, and those that SIGTERM did not move."""

    met: tuple[int, ...] = ()
    killed: tuple[int, ...] = ()


def become_subreaper() -> bool:
    """Make orphaned descendants of this process its children (Linux); the daemon calls it once at boot."""
    if not HAS_PROC:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    return bool(libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


def read_process(pid: int) -> ProcessRow | None:
    """Return the process with this pid, None when there is none."""
    return read_row(pid)


def process_table(markers: Collection[str] = ()) -> list[ProcessEntry]:
    """Return every process, with the one of these markers that its environment carries."""
    wanted = {f"{MARKER_NAME}={marker}".encode(): marker for marker in markers if marker}
    return [
        ProcessEntry(
            pid=row.pid,
            parent=row.parent,
            group=row.group,
            session=row.session,
            state=row.state,
            start_time=row.start_time,
            memory=row.memory,
            name=row.name,
            marker=_marker_of(row.pid, wanted) if wanted else "",
        )
        for row in read_rows()
    ]


def _marker_of(pid: int, wanted: Mapping[bytes, str]) -> str:
    try:
        variables = (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return ""
    return next((wanted[variable] for variable in variables if variable in wanted), "")


def identify(pid: int, marker: str) -> ProcessIdentity:
    """Return the identity of a child of ours that leads its own process group."""
    entry = read_process(pid)
    return ProcessIdentity(pid=pid, start_time=entry.start_time if entry else "", group=pid, marker=marker)


def is_same_process(identity: ProcessIdentity) -> bool:
    """Tell whether the recorded process still lives (a zombie does not), and not another one with its pid."""
    entry = read_process(identity.pid)
    return bool(entry and identity.start_time and entry.start_time == identity.start_time and not entry.is_zombie)


def find_members(
    identity: ProcessIdentity, *, use_marker: bool = True, known: Collection[ProcessEntry] = ()
) -> list[ProcessEntry]:
    """Return the living processes of a launch, whatever group or session they moved to.

    The pid of the identity counts only with its start time; its group and session only when the pid is certainly
    the same or when a marked process is in them, because numbers are used again. `known` are members found earlier:
    once their parent has gone nothing else may tie them to the launch.
    """
    return members_in(process_table([identity.marker] if use_marker else ()), identity, known=known)


def members_in(
    table: Sequence[ProcessEntry], identity: ProcessIdentity, *, known: Collection[ProcessEntry] = ()
) -> list[ProcessEntry]:
    """Return the living processes of a launch in a table that was read with its marker."""
    own = os.getpid()
    same = {e.pid for e in table if e.pid == identity.pid and e.start_time == identity.start_time}
    marked = {e.pid for e in table if e.marker and e.marker == identity.marker}
    numbers = {identity.group} if same or any(e.group == identity.group for e in table if e.pid in marked) else set()
    members = same | marked | {e.pid for e in table if e.group in numbers or e.session in numbers}
    starts = {e.pid: e.start_time for e in known}
    members |= {e.pid for e in table if starts.get(e.pid) == e.start_time}
    members.discard(own)
    while True:
        children = {e.pid for e in table if e.parent in members and e.pid != own} - members
        if not children:
            break
        members |= children
    return [e for e in table if e.pid in members and not e.is_zombie]


# Deeper than any launcher nests its children.
_MOST_GENERATIONS = 64


def descends_from(pid: int, identity: ProcessIdentity) -> bool:
    """Whether a process is the launch's own or comes from it: by its parents, else by group or marker."""
    entry = read_process(pid)
    for _ in range(_MOST_GENERATIONS):
        if entry is None or entry.pid <= 1:
            break
        if entry.pid == identity.pid:
            return not identity.start_time or entry.start_time == identity.start_time
        entry = read_process(entry.parent)
    return any(member.pid == pid for member in find_members(identity))


def signal_process(entry: ProcessEntry, number: int) -> bool:
    """Send a signal to exactly this process; False when it is gone."""
    try:
        if not HAS_PROC:
            os.kill(entry.pid, number)
            return True
        handle = os.pidfd_open(entry.pid)
    except OSError as error:
        # Without a free descriptor the pid alone must do: better than letting it live.
        if error.errno not in (errno.EMFILE, errno.ENFILE):
            return False
        with contextlib.suppress(OSError):
            os.kill(entry.pid, number)
        return True
    try:
        # The handle is opened first: from here on the pid cannot become another process unnoticed.
        current = read_process(entry.pid)
        if current is None or current.start_time != entry.start_time:
            return False
        signal.pidfd_send_signal(handle, number)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def reap(pids: Iterable[int]) -> None:
    """Collect zombies among adopted children (see `become_subreaper`); others are left alone."""
    for pid in pids:
        with contextlib.suppress(OSError):
            os.waitpid(pid, os.WNOHANG)


def _reap_adopted_of(identity: ProcessIdentity, met: set[int]) -> None:
    own = os.getpid()
    for entry in process_table():
        belongs = entry.pid in met or identity.group in (entry.group, entry.session)
        # The leader itself is reaped by whoever started it.
        if entry.is_zombie and entry.parent == own and belongs and entry.pid != identity.pid:
            reap([entry.pid])


def end_members_blocking(
    identity: ProcessIdentity,
    *,
    term_grace: float,
    use_marker: bool = True,
    known: Collection[ProcessEntry] = (),
) -> Ended:
    """End every process of a launch: SIGTERM, `term_grace` seconds, SIGKILL until none is left.

    Blocks for little more than `term_grace` seconds: call it in a thread.
    """

    def members() -> list[ProcessEntry]:
        return find_members(identity, use_marker=use_marker, known=known)

    ended = _end_blocking(members, term_grace)
    if ended.met:
        _reap_adopted_of(identity, set(ended.met))
    return ended


def _end_blocking(members_now: Callable[[], list[ProcessEntry]], term_grace: float) -> Ended:
    members = members_now()
    met = {entry.pid for entry in members}
    killed: set[int] = set()
    for entry in members:
        signal_process(entry, signal.SIGTERM)
    deadline = time.monotonic() + term_grace
    while members and time.monotonic() < deadline:
        time.sleep(_POLL)
        members = [entry for entry in members if _still_there(entry)]
    for _ in range(_KILL_ROUNDS if met else 0):
        members = members_now()
        if not members:
            break
        killed.update(entry.pid for entry in members)
        for entry in members:
            signal_process(entry, signal.SIGKILL)
        time.sleep(_POLL)
    return Ended(met=tuple(sorted(met | killed)), killed=tuple(sorted(killed)))


def _still_there(entry: ProcessEntry) -> bool:
    current = read_process(entry.pid)
    return current is not None and current.start_time == entry.start_time and not current.is_zombie


async def end_recorded(identity: ProcessIdentity, *, term_grace: float = 0.25) -> bool:
    """End what is left of an agent of an earlier life of the daemon; True when something was.

    Only the process with the recorded pid *and* start time, its relatives, and processes that carry its marker are
    ever signalled.
    """
    return bool(await end_all_recorded([identity], term_grace=term_grace))


async def end_all_recorded(identities: Sequence[ProcessIdentity], *, term_grace: float = 0.25) -> int:
    """End what is left of many launches at once: the system's table is read for all of them together.

    Returns:
        How many processes were met.
    """
    markers = [identity.marker for identity in identities]

    def members() -> list[ProcessEntry]:
        table = process_table(markers)
        found = {entry.pid: entry for identity in identities for entry in members_in(table, identity)}
        return list(found.values())

    return len((await asyncio.to_thread(_end_blocking, members, term_grace)).met)


class AdoptedReaper:
    """Collect zombies that a subreaper inherits; call `collect` every half minute or so.

    A zombie is collected when it was already one at the call before and is not registered as somebody's own child:
    its owner had that long to collect it.
    """

    def __init__(self) -> None:
        self._seen: set[tuple[int, str]] = set()

    def collect(self, own_children: Iterable[int]) -> int:
        """Reap, and return how many zombies were collected."""
        own, known = os.getpid(), set(own_children)
        zombies = {
            (entry.pid, entry.start_time)
            for entry in process_table()
            if entry.is_zombie and entry.parent == own and entry.pid not in known
        }
        ripe = zombies & self._seen
        reap(pid for pid, _ in ripe)
        self._seen = zombies - ripe
        return len(ripe)
