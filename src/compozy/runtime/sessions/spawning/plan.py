"""From a request and a parent to what a child will be: lineage, roots and limits, frozen before it is created.

Pure. Implements contract §9 (safe spawn) and the lineage of shapes; the record itself is made in `create.py`.
"""

from dataclasses import dataclass

from compozy.model import times
from compozy.model.errors import Conflict, Unprocessable
from compozy.model.record import Record
from compozy.model.session import Lineage, PermissionPolicy, SpawnBudget
from compozy.runtime.sessions.containment import Roots
from compozy.store.interface import SessionRecord

# A year: longer than any child is of use, and far from what times can hold.
MOST_TTL_SECONDS = 366 * 24 * 3600
COORDINATOR = "coordinator"


class SpawnRequest(Record, frozen=True, kw_only=True):
    """What an agent asks for (shapes: POST /api/agent/spawn)."""

    agent_name: str
    spawn_role: str
    ttl_seconds: int
    permissions: PermissionPolicy
    auto_stop_on_parent: bool = True
    idempotency_key: str = ""
    model: str = ""
    name: str = ""
    notify_creator: bool | None = None
    prompt_overlay: str = ""
    provider: str = ""
    speed: str = ""
    workspace: str = ""


@dataclass(frozen=True, kw_only=True)
class ChildPlan:
    """What makes a session a child."""

    parent: SessionRecord
    lineage: Lineage
    cwd: str
    additional_dirs: tuple[str, ...]
    overlay: str = ""
    key: str = ""
    digest: str = ""


def check_spawn(request: SpawnRequest) -> None:
    """Refuse what no parent may ask for.

    Raises:
        Unprocessable: naming the field.
    """
    for field in ("agent_name", "spawn_role"):
        if not getattr(request, field).strip():
            raise Unprocessable(f"{field} is required: say {'which agent' if field == 'agent_name' else 'what for'}")
    if request.spawn_role.strip().casefold() == COORDINATOR:
        raise Unprocessable(
            "spawn_role 'coordinator' is the daemon's own: choose another", code="spawn_role_reserved"
        )
    if not 0 < request.ttl_seconds <= MOST_TTL_SECONDS:
        raise Unprocessable(f"ttl_seconds is {request.ttl_seconds}: write 1 to {MOST_TTL_SECONDS}")


def check_parent(parent: SessionRecord, live_children: int) -> None:
    """Refuse a child too many, or too deep.

    Raises:
        Conflict: the parent is stopped, too deep in the family, or has children enough.
    """
    session = parent.session
    budget, depth = _budget(parent), session.lineage.spawn_depth if session.lineage else 0
    evidence: dict[str, object] = {"session_id": session.id, "depth": depth, "children": live_children}
    if session.state == "stopped":
        raise _refused(f"session {session.id!r} is stopped: prompt it first", "spawn_parent_stopped", evidence)
    if depth + 1 > budget.max_depth:
        raise _refused(
            f"session {session.id!r} is at depth {depth} and children go {budget.max_depth} deep at most: let its "
            "parent start the session",
            "spawn_depth_exceeded",
            evidence,
        )
    if live_children >= budget.max_children:
        raise _refused(
            f"session {session.id!r} has {live_children} running children, {budget.max_children} at most: stop one "
            "first",
            "spawn_children_exceeded",
            evidence,
        )


def plan_child(
    parent: SessionRecord,
    policy: PermissionPolicy,
    *,
    role: str = "",
    ttl_seconds: int = 0,
    auto_stop: bool = True,
    notify: bool = False,
    overlay: str = "",
    key: str = "",
    digest: str = "",
) -> ChildPlan:
    """Return the plan of a child whose policy was checked; without paths it works where its parent does."""
    session = parent.session
    paths = policy.workspace_paths or (parent.cwd,)
    # The parent's folder when it is among them, so that relative paths mean the same to both.
    cwd = parent.cwd if Roots(paths[0], paths[1:]).contains(parent.cwd) else paths[0]
    budget = _budget(parent)
    lineage = Lineage(
        auto_stop_on_parent=auto_stop,
        notify_creator=notify,
        permission_policy=policy,
        spawn_budget=SpawnBudget(
            max_children=budget.max_children, max_depth=budget.max_depth, ttl_seconds=ttl_seconds
        ),
        spawn_depth=(session.lineage.spawn_depth if session.lineage else 0) + 1,
        parent_session_id=session.id,
        root_session_id=(session.lineage.root_session_id if session.lineage else "") or session.id,
        spawn_role=role,
        ttl_expires_at=times.later(ttl_seconds) if ttl_seconds else None,
    )
    return ChildPlan(
        parent=parent,
        lineage=lineage,
        cwd=cwd,
        additional_dirs=tuple(path for path in paths if path != cwd),
        overlay=overlay,
        key=key,
        digest=digest,
    )


def _budget(parent: SessionRecord) -> SpawnBudget:
    lineage = parent.session.lineage
    return lineage.spawn_budget if lineage else SpawnBudget(max_children=0, max_depth=0, ttl_seconds=0)


def _refused(message: str, code: str, evidence: dict[str, object]) -> Conflict:
    return Conflict(message, code=code, category="session", evidence=evidence, diagnostic=True)
