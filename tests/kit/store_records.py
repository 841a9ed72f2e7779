"""Small ready-made records for tests of the store: only what a test says differs from the default."""

from pathlib import Path

from compozy.model.event import EventDraft
from compozy.model.session import Lineage, PermissionPolicy, Runtime, RuntimeSelection, Session, SpawnBudget
from compozy.model.workspace import Workspace
from compozy.store.interface import SessionRecord

NO_POLICY = PermissionPolicy(
    mcp_servers=(), network_channels=(), sandbox_profiles=(), skills=(), tools=(), workspace_paths=()
)
NO_CHILDREN = SpawnBudget(max_children=0, max_depth=0, ttl_seconds=0)


def moment(second: int) -> str:
    """Return a time of one fixed day, `second` seconds into it."""
    return f"2026-01-02T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000000Z"


def make_session(
    session_id: str = "sess-0000000000000001",
    *,
    at: int = 0,
    updated: int | None = None,
    provider: str = "offline",
    parent: str = "",
    root: str = "",
    startup_prompt: str = "You are general.",
    last_activity_at: str = "",
    turn_id: str = "",
    **fields: object,
) -> SessionRecord:
    """Return an idle active session created at second `at` and updated then or at `updated`."""
    lineage = None
    if parent or root:
        lineage = Lineage(
            auto_stop_on_parent=True,
            notify_creator=False,
            permission_policy=NO_POLICY,
            spawn_budget=NO_CHILDREN,
            spawn_depth=1,
            parent_session_id=parent,
            root_session_id=root,
        )
    values: dict[str, object] = {
        "agent_name": "general",
        "state": "active",
        "badge": "idle",
        "type": "user",
        "workspace_id": "ws_0000000000000001",
        "runtime": Runtime(status="unbound", selection_revision=0, selected=RuntimeSelection(provider=provider)),
        "attachable": True,
        "pending_interactions": (),
        "available_commands": (),
        "archived_at": None,
        "created_at": moment(at),
        "updated_at": moment(at if updated is None else updated),
        "lineage": lineage,
        **fields,
    }
    return SessionRecord(
        session=Session(id=session_id, **values),
        startup_prompt=startup_prompt,
        permission_mode="approve-reads",
        cwd="/repo",
        last_activity_at=last_activity_at,
        turn_id=turn_id,
    )


def make_workspace(number: int = 1) -> Workspace:
    """Return a workspace whose id, name and folder carry the number."""
    return Workspace(
        id=f"ws_{number:016x}",
        name=f"repo-{number}",
        root_dir=f"/repo-{number}",
        add_dirs=("/shared",),
        created_at=moment(number),
        updated_at=moment(number),
    )


def workspace_in(root: Path) -> Workspace:
    """Return the workspace of a folder, named after it."""
    return Workspace(
        id=f"ws_{root.name}",
        name=root.name,
        root_dir=str(root),
        add_dirs=(),
        created_at=moment(0),
        updated_at=moment(0),
    )


def make_drafts(count: int, *, first: int = 1, **fields: object) -> tuple[EventDraft, ...]:
    """Return drafts whose content carries a running number and whose times are one second apart."""
    return tuple(
        EventDraft(
            **{
                "type": "agent_message",
                "turn_id": "turn-0000000000000001",
                "agent_name": "general",
                "content": b'{"n":%d,"text":"gr\xc3\xbc\xc3\x9fe \\u0000 \xf0\x9f\x99\x82"}' % number,
                "timestamp": moment(number),
                **fields,
            }
        )
        for number in range(first, first + count)
    )
