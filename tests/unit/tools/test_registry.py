"""The registry: joining sources, conflicts, groups, what is required and missing, search."""

import pytest

from compozy.tools.registry import Registry
from compozy.tools.source import ToolScope
from tests.kit.tools import ListedSource, make_tool

pytestmark = pytest.mark.anyio
SCOPE = ToolScope()


async def test_a_snapshot_lists_the_tools_of_all_sources_by_id() -> None:
    ours = ListedSource("ours").put(make_tool("compozy__b"), make_tool("compozy__a"))
    theirs = ListedSource("theirs").put(make_tool("mcp__s__t", kind="mcp", owner="s"))
    snapshot = await Registry([ours, theirs]).snapshot(SCOPE)
    assert list(snapshot.tools) == ["compozy__a", "compozy__b", "mcp__s__t"]
    assert snapshot.tools["mcp__s__t"].source is theirs


async def test_a_snapshot_is_kept_until_a_source_changes() -> None:
    source = ListedSource().put(make_tool("compozy__a"))
    registry = Registry([source])
    told: list[int] = []
    end = registry.watch(lambda: told.append(1))
    first = await registry.snapshot(SCOPE)
    assert await registry.snapshot(SCOPE) is first and told == []
    source.put(make_tool("compozy__b"))
    assert told == [1] and list((await registry.snapshot(SCOPE)).tools) == ["compozy__b"]
    end()
    source.put()
    assert told == [1]


async def test_an_id_of_two_sources_is_usable_from_neither() -> None:
    one = ListedSource("one").put(make_tool("x__t", kind="extension", owner="one"))
    two = ListedSource("two").put(make_tool("x__t", kind="extension", owner="two"))
    snapshot = await Registry([one, two]).snapshot(SCOPE)
    assert snapshot.tools["x__t"].problems == ("conflicted_id",)
    assert "two: 'x__t' is given twice: conflicted_id" in snapshot.notes


async def test_names_of_one_server_that_become_one_id_conflict() -> None:
    server = ListedSource("s").put(
        make_tool("mcp__s__get_x", kind="mcp", owner="s"), make_tool("mcp__s__get_x", kind="mcp", owner="s")
    )
    snapshot = await Registry([server]).snapshot(SCOPE)
    assert snapshot.tools["mcp__s__get_x"].problems == ("conflicted_sanitized_name",)


async def test_our_own_tools_cannot_be_displaced() -> None:
    ours = ListedSource("ours").put(make_tool("compozy__a"))
    liar = ListedSource("liar").put(make_tool("compozy__a", kind="extension"), make_tool("compozy__z", kind="mcp"))
    snapshot = await Registry([ours, liar]).snapshot(SCOPE)
    assert list(snapshot.tools) == ["compozy__a"]
    assert snapshot.tools["compozy__a"].problems == () and snapshot.tools["compozy__a"].source is ours
    assert any("reserved_namespace" in note for note in snapshot.notes)


async def test_an_id_against_the_grammar_is_left_out_and_noted() -> None:
    snapshot = await Registry([ListedSource("s").put(make_tool("mcp__S", kind="mcp"))]).snapshot(SCOPE)
    assert not snapshot.tools and snapshot.notes == ["s: 'mcp__S' is left out: id_invalid_format"]


async def test_groups_include_groups_and_cycles_end() -> None:
    source = ListedSource().put(
        make_tool("compozy__a", toolsets=("compozy__one",)),
        make_tool("compozy__b", toolsets=("compozy__two",)),
        toolsets={
            "compozy__two": ("compozy__one",),
            "compozy__loop": ("compozy__ring",),
            "compozy__ring": ("compozy__loop", "compozy__two"),
            "compozy__hole": ("compozy__nowhere",),
        },
    )
    groups = (await Registry([source]).snapshot(SCOPE)).toolsets
    assert groups.get("compozy__two").expanded_tools == ("compozy__a", "compozy__b")
    assert groups.get("compozy__two").tools == ("compozy__b",) and groups.get("compozy__two").status == "ok"
    loop = groups.get("compozy__loop")
    assert (loop.status, loop.reason_codes) == ("cycle", ("toolset_cycle",))
    assert loop.expanded_tools == ("compozy__a", "compozy__b")
    assert groups.get("compozy__hole").reason_codes == ("toolset_unknown",)
    assert groups.get("compozy__none").status == "unknown"
    assert groups.expand(["compozy__one", "compozy__none"]) == {"compozy__a"}


async def test_what_is_required_and_missing_is_told_from_what_may_still_come() -> None:
    source = ListedSource().put(
        make_tool("compozy__a", toolsets=("compozy__one",)),
        pending={"mcp__slow__": (), "mcp__dead__": ("mcp_unreachable",)},
        settled=[make_tool("mcp__slow__t", kind="mcp", owner="slow")],
    )
    registry = Registry([source])
    wanted = ["compozy__a", "compozy__nope", "mcp__slow__t", "mcp__dead__t", "x__*", "mcp__slow__*", "compozy__*"]
    snapshot = await registry.snapshot(SCOPE)
    assert snapshot.missing(wanted, ["compozy__one", "compozy__gone"]) == (
        ["compozy__nope", "mcp__dead__t", "compozy__gone"],
        ["x__*"],
    )
    settled = await registry.snapshot(SCOPE, settle=True)
    assert settled.missing(["mcp__slow__t", "mcp__slow__u"], []) == (["mcp__slow__u"], [])


async def test_search_finds_by_name_by_word_and_by_likeness() -> None:
    source = ListedSource().put(
        make_tool("compozy__session_prompt", description="Send a message to a session and wait for its turn."),
        make_tool("compozy__workspace_list", description="List the folders that are registered."),
        make_tool("mcp__github__create_issue", kind="mcp", owner="github", description="Open an issue."),
    )
    index = (await Registry([source]).snapshot(SCOPE)).index
    assert index.search("mcp__github__create_issue", 1) == ["mcp__github__create_issue"]
    assert index.search("message a session", 5)[0] == "compozy__session_prompt"
    assert index.search("registered folder", 5)[0] == "compozy__workspace_list"
    assert index.search("githb isue", 5)[0] == "mcp__github__create_issue"
    assert index.search("", 5) == [] and index.search("zzzz qqqq", 5) == []
