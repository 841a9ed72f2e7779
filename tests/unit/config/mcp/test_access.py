"""Which servers an agent's own lists keep away from it (report P70; issue 7 item 4)."""

import pytest

from compozy.config.mcp.access import access, canonical_name, tools_of
from compozy.model.definition import AgentDefinition
from compozy.tools import ids


def agent(**fields: tuple[str, ...]) -> AgentDefinition:
    return AgentDefinition(name="a", prompt="x", **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({}, "in_force"),
        ({"deny_tools": ("mcp__*",)}, "denied"),
        ({"deny_tools": ("mcp__issue_tracker__*",)}, "denied"),
        ({"deny_tools": ("mcp__issue_*",)}, "denied"),
        ({"deny_tools": ("mcp__other__*", "compozy__*")}, "in_force"),
        # One tool less leaves the server.
        ({"deny_tools": ("mcp__issue_tracker__delete", "mcp__issue_tracker__del_*")}, "in_force"),
        ({"tools": ("compozy__tool_list",)}, "not_allowed"),
        ({"toolsets": ("compozy__bootstrap",)}, "not_allowed"),
        ({"tools": ("mcp__issue_tracker__search",)}, "in_force"),
        ({"tools": ("mcp__*",)}, "in_force"),
        ({"tools": ("mcp__issue_tracker__se_*",)}, "in_force"),
        ({"tools": ("mcp__other__*",)}, "not_allowed"),
        ({"tools": ("mcp__*",), "deny_tools": ("mcp__issue_tracker__*",)}, "denied"),
    ],
)
def test_a_server_is_kept_away_when_no_tool_of_it_could_be_used(
    fields: dict[str, tuple[str, ...]], state: str
) -> None:
    found, reason = access(agent(**fields), "Issue-Tracker")
    assert found == state and bool(reason) == (state != "in_force")


@pytest.mark.parametrize("name", ["probe", "Issue-Tracker", "a.b c", "1st", "__", "Ünï", "X" * 70])
def test_a_server_has_the_name_that_its_tools_have(name: str) -> None:
    assert canonical_name(name) == ids.canonical(name)
    assert ids.mcp_tool_id(name, "x").startswith(tools_of(name)[:-1])
