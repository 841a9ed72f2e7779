"""Choosing an agent for a task by what agents declare: the selector of `compozy.ocm` over a fleet (issue 8 item 8).

Every capability is one document of its agent. Required ids decide first, preferred ids rank (decisions D29), then
words. Deterministic: the same agents and task give the same ranking and reasons. When nobody fits, that is said, and
the default agent is taken. It never looks into an agent's prompt.
"""

import copy
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from compozy.lexical.words import split_name
from compozy.model.agent import Agent
from compozy.model.capability import Capability
from compozy.model.errors import InvalidRequest
from compozy.model.selection import Candidate, Rejected, Selection
from compozy.ocm.selection.documents import Document, Field, name_field
from compozy.ocm.selection.fit import DEFAULT_MINIMUM, tell_shortfall
from compozy.ocm.selection.matching import LexicalMatcher, Matched, Matcher
from compozy.ocm.selection.reasons import explain

_CANDIDATES = 10
_LONGEST_ID = 256


class Wishes(NamedTuple):
    """Ids of capabilities or skills: all `required` must match, `preferred` rank. `ID@VERSION` pins (D27)."""

    required: tuple[str, ...] = ()
    preferred: tuple[str, ...] = ()


class _Match(NamedTuple):
    total: float
    confidence: float
    document: int
    told: tuple[str, ...]


class AgentSelector:
    """A fleet ready for selection; it does not change afterwards.

    Args:
        agents: the fleet.
        skills: the enabled skills of each agent.
        matching: makes the matcher of the documents; by words when omitted.
    """

    def __init__(
        self,
        agents: Sequence[Agent],
        skills: Mapping[str, Collection[str]] | None = None,
        matching: Callable[[Sequence[Document]], Matcher] = LexicalMatcher,
    ) -> None:
        self._agents = {agent.name: agent for agent in agents if agent.definition_digest or not agent.diagnostics}
        self._skills = skills or {}
        self._documents: list[Document] = []
        self._owners: list[tuple[str, Capability | None]] = []
        for agent in self._agents.values():
            for capability in agent.capabilities or (None,):
                self._owners.append((agent.name, capability))
                self._documents.append(_read(agent, capability))
        self._matcher = matching(self._documents)

    @property
    def agents(self) -> tuple[Agent, ...]:
        """The fleet as far as it can be chosen from."""
        return tuple(self._agents.values())

    @property
    def size(self) -> int:
        """How many documents it compares a task with."""
        return len(self._documents)

    def with_skills(self, skills: Mapping[str, Collection[str]]) -> "AgentSelector":
        """Return one that knows these skills, with the same index."""
        made = copy.copy(self)
        made._skills = skills
        return made

    def select(self, task: str, default: str, wishes: Wishes | None = None) -> Selection:
        """Choose for a task; `default` is who works when none fits.

        Raises:
            InvalidRequest: a required or preferred id is malformed.
        """
        wanted = wishes or Wishes()
        for given in (*wanted.required, *wanted.preferred):
            _check_id(given)
        lacking = {name: lack for name in self._agents if (lack := self._lacking(name, wanted.required))}
        ranked, rejected = self._rank(task, wanted, lacking)
        if ranked:
            best = ranked[0]
            margin = best.score - ranked[1].score if len(ranked) > 1 else best.score
            return Selection(
                agent=best.name,
                reason="; ".join((*best.reasons, *_told_preferred(best))) or "it has every required capability",
                candidates=ranked,
                fits=True,
                margin=round(max(margin, 0.0), 4),
                rejected=rejected,
            )
        count = len(self._agents)
        if wanted.required:
            reason = f"none of {count} visible agents has {', '.join(wanted.required)}: nobody is chosen"
            return Selection(agent="", reason=reason, candidates=(), rejected=rejected)
        reason = f"none of {count} visible agents declares a capability that fits: the default agent is used"
        return Selection(agent=default, reason=reason, candidates=(), rejected=rejected)

    def _rank(
        self, task: str, wanted: Wishes, lacking: Mapping[str, str]
    ) -> tuple[tuple[Candidate, ...], tuple[Rejected, ...]]:
        out = {number for number, (name, _) in enumerate(self._owners) if name in lacking}
        matches = self._matches(self._matcher.match(task, out))
        candidates, rejected = [], [Rejected(name=name, reason=lack) for name, lack in lacking.items()]
        for name in self._agents:
            if name in lacking:
                continue
            match = matches.get(name)
            # Having every required capability is a fit by itself, whatever the words are.
            if wanted.required or (match is not None and match.confidence >= DEFAULT_MINIMUM):
                candidates.append(self._candidate(name, match, task, wanted))
            else:
                rejected.append(Rejected(name=name, reason=_unlike(match)))
        candidates.sort(key=lambda one: (-len(one.preferred), -one.score, one.name))
        near = {name: match.total for name, match in matches.items()}
        rejected.sort(key=lambda one: (-near.get(one.name, 0.0), one.name))
        return tuple(candidates[:_CANDIDATES]), tuple(rejected[:_CANDIDATES])

    def _matches(self, matched: Matched) -> dict[str, _Match]:
        """Return the best document of every agent that shares anything with the task."""
        best: dict[str, int] = {}
        for number in sorted(matched.totals):
            name = self._owners[number][0]
            if name not in best or matched.totals[number] > matched.totals[best[name]]:
                best[name] = number
        matched.prepare()
        return {
            name: _Match(matched.totals[number], matched.confidence(number), number, matched.told(number))
            for name, number in best.items()
        }

    def _candidate(self, name: str, match: _Match | None, task: str, wanted: Wishes) -> Candidate:
        capability = self._owners[match.document][1] if match else None
        return Candidate(
            name=name,
            score=round(match.total, 4) if match else 0.0,
            confidence=round(match.confidence, 4) if match else 0.0,
            reasons=(*explain(self._documents[match.document], task), *match.told) if match else (),
            capability=capability.id if capability else "",
            missing_inputs=capability.context_needed if capability else (),
            preferred=tuple(one for one in wanted.preferred if not self._lack(name, one)),
        )

    def _lacking(self, name: str, required: Sequence[str]) -> str:
        return "; ".join(lack for one in required if (lack := self._lack(name, one)))

    def _lack(self, name: str, wanted: str) -> str:
        """Return what an agent lacks of one id, "" when it has it."""
        wanted_id, _, pin = wanted.partition("@")
        for capability in self._agents[name].capabilities:
            if capability.id != wanted_id:
                continue
            if pin in ("", capability.version, capability.digest):
                return ""
            present = capability.digest if pin.startswith("sha256:") else capability.version or "no version"
            return f"has {wanted_id} as {present}, not {pin}"
        if not pin and wanted_id in self._skills.get(name, ()):
            return ""
        return f"lacks {wanted}"


def _read(agent: Agent, capability: Capability | None) -> Document:
    fields = [
        name_field(agent.name)._replace(repeat=1),
        Field("its category", split_name(" ".join(agent.category_path))),
    ]
    if capability is not None:
        fields = [
            Field("a capability", split_name(capability.id), 2),
            Field("a capability's summary", capability.summary),
            Field("a capability's outcome", capability.outcome),
            *(Field("a capability's example", example) for example in capability.examples),
            *fields,
        ]
    return Document(agent.name, tuple(fields))


def _unlike(match: _Match | None) -> str:
    if match is None:
        return "shares no word with the task"
    return f"hardly resembles the task: {tell_shortfall(match.confidence, DEFAULT_MINIMUM)}"


def _told_preferred(candidate: Candidate) -> tuple[str, ...]:
    return (f"it has the preferred {', '.join(candidate.preferred)}",) if candidate.preferred else ()


def _check_id(given: str) -> None:
    wanted_id = given.partition("@")[0]
    if not wanted_id or len(given) > _LONGEST_ID or not given.isprintable() or " " in given or "," in given:
        raise InvalidRequest(
            f"{given!r} is no capability id: give an id without spaces or commas, or a pin ID@VERSION, ID@sha256:…",
            code="capability_id_invalid",
        )


def rank(task: str, agents: Sequence[Agent]) -> tuple[Candidate, ...]:
    """Return the agents that fit a task, best first; ties by name."""
    return AgentSelector(agents).select(task, "").candidates


def select(task: str, agents: Sequence[Agent], default: str, wishes: Wishes | None = None) -> Selection:
    """Choose the best fitting agent, else the default one."""
    return AgentSelector(agents).select(task, default, wishes)
