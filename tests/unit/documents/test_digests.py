"""Digests are byte-exact: the worked examples and published digests of formats §10 and §11."""

import hashlib

import pytest

from compozy.documents.canonical import NoDigest, definition_digest, render
from compozy.documents.canonical_scalars import needs_quotes, scalar
from compozy.documents.digests import capabilities_digest, capability_bytes, capability_digest
from compozy.model.capability import Capability
from compozy.model.definition import AgentDefinition, HookDeclaration, McpAuth, McpServer
from tests.kit.agent_files import header, read

PROMPT = "Keep the tide tables current."
MINIMAL = '{"id":"chart-tides","summary":"Chart the tides.","outcome":"A tide chart."}'


def chart(summary: str = "Chart the tides.", **more: object) -> Capability:
    return Capability(id="chart-tides", summary=summary, outcome="A tide chart.", **more)  # type: ignore[arg-type]


W1 = "sha256:6d3004bea50ff3213a4caa85722480c91bada6dd4a3e4f1fb6529543372b4b2d"
WORKED = [
    (chart(), MINIMAL, W1),
    (chart("  Chart the tides.\n", version="", examples=("  ", "")), MINIMAL, W1),
    (
        chart(
            version="2.1",
            context_needed=("harbour id", "date"),
            artifacts_expected=("chart.svg",),
            execution_outline=("read gauges", "draw"),
            constraints=("read only",),
            examples=("spring tide",),
            requirements=("read-gauges", "fetch-weather"),
        ),
        '{"id":"chart-tides","summary":"Chart the tides.","outcome":"A tide chart.","version":"2.1","context_needed":'
        '["harbour id","date"],"artifacts_expected":["chart.svg"],"execution_outline":["read gauges","draw"],'
        '"constraints":["read only"],"examples":["spring tide"],"requirements":["fetch-weather","read-gauges"]}',
        "sha256:660f79ab5a3873d062381743ad979f62baff0ba7d93c68a52beef2ed0e8861d0",
    ),
    (
        chart("Depth < 3 m & wind > 20 kn"),
        r'{"id":"chart-tides","summary":"Depth \u003c 3 m \u0026 wind \u003e 20 kn","outcome":"A tide chart."}',
        "sha256:8bd3c510acded7f3c7acb160bd26230062099f58ec48e9fd21e8ac1e6da2d185",
    ),
    (
        chart('Say "ahoy" at C:\\bridge\t\u2028für 🌊'),
        r'{"id":"chart-tides","summary":"Say \"ahoy\" at C:\\bridge\t\u2028für 🌊","outcome":"A tide chart."}',
        "sha256:bce7769c96cc9ea7bb8b59fe02c150b0736294afd52c2aa669ede62aa2f5f584",
    ),
    (
        chart(requirements=("b", "a", "B", "é")),
        MINIMAL[:-1] + ',"requirements":["B","a","b","é"]}',
        "sha256:b47cdb187ed30f0e1106c34146c9b2d834719cf71097731215a0f4da68bbb770",
    ),
]


@pytest.mark.parametrize(("capability", "written", "digest"), WORKED, ids=["W1", "W2", "W3", "W4", "W5", "W6"])
def test_a_worked_capability_has_its_bytes_and_digest(capability: Capability, written: str, digest: str) -> None:
    assert capability_bytes(capability).decode() == written
    assert capability_digest(capability) == digest


def test_the_published_digests_are_reproduced() -> None:
    site = {"id": "build-site", "summary": "Build the landing page.", "outcome": "A finished landing page."}
    steps = {"version": "1.0.0", "execution_outline": ("Inspect", "Build")}
    first = Capability(**site, **steps, context_needed=("repo",))  # type: ignore[arg-type]
    assert capability_digest(first) == "sha256:56756e530d86ff5ec3dbdf2a0034fdcd69dae0f8d676dd04faca07f46b63c225"
    more = {"context_needed": ("repo", "brand brief"), "constraints": ("No mocks",)}
    second = Capability(**site, **steps, **more)  # type: ignore[arg-type]
    assert capability_digest(second) == "sha256:38096a54f5072f05ff954f94315a9dba6c373f3589bf04053684204b6cd86b03"


def test_the_catalog_digest_is_over_the_list_of_digests_in_order() -> None:
    one, two = chart(), chart("Other.")
    joined = f'["{capability_digest(one)}","{capability_digest(two)}"]'
    assert capabilities_digest([one, two]) == "sha256:" + hashlib.sha256(joined.encode()).hexdigest()
    assert capabilities_digest([two, one]) != capabilities_digest([one, two])
    assert capabilities_digest(None) == capabilities_digest([]) == "sha256:" + hashlib.sha256(b"[]").hexdigest()


def test_w7_a_minimal_definition() -> None:
    definition = AgentDefinition(name="tide-clerk", prompt=PROMPT)
    assert render(definition) == f'---\nname: tide-clerk\nprovider: ""\n---\n\n{PROMPT}\n'
    assert definition_digest(definition) == "a66b70bd8c622af7d5f41918c3a262314ff436466c13562f44095024e2b7c873"


def test_w8_sorted_lists_and_servers() -> None:
    definition = AgentDefinition(
        name="tide-clerk",
        prompt=PROMPT,
        provider="claude",
        model="1.50",
        tools=("mcp__b__x", "compozy__a", "mcp__b__x"),
        skills_disabled=("dredge", "buoy"),
        category_path=("Tides", "Harbour"),
        mcp_servers=(
            McpServer(
                name="sonar", command="sonar-mcp", args=("-y", "@s/p", "", "a: b"), env={"B": "true", "A": "1"}
            ),
            McpServer(name="radar", url="https://radar.example/mcp", auth=McpAuth(scopes=("w", "r"))),
        ),
    )
    assert definition_digest(definition) == "7fd875b9d8b8e44b532385e2f97d920108e7f2d5e2b1f44b2dde0f1ed7a67c17"


def test_w9_hooks() -> None:
    hook = HookDeclaration(
        name="log-turn",
        event="turn.start",
        mode="sync",
        priority=0,
        timeout_ns=90 * 10**9,
        matcher={"agent_name": "tide-clerk", "input_class": "us*"},
        command="tide-log",
        executor_kind="subprocess",
    )
    definition = AgentDefinition(name="tide-clerk", prompt=PROMPT, hooks=(hook,))
    assert definition_digest(definition) == "4919845d88d7764c96deff64388ab6bddf340d6179118c5c6cb5cf71711af899"


def test_a_reserved_name_and_a_text_that_does_not_read_back_have_no_digest() -> None:
    with pytest.raises(NoDigest) as refused:
        definition_digest(AgentDefinition(name="coordinator", prompt=PROMPT))
    assert refused.value.code == "name-reserved"
    for value in ("? x", "a\tb:c\nd"):
        server = McpServer(name="a", command="c", args=(value,))
        with pytest.raises(NoDigest) as refused:
            definition_digest(AgentDefinition(name="tide-clerk", prompt=PROMPT, mcp_servers=(server,)))
        assert refused.value.code == "definition-digest-failed"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("", '""'), ("y", '"y"'), ("Off", '"Off"'), ("1", '"1"'), ("0x1F", '"0x1F"'), ("1e3", "1e3"),
        ("1.5e3", '"1.5e3"'),
        ("_1", "_1"), ("1_0", '"1_0"'), ("99999999999999999999999", '"99999999999999999999999"'), ("-", '"-"'),
        ("-x", "-x"), ("- x", '"- x"'), ("a- b", '"a- b"'), ("x:", '"x:"'), ("a:b", "a:b"), ("a#b", '"a#b"'),
        ("a\\b", '"a\\\\b"'), (" a", '" a"'), ("a ", '"a "'), ("12:30", '"12:30"'), ("24:30", "24:30"),
        ("2031-05-06", '"2031-05-06"'), ("2031-13-06", "2031-13-06"),
        ("2031-05-06 10:11:12", '"2031-05-06 10:11:12"'),
        ("2031-05-06T10:11:12Z", '"2031-05-06T10:11:12Z"'), ("?", "?"), ("=", "="), ("é", "é"), ("\tx", "\tx"),
        (".inf", ".inf"), ("`a", '"`a"'), ("%a", '"%a"'), ("a\x07#", '"a\\a#"'), ("a\x7f#", '"a\\x7f#"'),
        ("a\u200b#", '"a\\u200b#"'), ("a\U000e0001#", '"a\\U000e0001#"'), ("null", '"null"'), ("nulL", "nulL"),
    ],
)  # fmt: skip
def test_scalars_are_written_as_the_established_writer_does(text: str, written: str) -> None:
    assert scalar(text, 2) == written


def test_blocks_keep_inner_blanks_under_a_key_and_none_under_a_dash() -> None:
    assert scalar("a\n\nb", 2) == "|-\n  a\n  \n  b"
    assert scalar("a\n\nb", 2, under_dash=True) == "|-\n  a\n\n  b"
    assert scalar("a\n", 2) == "|\n  a"
    assert scalar("a\n\n", 2) == "|+\n  a\n"
    assert not needs_quotes("a\nb")


def test_yaml_and_toml_of_the_same_definition_have_one_digest() -> None:
    yaml = read(header("name: tide-clerk\ntools: [b__b, a__a]\n# note\nprovider: claude")).definition
    toml = read(header('provider = "claude"\nname = "tide-clerk"\ntools = ["a__a", "b__b"]')).definition
    assert yaml is not None and toml is not None
    assert definition_digest(yaml) == definition_digest(toml)
