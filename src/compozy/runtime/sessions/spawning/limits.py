"""What a child may do at most: never more than its parent, atom by atom (contract §9 safe spawn; P46).

Pure. An atom that is not known to be the parent's is a widening and refused; nothing is narrowed in silence. Modes
are derived in `mode.py`; this is about tools, servers, skills and paths.
"""

from collections.abc import Sequence

from compozy.documents.tool_ids import id_problem
from compozy.model.errors import Forbidden
from compozy.model.session import PermissionPolicy
from compozy.runtime.sessions.containment import Roots
from compozy.store.interface import SessionRecord
from compozy.tools.ids import Patterns, is_wildcard

# Everything the parent may call: what a child gets that its creator did not narrow.
EVERY_TOOL = "*"
CHILD_TYPES = ("spawned", "coordinator")


def is_child(record: SessionRecord) -> bool:
    """Whether the session's own lineage limits its tools (contract §6.3 layer 5)."""
    return record.session.type in CHILD_TYPES


def check_policy(
    parent: SessionRecord,
    wanted: PermissionPolicy,
    *,
    members: frozenset[str],
    known: frozenset[str] | None,
    skills: frozenset[str],
) -> None:
    """Refuse a policy that is wider than the parent.

    Args:
        members: the tools that the toolsets of the parent come to.
        known: the tools that exist, None when nobody knows.
        skills: the skills the parent can use.

    Raises:
        Forbidden: naming the family and the atom.
    """
    lineage = parent.session.lineage
    own = lineage.permission_policy if lineage is not None else None
    for family, atoms, parents in (
        ("mcp_servers", wanted.mcp_servers, own.mcp_servers if own else ()),
        ("network_channels", wanted.network_channels, own.network_channels if own else ()),
        ("sandbox_profiles", wanted.sandbox_profiles, own.sandbox_profiles if own else ()),
        ("skills", wanted.skills, tuple(skills)),
    ):
        for atom in atoms:
            if atom not in parents:
                raise _widening(family, atom, parents)
    for atom in wanted.tools:
        is_unknown = known is not None and not is_wildcard(atom) and atom not in known
        if is_unknown or not _is_parents_tool(parent, atom, members):
            raise _widening("tools", atom, allowed_tools(parent, members))
    roots = Roots(parent.cwd, parent.additional_dirs)
    for path in wanted.workspace_paths:
        if not path.startswith("/") or not roots.contains(path):
            raise _widening("workspace_paths", path, (parent.cwd, *parent.additional_dirs))


def allowed_tools(parent: SessionRecord, members: frozenset[str]) -> tuple[str, ...]:
    """Return the entries that stand for what the parent may call, before what is denied to it."""
    lineage, access = parent.session.lineage, parent.tool_access
    if is_child(parent) and lineage is not None:
        return lineage.permission_policy.tools
    if access.tools or access.toolsets:
        return (*access.tools, *sorted(members))
    return (EVERY_TOOL,)


def _is_parents_tool(parent: SessionRecord, atom: str, members: frozenset[str]) -> bool:
    bare = atom[:-1] if is_wildcard(atom) else atom
    if atom != EVERY_TOOL and not is_wildcard(atom) and (id_problem(atom) or "__" not in atom):
        return False
    allowed = Patterns.of(allowed_tools(parent, members))
    if is_wildcard(atom):
        within = any(bare.startswith(prefix) for prefix in allowed.prefixes)
    else:
        within = allowed.matches(atom)
    # What is denied to the parent is denied to the child as well, whatever a pattern covers.
    denied = not is_wildcard(atom) and Patterns.of(parent.tool_access.deny_tools).matches(atom)
    return within and not denied


def _widening(family: str, atom: str, known: Sequence[str]) -> Forbidden:
    shown = ", ".join(sorted(known)[:20]) or "nothing"
    return Forbidden(
        f"a child may not get {family} {atom!r}: its parent has {shown}; ask for what it has, or leave it out",
        code="spawn_permission_widening",
        category="session",
        evidence={"family": family, "atom": atom},
        diagnostic=True,
    )
