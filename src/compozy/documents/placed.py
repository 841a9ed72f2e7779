"""Finding an entry by its path in a tree of values that know where they stand. Knows no format."""

from typing import Protocol, Self, TypeVar

from compozy.documents.problems import Path, Span
from compozy.documents.text import same_field


class Placed(Protocol):
    """A value: members with the spans of their keys, items of a list."""

    members: dict[str, tuple[Span, Self]]
    items: list[Self]


_Node = TypeVar("_Node", bound=Placed)


def entry_at(root: _Node, path: Path) -> tuple[Span | None, _Node] | None:
    """Return the span of an entry's key, None for an item of a list, and its value; None when there is no entry."""
    found: tuple[Span | None, _Node] = (None, root)
    for step in path:
        node = found[1]
        if isinstance(step, int):
            if step >= len(node.items):
                return None
            found = (None, node.items[step])
            continue
        name = same_field(step, node.members)
        if name is None:
            return None
        found = node.members[name]
    return found
