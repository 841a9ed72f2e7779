"""What a turn leaves in the record when it ends: tokens and cost, and whether somebody saw it (contract §3.5).

Pure changes of the record. Agents report tokens with the answer to a prompt, for that turn, and cost as a running
total of their own session; a session that had several agents adds those totals.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import msgspec

from compozy.model.event import EventDraft
from compozy.model.session import SessionUsage
from compozy.runtime.sessions.content import read_content
from compozy.runtime.sessions.journal import Change, change_session
from compozy.runtime.sessions.turns import Turn
from compozy.store.interface import SessionRecord, Spent

_Usage = Mapping[str, object]
Number = TypeVar("Number", int, float)
# The spellings agents use for each number, best first.
_TOKENS = {
    "input_tokens": ("inputTokens", "input_tokens"),
    "output_tokens": ("outputTokens", "output_tokens"),
    "total_tokens": ("totalTokens", "total_tokens"),
}


def turn_ended(turn: Turn, drafts: Sequence[EventDraft], cost: _Usage | None, *, is_seen: bool) -> Change:
    """Return the change that ends a turn in the record.

    Args:
        drafts: its last events; the very last one may carry the turn's tokens.
        cost: the newest running total of the agent's session, `{amount, currency}`.
        is_seen: somebody watched it end, or wanted it to end.
    """
    usage = (read_content(drafts[-1].content).usage if drafts else None) or {}

    def change(record: SessionRecord) -> SessionRecord:
        spent = add_turn(record.spent or Spent(), usage, cost or {}, record.session.runtime.acp_session_id)
        record = msgspec.structs.replace(
            record, turn_id="", spent=spent, is_unseen=not (is_seen or turn.ending == "cancelled")
        )
        return change_session(record, usage=usage_of(spent))

    return change


def seen(record: SessionRecord) -> SessionRecord:
    """Return the record of a session that somebody looked at."""
    return msgspec.structs.replace(record, is_unseen=False) if record.is_unseen else record


def usage_of(spent: Spent | None) -> SessionUsage:
    """Return what was spent as the API shows it."""
    if spent is None:
        return SessionUsage(turn_count=0)
    costs = [part for part in (spent.earlier_cost, spent.cost) if part is not None]
    return SessionUsage(
        turn_count=spent.turns,
        input_tokens=spent.input_tokens,
        output_tokens=spent.output_tokens,
        total_tokens=spent.total_tokens,
        total_cost=sum(costs) if costs else None,
        cost_currency=spent.currency,
        cost_source="agent_reported" if costs else "none",
        cost_status="actual" if costs else "unknown",
    )


def add_turn(spent: Spent, usage: _Usage, cost: _Usage, acp_session_id: str) -> Spent:
    """Return what was spent including one more turn of the agent's session."""
    found = {name: _number(usage, spellings) for name, spellings in _TOKENS.items()}
    if found["total_tokens"] is None and (found["input_tokens"], found["output_tokens"]) != (None, None):
        found["total_tokens"] = (found["input_tokens"] or 0) + (found["output_tokens"] or 0)
    sums = {name: _sum(getattr(spent, name), number) for name, number in found.items()}
    spent = msgspec.structs.replace(spent, turns=spent.turns + 1, **sums)
    if acp_session_id != spent.acp_session_id:
        earlier = _sum(spent.earlier_cost, spent.cost)
        spent = msgspec.structs.replace(spent, acp_session_id=acp_session_id, earlier_cost=earlier, cost=None)
    amount, currency = cost.get("amount"), cost.get("currency")
    if isinstance(amount, int | float) and not isinstance(amount, bool):
        spent = msgspec.structs.replace(spent, cost=float(amount), currency=str(currency or spent.currency))
    return spent


def _number(usage: _Usage, spellings: Sequence[str]) -> int | None:
    for name in spellings:
        value = usage.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
            return int(value)
    return None


def _sum(one: Number | None, other: Number | None) -> Number | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other
