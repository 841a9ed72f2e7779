"""How capabilities did in practice: outcomes in a file of JSON lines, and the prior that follows (issue 8 item 7).

Old outcomes count less (half as much after thirty days) and few outcomes say little: until eight count, the authored
prior weighs more. The authored prior is never lost: a manifest with a learned one keeps it beside it. What a prior
does to a score is for the engine.
"""

import json
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from compozy.model.errors import LocalError
from compozy.model.record import Record
from compozy.ocm.target import Target

HALF_LIFE_DAYS = 30.0
# How many outcomes the authored prior is worth.
AUTHORED_WEIGHT = 8.0
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
    """Append an outcome and make it durable."""
    line = json.dumps(msgspec.to_builtins(result), ensure_ascii=True) + "\n"
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        size = os.fstat(handle).st_size
        if size and os.pread(handle, 1, size - 1) != b"\n":
            # Somebody wrote the last line by hand and did not end it.
            line = "\n" + line
        # One write of a short line: two programs that append at once do not mix.
        os.write(handle, line.encode())
        os.fsync(handle)
    finally:
        os.close(handle)


def read_results(path: Path) -> list[Result]:
    """Read the outcomes of a file.

    Raises:
        LocalError: it cannot be read, or a line is no outcome.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise LocalError(
            f"could not read outcomes from {str(path)!r}: {(error.strerror or str(error)).lower()}; record one with "
            "--good or --bad",
            code="outcomes_unreadable",
        ) from error
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
