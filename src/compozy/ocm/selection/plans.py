"""Plans: the chosen capability with a persona, a skill, a model or tools beside it, each only when it fits (OCM §9).

A helper obeys the same hard constraints as the chosen one and must fit the task by itself; an empty slot says why.
"""

import msgspec

from compozy.ocm.policy import Request
from compozy.ocm.selection.engine import Selector
from compozy.ocm.selection.fit import DEFAULT_MINIMUM
from compozy.ocm.selection.outcome import Plan, Slot

_TOOLS = 2
# Which helpers a chosen kind can use, and how many of each.
_SLOTS: dict[str, dict[str, int]] = {
    "llm": {"persona": 1, "skill": 1, "tool": _TOOLS},
    "agent": {"persona": 1, "skill": 1, "tool": _TOOLS},
    "skill": {"persona": 1, "llm": 1},
    "persona": {"skill": 1, "llm": 1},
}


def make_plan(
    selector: Selector, task: str, request: Request | None = None, *, minimum: float = DEFAULT_MINIMUM
) -> Plan:
    """Choose for a task and fill the slots of the chosen one.

    Raises:
        InvalidRequest: the request cannot be decided.
    """
    asked = request or Request()
    outcome = selector.select(task, asked, minimum=minimum)
    if not outcome.chosen:
        return Plan(outcome=outcome, slots=())
    kind = next(target.kind for target in selector.targets if target.id == outcome.chosen)
    slots: list[Slot] = []
    empty: dict[str, str] = {}
    for role, most in _SLOTS.get(kind, {}).items():
        wanted = msgspec.structs.replace(asked, kinds=(role,), allow=None, deny=(*asked.deny, outcome.chosen))
        found = selector.select(task, wanted, minimum=minimum, helpers=True, limit=most)
        fitting = [one for one in found.ranked if one.confidence >= minimum]
        slots += [Slot(role=role, id=one.id, confidence=one.confidence, reasons=one.reasons) for one in fitting]
        if not fitting:
            empty[role] = found.reason
    return Plan(outcome=outcome, slots=tuple(slots), empty=empty)
