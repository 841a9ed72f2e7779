"""What a stored session is found and ordered by: plain columns derived from its record.

Shared by every implementation of the Store, so that filters, order and totals cannot differ between them.
Knows nothing of SQL. Implements the list rules of contract §3.5 and the counting rules of decisions D26.
"""

from typing import NamedTuple

from compozy.model.errors import InvalidRequest
from compozy.model.times import parse_time
from compozy.store.interface import SessionQuery, SessionRecord

# Attention classes (contract §3.5): the higher, the earlier in the list.
NEEDS_YOU, FINISHED, NO_ATTENTION = 2, 1, 0
_ATTENTION = {
    "waiting-for-auth": NEEDS_YOU,
    "waiting-for-input": NEEDS_YOU,
    "failed": NEEDS_YOU,
    "done": FINISHED,
}
_FAILED_REASONS = ("agent_crashed", "error")
# Which columns order a list, all descending; `id` makes the order total, so that a page can start after any row.
SORT_COLUMNS: dict[str, tuple[str, ...]] = {
    "recent": ("updated_at", "created_at", "id"),
    "last_activity": ("last_activity_at", "id"),
    "attention": ("attention", "attention_at", "id"),
}


class SessionColumns(NamedTuple):
    """The derived columns of one session; `attention_at` is when its attention class last changed."""

    id: str
    workspace_id: str
    agent_name: str
    type: str
    state: str
    shown: int
    archived: int
    failed: int
    parent_id: str
    root_id: str
    created_at: str
    updated_at: str
    last_activity_at: str
    attention: int
    attention_at: str
    created_us: int
    lived_us: int
    search: str
    badge: str
    resumable: int


def derive_columns(record: SessionRecord) -> SessionColumns:
    """Return the columns of a record.

    Dream sessions are never shown; `lived_us` counts stopped sessions only; archived ones are not resumable.
    """
    session = record.session
    lineage = session.lineage
    stopped = session.state == "stopped"
    created_us = microseconds(session.created_at)
    selected = session.runtime.effective or session.runtime.selected
    search = "\n".join((session.id, session.name, session.agent_name, selected.provider if selected else ""))
    return SessionColumns(
        id=session.id,
        workspace_id=session.workspace_id,
        agent_name=session.agent_name,
        type=session.type or "user",
        state=session.state,
        shown=int(session.type != "dream"),
        archived=int(session.archived_at is not None),
        failed=int(stopped and (session.failure is not None or session.stop_reason in _FAILED_REASONS)),
        parent_id=lineage.parent_session_id if lineage else "",
        root_id=lineage.root_session_id if lineage else "",
        created_at=session.created_at,
        updated_at=session.updated_at,
        last_activity_at=record.last_activity_at or session.updated_at,
        attention=_ATTENTION.get(session.badge, NO_ATTENTION),
        attention_at=session.attention_changed_at or session.updated_at,
        created_us=created_us,
        lived_us=max(0, microseconds(session.updated_at) - created_us) if stopped else 0,
        search=search.casefold(),
        badge=session.badge,
        resumable=int(stopped and session.attachable and session.archived_at is None),
    )


def check_query(query: SessionQuery) -> tuple[str, ...]:
    """Return the columns the list is ordered by.

    Raises:
        InvalidRequest: an unknown sort, archive filter or a page start that is not of this sort.
    """
    columns = SORT_COLUMNS.get(query.sort)
    if columns is None:
        raise InvalidRequest(f"sort {query.sort!r} is unknown; use one of {', '.join(SORT_COLUMNS)}")
    if query.archive not in ("exclude", "only", "include"):
        raise InvalidRequest(f"archive {query.archive!r} is unknown; use exclude, only or include")
    if query.after and len(query.after) != len(columns):
        raise InvalidRequest("the cursor belongs to another order of the list; start again without a cursor")
    return columns


def page_start(query: SessionQuery, columns: tuple[str, ...]) -> tuple[str | int, ...]:
    """Return the page start with each value in its column's type.

    Raises:
        InvalidRequest: a value is not one that this order produces.
    """
    try:
        return tuple(
            int(value) if name == "attention" else value for name, value in zip(columns, query.after, strict=True)
        )
    except ValueError as problem:
        raise InvalidRequest("the cursor is damaged; start again without a cursor") from problem


def sort_key(row: SessionColumns, columns: tuple[str, ...]) -> tuple[str | int, ...]:
    """Return the values a row is ordered by."""
    return tuple(getattr(row, name) for name in columns)


def microseconds(text: str) -> int:
    """Return a time's microseconds since 1970, 0 for no time."""
    if not text:
        return 0
    return int(parse_time(text).timestamp() * 1_000_000)
