"""What is valid and still unwise: advice on manifests, each with its place (issue 8 item 4).

Rules on one manifest are `ADVICE`; `near_duplicates` compares all of a run. Everything here is a warning.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from compozy.model.diagnostic import Severity
from compozy.ocm.entries import Entry
from compozy.ocm.problems import Problem
from compozy.ocm.target import Target, from_manifest
from compozy.ocm.validate import errors, validate

# Kinds that answer tasks in words: a router learns most about them from examples.
_NEEDS_EXAMPLES = ("agent", "skill", "tool", "workflow", "destination")
# Kinds that are paid by the piece when they are paid at all.
_PAID_PER_CALL = ("agent", "tool", "workflow", "human", "destination")
_VAGUE = frozenset(
    ("a", "an", "and", "agent", "assistant", "capability", "does", "do", "for", "general", "good", "great",
     "help", "helper", "helpful", "helps", "my", "of", "skill", "some", "stuff", "task", "tasks", "that",
     "the", "thing", "things", "this", "to", "tool", "useful", "various", "with", "work", "works",
     "workflow", "you", "your")
)  # fmt: skip
# Scripts without blanks between words count by the character.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|(?:(?![\u3040-\u30ff\u3400-\u9fff])[^\W_])+")
_FEW_WORDS = 2
_ALIKE = 0.8
_MAX_COMPARED = 200


def advise(document: object) -> list[Problem]:
    """Return the advice on one manifest; none on an invalid one, whose problems come first."""
    if not isinstance(document, Mapping) or errors(validate(document)):
        return []
    target = from_manifest(document)
    return [problem for rule in ADVICE for problem in rule(target)]


def near_duplicates(entries: Sequence[Entry]) -> Iterator[tuple[int, Problem]]:
    """Return the entries (by index) whose description or examples say nearly what an earlier one says."""
    seen: list[tuple[Entry, frozenset[str], frozenset[str]]] = []
    by_word: dict[str, list[int]] = defaultdict(list)
    by_example: dict[str, list[int]] = defaultdict(list)
    for index, entry in enumerate(entries):
        document = entry.document
        if not entry.is_valid or entry.is_native or not isinstance(document, Mapping):
            continue
        words = _words(str(document["description"]))
        raw = document.get("examples")
        examples = frozenset(str(one).strip().lower() for one in raw) if isinstance(raw, list) else frozenset()
        candidates: dict[int, int] = defaultdict(int)
        for word in words:
            for other in by_word[word][-_MAX_COMPARED:]:
                candidates[other] += 1
        for example in examples:
            for other in by_example[example][-_MAX_COMPARED:]:
                candidates.setdefault(other, 0)
        for other, common in candidates.items():
            first, other_words, other_examples = seen[other]
            if len(words) > _FEW_WORDS and common / len(words | other_words) >= _ALIKE:
                message = f"the description says nearly what {first.id!r} ({first.place}) says; say what differs"
                yield index, _advice("lint-near-duplicate", "description", message)
                break
            if examples and len(examples & other_examples) / len(examples | other_examples) >= _ALIKE:
                message = f"the examples are nearly those of {first.id!r} ({first.place}); give others"
                yield index, _advice("lint-near-duplicate", "examples", message)
                break
        for word in words:
            by_word[word].append(len(seen))
        for example in examples:
            by_example[example].append(len(seen))
        seen.append((entry, words, examples))


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def _complexity(target: Target) -> Iterator[Problem]:
    if target.min_complexity > target.max_complexity:
        message = f"min_complexity {target.min_complexity:g} is above max_complexity {target.max_complexity:g}"
        yield _advice("lint-complexity", "capabilities.min_complexity", f"{message}: no task fits")


def _percentiles(target: Target) -> Iterator[Problem]:
    latency = target.document.get("latency_ms")
    if not isinstance(latency, Mapping):
        return
    known = [(name, latency[name]) for name in ("p50", "p90", "p95", "p99") if name in latency]
    for (low, before), (high, after) in pairwise(known):
        if isinstance(before, int | float) and isinstance(after, int | float) and before > after:
            yield _advice("lint-percentiles", f"latency_ms.{low}", f"{low} ({before:g}) is above {high} ({after:g})")


def _examples(target: Target) -> Iterator[Problem]:
    if target.kind in _NEEDS_EXAMPLES and not target.examples:
        message = (
            "there are no examples: give five to ten requests in the words of the people who ask "
            "(`compozy ocm examples TASKS PATH` chooses them from real tasks)"
        )
        yield _advice("lint-examples", "examples", message)


def _vague(target: Target) -> Iterator[Problem]:
    telling = _words(target.description) - _VAGUE - _words(target.id) - {target.kind}
    if len(telling) < _FEW_WORDS:
        message = "the description tells too little to choose by: say what goes in, what comes out, and for whom"
        yield _advice("lint-vague", "description", message)


def _unpriced(target: Target) -> Iterator[Problem]:
    cost = target.document.get("cost")
    is_priced = isinstance(cost, Mapping) and ("usd_per_1k_tokens" in cost or "usd_per_call" in cost)
    if target.kind == "llm" and not is_priced:
        message = "this model has no price and counts as free: give cost.usd_per_1k_tokens (0 if it is free)"
        yield _advice("lint-unpriced", "cost", message)


def _priced_by_token(target: Target) -> Iterator[Problem]:
    if target.kind in _PAID_PER_CALL and target.cost.get("usd_per_1k_tokens") and "usd_per_call" not in target.cost:
        message = f"a capability of kind {target.kind} is paid per call: give cost.usd_per_call"
        yield _advice("lint-priced-by-token", "cost.usd_per_1k_tokens", message)


def _persona(target: Target) -> Iterator[Problem]:
    if target.kind == "persona" and target.primary:
        message = "a persona without `primary: false` competes with the capabilities it should accompany"
        yield _advice("lint-persona-primary", "primary" if "primary" in target.document else "kind", message)


def _region(target: Target) -> Iterator[Problem]:
    if not target.regions or not target.endpoints:
        return
    offered = [str(endpoint.get("region", "")).casefold() for endpoint in target.endpoints]
    if "" in offered:
        return
    for region in target.regions:
        if region.casefold() not in offered:
            message = f"region {region!r} has no endpoint: requests there find nobody; add one, or drop the region"
            yield _advice("lint-region", "constraints.regions", message)


def _advice(code: str, field: str, message: str) -> Problem:
    return Problem(code=code, field=field, message=message, severity=Severity.WARNING)


ADVICE: tuple[Callable[[Target], Iterator[Problem]], ...] = (
    _complexity,
    _percentiles,
    _examples,
    _vague,
    _unpriced,
    _priced_by_token,
    _persona,
    _region,
)
