"""SOUL.md (formats §14)."""

import hashlib

import pytest

from compozy.documents.soul import read_soul
from compozy.model.diagnostic import Severity

GOOD = b"""---
version: 1.0
role: "A careful <bookkeeper> & friend"
tone: calm
principles: [Say why., "  ", Say how.]
tags: []
---

# Voice

Short sentences.  \r\n
"""


def test_every_field_is_read_and_a_single_string_is_a_list_of_one() -> None:
    soul, diagnostics = read_soul(GOOD)
    assert diagnostics == ()
    assert soul is not None
    assert (soul.version, soul.role) == ("1", "A careful <bookkeeper> & friend")
    assert soul.tone == ("calm",)
    assert soul.principles == ("Say why.", "Say how.")
    assert soul.tags == () and soul.constraints is None
    assert soul.body == "\n# Voice\n\nShort sentences."


def test_the_digest_covers_the_fields_in_their_order_and_the_body() -> None:
    soul, _ = read_soul(GOOD)
    record = (
        '{"Version":"1","Role":"A careful \\u003cbookkeeper\\u003e \\u0026 friend","Tone":["calm"],'
        '"Principles":["Say why.","Say how."],"Constraints":null,"Collaboration":null,"MemoryPolicy":null,"Tags":[]}'
    )
    expected = hashlib.sha256(f"compozy.soul.v1\n{record}\n\n# Voice\n\nShort sentences.".encode()).hexdigest()
    assert soul is not None and soul.digest == f"sha256:{expected}"


def test_comments_and_line_endings_do_not_change_the_digest() -> None:
    one, _ = read_soul(b"---\nrole: x\n---\nBody\nmore\n")
    two, _ = read_soul(b"---\r\n# why\r\nrole: 'x'\r---\rBody\r\nmore\n\n")
    assert one is not None and two is not None and one.digest == two.digest


def test_a_file_without_header_is_all_body_and_may_be_empty() -> None:
    soul, diagnostics = read_soul(b"Be kind.\n")
    assert diagnostics == () and soul is not None and soul.body == "Be kind."
    empty, _ = read_soul(b"")
    assert empty is not None and empty.body == ""


@pytest.mark.parametrize(
    ("data", "code", "line"),
    [
        (b"\xef\xbb\xbf---\nrole: x\n---\n", "malformed_frontmatter", 1),
        (b"---\nrole: x\n", "malformed_frontmatter", 1),
        (b"---\nrole: [x\n---\nBody\n", "malformed_frontmatter", None),
        (b"---\nrole = 'toml'\n---\nBody\n", "malformed_frontmatter", 2),
        (b"---\nrole: \xff\n---\n", "malformed_frontmatter", None),
        (b"---\nrole: x\nrole: y\n---\n", "malformed_frontmatter", 3),
        (b"---\nrole: x\ncolour: y\n---\n", "unsupported_field", 3),
        (b"---\ntools: [a__b]\n---\n", "forbidden_field", 2),
        (b"---\nrole: [x]\n---\n", "invalid_field_type", 2),
        (b"---\ntone: {a: b}\n---\n", "invalid_field_type", 2),
        (b"---\nrole: x\n---\nHi\n\n## MCP Servers ##\n", "reserved_section", 6),
        (b"---\nrole: x\n---\n" + b"x" * 32_769, "oversized_body", 4),
        (b"---\nrole: " + b"x" * 32_770 + b"\n---\n", "oversized_frontmatter", 2),
    ],
)
def test_each_kind_of_mistake_has_its_code_and_place(data: bytes, code: str, line: int | None) -> None:
    soul, diagnostics = read_soul(data)
    assert soul is None
    found = [one for one in diagnostics if one.severity is Severity.ERROR]
    assert code in [one.code for one in found]
    if line is not None:
        assert [one.position.line for one in found if one.code == code and one.position] == [line]


def test_a_heading_inside_a_code_block_is_text() -> None:
    soul, diagnostics = read_soul(b"Look:\n\n```\n# Tools\n```\n")
    assert soul is not None and diagnostics == ()


def test_exactly_the_limit_is_allowed() -> None:
    soul, _ = read_soul(b"x" * 32_768)
    assert soul is not None
