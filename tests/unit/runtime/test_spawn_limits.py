"""What a child may do at most, as a table and as a property: never more than its parent (contract §9; P46)."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.model.errors import Forbidden
from compozy.model.session import Lineage, PermissionPolicy, SpawnBudget
from compozy.model.tool import ToolAccess
from compozy.runtime.sessions.spawning.limits import EVERY_TOOL, allowed_tools, check_policy
from compozy.store.interface import SessionRecord
from compozy.tools.ids import Patterns
from tests.kit.store_records import make_session

TOOLS = ("compozy__a", "compozy__ab", "compozy__b__c", "mcp__notes__read", "mcp__notes__delete", "ext__x")
ATOMS = (*TOOLS, "compozy__*", "compozy__a*", "mcp__*", "mcp__notes__*", EVERY_TOOL)


def _policy(**lists: tuple[str, ...]) -> PermissionPolicy:
    families = ("mcp_servers", "network_channels", "sandbox_profiles", "skills", "tools", "workspace_paths")
    return PermissionPolicy(**{family: lists.get(family, ()) for family in families})


def _parent(access: ToolAccess, *, given: tuple[str, ...] | None = None) -> SessionRecord:
    lineage = Lineage(
        auto_stop_on_parent=True,
        notify_creator=False,
        permission_policy=_policy(tools=given or ()),
        spawn_budget=SpawnBudget(max_children=5, max_depth=2, ttl_seconds=0),
        spawn_depth=0 if given is None else 1,
    )
    record = make_session("sess-1")
    session = msgspec.structs.replace(record.session, lineage=lineage, type="user" if given is None else "spawned")
    return msgspec.structs.replace(record, session=session, tool_access=access, cwd="/")


def _may(parent: SessionRecord, atom: str, members: frozenset[str]) -> bool:
    try:
        check_policy(parent, _policy(tools=(atom,)), members=members, known=frozenset(TOOLS), skills=frozenset())
    except Forbidden:
        return False
    return True


@pytest.mark.parametrize(
    ("tools", "denied", "atom", "may"),
    [
        ((), (), "compozy__a", True),
        ((), (), EVERY_TOOL, True),
        ((), (), "compozy__unknown", False),
        ((), (), "no tool", False),
        (("compozy__a",), (), "compozy__a", True),
        (("compozy__a",), (), "compozy__ab", False),
        (("compozy__a",), (), "compozy__a*", False),
        (("compozy__*",), (), "compozy__a*", True),
        (("compozy__*",), (), "mcp__*", False),
        (("compozy__*",), (), EVERY_TOOL, False),
        ((), ("mcp__notes__delete",), "mcp__notes__delete", False),
    ],
)
def test_a_childs_tools_are_its_parents(
    tools: tuple[str, ...], denied: tuple[str, ...], atom: str, may: bool
) -> None:
    parent = _parent(ToolAccess(tools=tools, deny_tools=denied))
    assert _may(parent, atom, frozenset()) is may


@given(
    tools=st.sets(st.sampled_from(ATOMS[:-1])),
    denied=st.sets(st.sampled_from(ATOMS[:-1])),
    members=st.frozensets(st.sampled_from(TOOLS)),
    handed=st.none() | st.sets(st.sampled_from(ATOMS)),
    atom=st.sampled_from(ATOMS),
)
def test_whatever_a_child_is_given_its_parent_can_call(
    tools: set[str], denied: set[str], members: frozenset[str], handed: set[str] | None, atom: str
) -> None:
    toolsets = ("compozy__set",) if members else ()
    access = ToolAccess(tools=tuple(tools), toolsets=toolsets, deny_tools=tuple(denied))
    parent = _parent(access, given=None if handed is None else tuple(handed))
    if not _may(parent, atom, members):
        return
    forbidden = Patterns.of(denied)
    parents = Patterns.of(allowed_tools(parent, members))
    for tool in TOOLS:
        # The child keeps what is denied to its parent (`create.py`), so that a pattern cannot bring it back.
        if Patterns.of((atom,)).matches(tool) and not forbidden.matches(tool):
            assert parents.matches(tool)
