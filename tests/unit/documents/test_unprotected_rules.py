"""Rules of the formats that no recorded case covers (formats §15), each read off its section."""

import os
from pathlib import Path

import pytest

from compozy.catalog.strict import discover_strictly
from compozy.documents.capabilities import check_capabilities
from compozy.documents.durations import DurationProblem, duration_text, parse_duration
from compozy.documents.files import component_problem
from compozy.documents.hook_events import ASYNC_EVENTS, EVENTS, SYNC_EVENTS, matcher_fields, usable_in_agents
from compozy.documents.mcp_json import read_mcp_json
from compozy.documents.patterns import matches, pattern_problem
from compozy.documents.problems import DefinitionError
from compozy.documents.source import SourceText
from compozy.documents.text import trim
from compozy.documents.tool_ids import id_problem
from tests.kit.agent_files import header, only, read, write_agent

SERVER = "name: tide-clerk\nmcp_servers:\n- "
HOOK = "name: tide-clerk\nhooks:\n- "


def test_tool_ids_are_limited_in_bytes_not_characters() -> None:
    assert id_problem("a" * 31 + "__" + "b" * 31) == ""
    assert id_problem("a" * 31 + "__" + "é" * 16) == "id_too_long"
    assert id_problem("a" * 31 + "__" + "é" * 15) == "id_invalid_format"


def test_hook_conversion_comes_before_the_check_of_the_name() -> None:
    text = header("hooks:\n- {name: x, event: turn.start, command: c, matcher: {agent_name: y}}", body="")
    assert [d.code for d in read(text).diagnostics] == ["hook-matcher-agent", "name-required", "prompt-required"]


@pytest.mark.parametrize("text", ["2600000h", "9223372037s", "99999999999999999999s", "-9223372037s"])
def test_a_duration_beyond_292_years_is_refused(text: str) -> None:
    with pytest.raises(DurationProblem):
        parse_duration(text)


def test_the_longest_durations_pass() -> None:
    assert parse_duration("9223372036854775807ns") == 2**63 - 1
    assert parse_duration("-9223372036854775808ns") == -(2**63)


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("0", 0),
        ("1h2m3.5s", 3_723_500_000_000),
        (".5s", 500_000_000),
        ("1.5µs", 1_500),
        ("1.5μs", 1_500),
        ("+3us", 3_000),
    ],
)
def test_durations_read_as_nanoseconds(text: str, nanoseconds: int) -> None:
    assert parse_duration(text) == nanoseconds


@pytest.mark.parametrize("text", ["", "5", "1d", " 5s", "5 s", "s", ".s", "-", "1s2", "1_0s", "５s"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(DurationProblem):
        parse_duration(text)


@pytest.mark.parametrize(
    "nanoseconds", [1, 999, 1_500, 250_000_000, 10**9, 90 * 10**9, 3600 * 10**9 + 1, 2**63 - 1, 0]
)
def test_a_written_duration_reads_back(nanoseconds: int) -> None:
    for value in (nanoseconds, -nanoseconds):
        assert parse_duration(duration_text(value)) == value


def test_the_strict_loader_refuses_a_folder_that_other_systems_cannot_hold(tmp_path: Path) -> None:
    write_agent(tmp_path.resolve(), "con", declared="con")
    with pytest.raises(DefinitionError) as refused:
        discover_strictly(workspace=None, home_agents=tmp_path.resolve())
    assert refused.value.code == "path-component-invalid"


def test_task_runs_know_no_more_in_agents_than_tasks_but_are_another_family() -> None:
    assert matcher_fields("task.run.enqueued") == matcher_fields("task.blocked") | {"loop_run_id"}
    for event in ("task.run.enqueued", "task.blocked"):
        assert read(header(HOOK + f"{{name: a, event: {event}, command: c, matcher: {{task_id: t}}}}")).errors == ()
    assert only(header(HOOK + "{name: a, event: task.blocked, command: c, matcher: {session_type: t}}")).code == (
        "hook-matcher-field"
    )


def test_a_url_without_host_and_an_issuer_with_credentials_are_refused() -> None:
    assert only(header(SERVER + "{name: a, url: 'https:///mcp'}")).code == "mcp-url-invalid"
    assert only(header(SERVER + "{name: a, url: 'https://:443/mcp'}")).code == "mcp-url-invalid"
    auth = "auth: {registration: pre_registered, client_id: c, issuer_url: 'https://crew:pw@id.example'}"
    found = only(header(SERVER + f"{{name: a, url: 'https://r.example', {auth}}}"))
    assert found.code == "mcp-auth-invalid" and "pw" not in found.message


def test_a_blank_executor_command_does_not_count_as_a_second_command() -> None:
    outcome = read(header(HOOK + "{name: a, event: turn.start, command: c, executor: {command: ' '}}"))
    assert outcome.definition is not None and outcome.definition.hooks[0].command == "c"


def test_there_are_104_events_and_29_of_them_cannot_be_used_in_agents() -> None:
    assert (len(SYNC_EVENTS), len(ASYNC_EVENTS), len(EVENTS)) == (56, 48, 104)
    assert (
        sum(not usable_in_agents(event) for event in EVENTS)
        == 29 + len([event for event in EVENTS if event == "network.participation.resolved"]) - 1
    )
    assert all(matcher_fields(event) for event in EVENTS)


@pytest.mark.parametrize("pattern", ["[", "a[", "[]", "[^]", "[a-]", "[-a]", "a*\\", "[a", "[\\", "?["])
def test_malformed_patterns_are_refused(pattern: str) -> None:
    assert pattern_problem(pattern)


@pytest.mark.parametrize("pattern", ["]", "a]b", "*", "a?[b-d]", "[^a-c]*", "\\a", "a\\*", "[\\]]"])
def test_well_formed_patterns_pass(pattern: str) -> None:
    assert pattern_problem(pattern) == ""


def test_patterns_match_as_path_patterns_do() -> None:
    assert matches("", "anything") and matches("*", "a/b")
    assert matches("us*", "user") and not matches("us*", "us/er") and not matches("us*", "xus")
    assert matches("a?c", "abc") and not matches("a?c", "a/c")
    assert matches("[a-c]x", "bx") and not matches("[^a-c]x", "bx") and matches("[^a-c]x", "dx")
    assert matches("plain", "plain") and not matches("plain", "plainer")
    assert matches("*a*b*", "xxaxxbxx") and not matches("*" * 50 + "c", "a" * 500)


@pytest.mark.parametrize(
    "name", ["", " ", ".", "..", "a.", "a ", "a:b", "a\\b", "a?", "nul", "NUL.md", "com1.x", "lpt9", "a\x07"]
)
def test_names_other_systems_cannot_hold_are_refused(name: str) -> None:
    assert component_problem(name)


@pytest.mark.parametrize("name", ["a", ".a", "console", "com10", "a b", "校对", "COM"])
def test_other_names_pass(name: str) -> None:
    assert component_problem(name) == ""


def test_trimming_keeps_what_is_not_white_space() -> None:
    assert trim("\u3000\x85 \xa0a\u2028") == "a"
    assert trim("\x1ca\u200b\ufeff") == "\x1ca\u200b\ufeff"


def mcp(text: str) -> list[str]:
    return [d.code for d in read_mcp_json(SourceText(text), "mcp.json").diagnostics]


def test_members_repeated_in_another_case_are_duplicates_where_names_ignore_case() -> None:
    assert mcp('{"mcpServers":{"a":{"command":"x","Command":"y"}}}') == ["duplicate-key"]
    assert mcp('{"mcpServers":{"a":{"command":"x","env":{"A":"1","a":"2"}}}}') == []
    assert mcp('{"mcpServers":{"a":{"command":"x"}},"MCPServers":{}}') == ["mcp-unknown-top-level"]
    assert mcp('{"mcpServers":{"a":{"command":"x"}},"mcpServers":{}}') == ["duplicate-key"]
    assert mcp('{"x":{"1":1,"true":true,"1":2}}') == ["duplicate-key", "mcp-unknown-top-level"]


def test_both_server_maps_load_with_a_warning() -> None:
    outcome = read_mcp_json(
        SourceText('{"mcpServers":{"a":{"command":"x"}},"mcp_servers":{"b":{"command":"y"}}}'), "m"
    )
    assert [d.code for d in outcome.diagnostics] == ["mcp-two-collections"]
    assert outcome.servers is not None and [s.name for s in outcome.servers] == ["a", "b"]


def test_json_that_only_people_read_is_mended() -> None:
    text = '\ufeff{\n  // ours\n  "mcpServers": {\n    "a": {"command": "x",}\n    "b": {"command": "y"}\n  },\n}\n'
    outcome = read_mcp_json(SourceText(text), "mcp.json")
    assert [d.position.line for d in outcome.diagnostics if d.position] == [1, 2, 4, 4, 6]
    edits = [edit for d in outcome.diagnostics if d.repair for edit in d.repair.edits]
    for edit in sorted(edits, key=lambda e: e.start, reverse=True):
        text = text[: edit.start] + edit.replacement + text[edit.end :]
    mended = read_mcp_json(SourceText(text), "mcp.json")
    assert mended.servers is not None and [s.name for s in mended.servers] == ["a", "b"]


def test_deep_json_is_one_diagnostic() -> None:
    assert mcp('{"x":' * 100_000) == ["nesting-too-deep"]
    assert mcp('{"x":' + "[" * 60 + "]" * 60 + "}") == ["mcp-unknown-top-level"]


def test_a_summary_over_the_target_is_a_warning_with_its_length(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    record = '[[capabilities]]\nid = "Chart Tides"\nsummary = "{}"\noutcome = "o"\n'
    (folder / "capabilities.toml").write_text(record.format("s" * 20_000))
    report = check_capabilities(folder)
    assert report.ok and report.capabilities
    assert [d.code for d in report.diagnostics] == ["capability-summary-long", "capability-id-style"]
    assert "20000" in report.diagnostics[0].message


def test_a_catalog_of_more_than_ten_thousand_is_refused(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    record = '[[capabilities]]\nid = "c{}"\nsummary = "s"\noutcome = "o"\n'
    (folder / "capabilities.toml").write_text("".join(record.format(i) for i in range(10_001)))
    assert [d.code for d in check_capabilities(folder).diagnostics] == ["list-too-long"]


def test_an_unreadable_entry_of_a_catalog_folder_does_not_hide_the_others_problems(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    (folder / "capabilities").mkdir()
    (folder / "capabilities/a.toml").write_text('id = "b"\nsummary = "s"\noutcome = "o"\n')
    (folder / "capabilities/c.toml").write_text('id = "c"\n')
    os.mkfifo(folder / "capabilities/d.toml")
    assert [d.code for d in check_capabilities(folder).diagnostics] == [
        "capability-basename-mismatch",
        "capability-summary-required",
        "capability-outcome-required",
    ]
