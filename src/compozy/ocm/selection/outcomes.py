"""How capabilities did in practice: outcomes in a file of JSON lines, and the prior that follows (issue 8 item 7).

Old outcomes count less (half as much after thirty days) and few outcomes say little: until eight count, the authored
prior weighs more. The authored prior is never lost: a manifest with a learned one keeps it beside it. What a prior
does to a score is for the engine.
"""

import json
import os
import stat
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from compozy.documents.files import read_regular
from compozy.documents.locks import wait_for_lock
from compozy.model.errors import LocalError
from compozy.model.record import Record
from compozy.ocm.target import Target

HALF_LIFE_DAYS = 30.0
# How many outcomes the authored prior is worth.
AUTHORED_WEIGHT = 8.0
MOST_BYTES = 256 << 20
_PATIENCE = 30.0
_LONGEST_ID = 1_024
_LONGEST_LINE = 8_192
# Where a manifest keeps what its learned prior rests on, in its metadata.
KEY = "learned_prior"


class Result(Record, frozen=True, kw_only=True):
    """One outcome: `quality` 0 to 1, `at` in RFC 3339."""

    id: str
    quality: float
    at: str


class Learned(Record, frozen=True, kw_only=True):
    """What was learned of a capability: `samples` outcomes, worth `weight` after decay."""

    id: str
    prior: float
    samples: int
    weight: float


def record(path: Path, result: Result) -> None:
    """Append an outcome and make it durable; a full disk leaves the file as it was.

    Raises:
        LocalError: the id is no text that can be read again, or the file is none to append to.
    """
    if not result.id or len(result.id) > _LONGEST_ID or not result.id.isprintable():
        raise LocalError(f"{result.id[:80]!r} is no capability's id; correct it", code="id_unknown")
    line = json.dumps(msgspec.to_builtins(result), ensure_ascii=True) + "\n"
    # Not waiting for whoever reads a pipe of this name.
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise LocalError(f"{str(path)!r} is no regular file; name another", code="outcomes_unreadable")
        _lock(handle, path)
        _append(handle, path, line.encode())
    finally:
        os.close(handle)


def _lock(handle: int, path: Path) -> None:
    try:
        held = wait_for_lock(handle, time.monotonic() + _PATIENCE)
    except OSError:
        # A file system without locks; appending is one write all the same.
        return
    if not held:
        raise LocalError(f"another program holds {str(path)!r}; end it, or try again", code="outcomes_unreadable")


def _append(handle: int, path: Path, line: bytes) -> None:
    size = os.fstat(handle).st_size
    tail = os.pread(handle, _LONGEST_LINE, max(size - _LONGEST_LINE, 0)).rpartition(b"\n")[2]
    if tail:
        # The last line has no end: a whole outcome gets one, what a killed program left of one goes.
        if _read_line(tail) is None:
            size -= len(tail)
            os.ftruncate(handle, size)
        else:
            line = b"\n" + line
    try:
        written = os.write(handle, line)
        os.fsync(handle)
    except OSError:
        os.ftruncate(handle, size)
        raise
    if written != len(line):
        os.ftruncate(handle, size)
        raise LocalError(
            f"{str(path)!r} took only a part of the outcome: the disk is full; make room and try again",
            code="outcomes_unreadable",
        )


def _read_line(line: bytes) -> Result | None:
    try:
        result = msgspec.json.decode(line, type=Result)
        moment(result.at)
    except (ValueError, RecursionError):
        return None
    return result


def read_results(path: Path) -> list[Result]:
    """Read the outcomes of a file; a last line that somebody is still writing is left out.

    Raises:
        LocalError: it cannot be read, or a line is no outcome.
    """
    try:
        data = read_regular(path, MOST_BYTES)
    except OSError as error:
        raise LocalError(
            f"could not read outcomes from {str(path)!r}: {(error.strerror or str(error)).lower()}; record one with "
            "--good or --bad",
            code="outcomes_unreadable",
        ) from error
    if len(data) > MOST_BYTES:
        raise LocalError(
            f"{str(path)!r} is larger than {MOST_BYTES >> 20} MiB; start a new file", code="outcomes_unreadable"
        )
    lines = data.splitlines()
    if lines and not data.endswith((b"\n", b"\r")) and _read_line(lines[-1]) is None:
        lines.pop()
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            result = msgspec.json.decode(line, type=Result)
            moment(result.at)
        except (msgspec.DecodeError, ValueError, UnicodeDecodeError, RecursionError) as error:
            raise LocalError(
                f"{path}:{number}: no outcome ({error}); correct or remove the line", code="outcome_invalid"
            ) from error
        if not 0 <= result.quality <= 1:
            raise LocalError(
                f"{path}:{number}: quality {result.quality!r} is not within 0 to 1", code="outcome_invalid"
            )
        found.append(result)
    return found


def moment(text: str) -> datetime:
    """Read a time; one without zone is UTC."""
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def learn(results: Sequence[Result], authored: dict[str, float], now: datetime) -> list[Learned]:
    """Return what the outcomes say of each capability, by id; `authored` are the priors they start from."""
    by_id: dict[str, list[Result]] = {}
    for result in results:
        by_id.setdefault(result.id, []).append(result)
    learned = []
    for one, own in sorted(by_id.items()):
        # An outcome from the future (a clock that was wrong) counts like one of now.
        ages = [max((now - moment(result.at)).total_seconds() / 86_400, 0.0) for result in own]
        weights = [0.5 ** (age / HALF_LIFE_DAYS) for age in ages]
        good = sum(weight * result.quality for weight, result in zip(weights, own, strict=True))
        total = sum(weights)
        prior = (authored.get(one, 0.5) * AUTHORED_WEIGHT + good) / (AUTHORED_WEIGHT + total)
        learned.append(Learned(id=one, prior=round(prior, 4), samples=len(own), weight=round(total, 4)))
    return learned


def authored_prior(document: Mapping[str, object]) -> float:
    """Return the prior its author gave, also when a learned one stands in its place now."""
    metadata = document.get("metadata")
    kept = metadata.get(KEY) if isinstance(metadata, Mapping) else None
    told = kept.get("authored") if isinstance(kept, Mapping) else document.get("quality_prior")
    is_number = isinstance(told, int | float) and not isinstance(told, bool) and 0 <= told <= 1
    return float(told) if is_number and isinstance(told, int | float) else 0.5


def authored_prior_of(target: Target) -> float:
    """Return the prior that the author of a target gave."""
    return authored_prior(target.document) if target.document else target.prior


def with_learned(targets: Sequence[Target], results: Sequence[Result], now: datetime) -> list[Target]:
    """Return the targets with the priors that the outcomes give them."""
    priors = {one.id: one.prior for one in learn(results, {one.id: authored_prior_of(one) for one in targets}, now)}
    return [
        msgspec.structs.replace(target, prior=priors[target.id]) if target.id in priors else target
        for target in targets
    ]
