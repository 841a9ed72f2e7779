"""What changes a digest and what does not, and that places grow with the file (issue 3 items 2 and 3)."""

import json
import random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compozy.documents.canonical import NoDigest, _check_reading, definition_digest, render
from compozy.documents.capability_records import read_catalog
from compozy.documents.mcp_json import read_mcp_json
from compozy.documents.source import SourceText
from compozy.documents.toml_places import quoted as toml_string
from compozy.documents.yaml_reader import quoted as yaml_string
from compozy.documents.yaml_reader import spelled
from compozy.model.definition import AgentDefinition, HookDeclaration, McpServer
from compozy.model.diagnostic import Diagnostic
from tests.kit.agent_files import read

SETTINGS = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
WORD = st.from_regex(r"[a-z][a-z0-9_-]{0,8}", fullmatch=True)
TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\r"), min_size=1, max_size=20)
TOOL = st.from_regex(r"[a-z]{1,5}__[a-z]{1,5}", fullmatch=True)
FIELDS = st.fixed_dictionaries(
    {"name": WORD.filter(lambda name: name not in ("coordinator", "dreaming-curator"))},
    optional={
        "provider": TEXT,
        "command": TEXT,
        "model": TEXT,
        "permissions": st.sampled_from(["deny-all", "approve-reads"]),
        "tools": st.lists(TOOL, min_size=1, max_size=4),
        "deny_tools": st.lists(TOOL, min_size=1, max_size=3),
        "category_path": st.lists(WORD, min_size=1, max_size=3),
    },
)


def yaml_header(fields: dict[str, Any], rng: random.Random) -> str:
    lines = []
    for name, value in rng.sample(sorted(fields.items()), len(fields)):
        if rng.random() < 0.3:
            lines.append("# a note" if rng.random() < 0.5 else "")
        if isinstance(value, str):
            lines.append(f"{name}: {rng.choice((spelled, yaml_string))(value)}")
        elif rng.random() < 0.5:
            lines.append(f"{name}: [{', '.join(map(yaml_string, value))}]")
        else:
            lines += [f"{name}:", *(f"  - {spelled(item)}" for item in value)]
    return "\n".join(lines)


def toml_header(fields: dict[str, Any], rng: random.Random) -> str:
    lines = []
    for name, value in rng.sample(sorted(fields.items()), len(fields)):
        written = toml_string(value) if isinstance(value, str) else f"[{', '.join(map(toml_string, value))}]"
        lines.append(f"{name} = {written}")
    return "\n".join(lines)


def agent(header: str, body: str = "Do it.") -> AgentDefinition | None:
    return read(f"---\n{header}\n---\n{body}\n").definition


@SETTINGS
@given(FIELDS, st.randoms(use_true_random=False))
def test_formatting_comments_key_order_and_language_never_change_a_digest(
    fields: dict[str, Any], rng: random.Random
) -> None:
    first = agent(yaml_header(fields, rng))
    if first is None:
        return
    try:
        digest = definition_digest(first)
    except NoDigest:
        return
    shuffled = {name: rng.sample(v, len(v)) if name in ("tools", "deny_tools") else v for name, v in fields.items()}
    others = [
        agent(yaml_header(shuffled, rng)),
        agent(yaml_header(fields, rng), body="\n\n  Do it.  \n"),
        agent(toml_header(fields, rng)),
        read(f"---\n{yaml_header(fields, rng)}\n---\nDo it.\n".replace("\n", "\r\n")).definition,
    ]
    for other in others:
        assert other is not None and definition_digest(other) == digest


@SETTINGS
@given(FIELDS, st.sampled_from(["provider", "command", "model"]), WORD)
def test_a_meaningful_change_changes_the_digest(fields: dict[str, Any], name: str, value: str) -> None:
    rng = random.Random(1)
    before = agent(yaml_header(fields, rng))
    changed = {**fields, name: value + "-x" if fields.get(name, "").strip() == value else value}
    after = agent(yaml_header(changed, rng))
    if before is None or after is None:
        return
    try:
        digests = {definition_digest(before), definition_digest(after)}
    except NoDigest:
        return
    assert len(digests) == 2
    body = agent(yaml_header(fields, rng), body="Do it otherwise.")
    assert body is not None and definition_digest(body) not in digests


@settings(max_examples=500, deadline=None)
@given(st.lists(st.text(st.sampled_from(" -:?#\"'\\\t\n.[]{}&*!|>%@`,=<~aZ0é"), max_size=8), min_size=1, max_size=4))
def test_the_quick_judgement_that_a_canonical_text_reads_back_is_right(texts: list[str]) -> None:
    server = McpServer(name="a", command="c", args=tuple(texts))
    hook = HookDeclaration(name="h", event="turn.start", command="c", metadata=dict(zip(texts, texts, strict=True)))
    definition = AgentDefinition(name="a", prompt="p", mcp_servers=(server,), hooks=(hook,))
    try:
        text = render(definition)
    except NoDigest:
        return
    _check_reading(text)


CATALOG = '[[capabilities]]\nid = "a"\nsumary = "s"\noutcome = 7\n'
SERVERS = '{\n"mcpServers": {\n"a": {"comand": "c"},\n"b": {"url": "http://far.example"}\n}\n}\n'
YAML = "name: tide-clerk\nmodle: x\ntools: [rm]\nhooks:\n- {name: a, event: nope, command: c}"
TOML = 'name = "tide-clerk"\nmodle = "x"\ntools = ["rm"]\n[[hooks]]\nname = "a"\nevent = "nope"\ncommand = "c"'


def lines_of(diagnostics: tuple[Diagnostic, ...]) -> list[tuple[str, int, int, int]]:
    places = [(d.code, d.position.line, d.position.column, d.position.length) for d in diagnostics if d.position]
    assert len(places) == len(diagnostics)
    return places


def moved(places: list[tuple[str, int, int, int]], by: int) -> list[tuple[str, int, int, int]]:
    return [(code, line + by, column, length) for code, line, column, length in places]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 60), st.booleans(), st.booleans())
def test_lines_inserted_above_move_every_place_by_exactly_as_many(count: int, comment: bool, crlf: bool) -> None:
    def end(text: str) -> SourceText:
        return SourceText(text.replace("\n", "\r\n") if crlf else text)

    above = ("# é note 🌊\n" if comment else "\n") * count
    for header in (YAML, TOML):
        base = lines_of(read(f"---\n{header}\n---\nx\n").diagnostics)
        text = f"---\n{above}{header}\n---\nx\n"
        assert lines_of(read(text.replace("\n", "\r\n") if crlf else text).diagnostics) == moved(base, count)
        assert len(base) >= 3
    base = lines_of(read_catalog(SourceText(CATALOG), "c", "toml").diagnostics)
    assert lines_of(read_catalog(end(above + CATALOG), "c", "toml").diagnostics) == moved(base, count)
    base = lines_of(read_mcp_json(SourceText(SERVERS), "m").diagnostics)
    assert lines_of(read_mcp_json(end("\n" * count + SERVERS), "m").diagnostics) == moved(base, count)
    catalog = json.dumps({"capabilities": [{"id": "a", "sumary": "s"}]}, indent=1)
    base = lines_of(read_catalog(SourceText(catalog), "c", "json").diagnostics)
    assert lines_of(read_catalog(end("\n" * count + catalog), "c", "json").diagnostics) == moved(base, count)
