"""YAML headers mean what the established parser takes them to mean (formats §3.3)."""

import pytest

from compozy.documents.limits import MAX_ALIASES, MAX_NESTING
from compozy.documents.yaml_compose import YamlProblem
from compozy.documents.yaml_reader import YamlDocument, quoted, spelled
from compozy.documents.yaml_scalars import resolve_plain, text_of
from tests.kit.agent_files import header, only, read


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("true", "true"), ("False", "false"), ("42", "42"), ("+5", "5"), ("-5", "-5"), ("1_000", "1000"),
        ("0x2A", "42"), ("0o17", "15"), ("0b11", "3"), ("010", "8"), ("00", "0"), ("08", "08"), ("0X1F", "0X1F"),
        ("0B11", "0B11"), ("1e3", "1e3"), ("18446744073709551616", "18446744073709551616"),
        ("18446744073709551615", "18446744073709551615"), ("-9223372036854775809", "-9223372036854775809"),
        ("4.10", "4.1"), ("10.0", "10"), ("1.", "1"), (".5", "0.5"), ("-0.0", "-0"), ("1_0.5", "10.5"),
        ("1.5e3", "1500"), ("1234567.5", "1.2345675e+06"), ("1000000.0", "1e+06"), ("999999.5", "999999.5"),
        ("0.0001", "0.0001"), ("0.00001", "1e-05"), (".inf", "+Inf"), ("-.Inf", "-Inf"), (".NaN", "NaN"),
        ("2031-05-06", "2031-05-06"), ("12:30:45", "12:30:45"), ("1.2.3", "1.2.3"), ("yes", "yes"), ("on", "on"),
        ("null", ""), ("~", ""), ("1.5e999", "1.5e999"), ("_1", "_1"), (".", "."), ("-", "-"),
    ],
)  # fmt: skip
def test_an_unquoted_scalar_becomes_the_text_the_established_parser_gives(written: str, text: str) -> None:
    assert text_of(resolve_plain(written)) == text


def test_the_same_text_in_quotes_stays_as_it_is() -> None:
    outcome = read(header("name: tide-clerk\nmodel: '4.10'\nprovider: \"010\""))
    assert outcome.definition is not None
    assert (outcome.definition.model, outcome.definition.provider) == ("4.10", "010")


def test_only_the_six_yaml_words_are_booleans() -> None:
    hook = "name: tide-clerk\nhooks:\n- {{name: a, event: turn.start, command: c, enabled: {}}}"
    for word in ("true", "True", "TRUE", "false", "False", "FALSE"):
        assert read(header(hook.format(word))).errors == ()
    for word in ("yes", "no", "on", "off", "y", "'true'"):
        assert only(header(hook.format(word))).code == "type-mismatch"


def test_a_merge_key_works_in_string_maps_and_may_not_repeat_a_field_of_a_record() -> None:
    base = "name: tide-clerk\nmcp_servers:\n- &s\n  name: a\n  command: c\n  env: &e {A: '1'}\n"
    merged = read(header(base + "- name: b\n  command: d\n  env: {<<: *e, A: '2', B: '3'}"))
    assert merged.definition is not None
    assert merged.definition.mcp_servers[1].env == {"A": "2", "B": "3"}
    inherited = read(header(base + "- {<<: *s}"))
    assert inherited.definition is not None
    assert inherited.definition.mcp_servers[1].command == "c"
    assert only(header(base + "- {<<: *s, name: b}")).code == "duplicate-key"


def test_text_that_belongs_to_no_key_is_an_error_and_a_second_document_is_ignored() -> None:
    found = only(header("{name: tide-clerk}\njunk: here"))
    assert found.code == "frontmatter-decode" and found.position is not None and found.position.line == 3
    for rest in ("--- \nname: other", "...\njunk: [", "...\njunk"):
        definition = read(header(f"name: tide-clerk\n{rest}")).definition
        assert definition is not None and definition.name == "tide-clerk"


def test_a_tab_inside_a_plain_value_disappears() -> None:
    outcome = read(header("name: tide-clerk\nmodel: a\tb"))
    assert outcome.definition is not None and outcome.definition.model == "ab"


def test_characters_that_libyaml_misreads_stay_text() -> None:
    text = "a\x85b\u2028c\u2029d\x7fe\ufefff"
    outcome = read(header(f"name: tide-clerk\nmodel: {text}\nprovider: x"))
    assert outcome.definition is not None
    assert (outcome.definition.model, outcome.definition.provider) == (text, "x")


def test_places_after_such_characters_are_still_right() -> None:
    found = only(header("name: tide-clerk\nmodel: a\u2028b\nmodle: x"))
    assert found.position is not None and (found.position.line, found.position.column) == (4, 1)


def test_deep_nesting_is_one_diagnostic_and_no_crash() -> None:
    for text in ("a: " + "[" * 100_000, "\n".join(" " * i + "a:" for i in range(200)), "- " * 5_000 + "x"):
        with pytest.raises(YamlProblem) as problem:
            YamlDocument(text)
        assert problem.value.code == "nesting-too-deep"
    assert YamlDocument("a: " + "[" * (MAX_NESTING - 2) + "]" * (MAX_NESTING - 2)).value is not None


def test_an_alias_bomb_is_one_diagnostic() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    with pytest.raises(YamlProblem) as problem:
        YamlDocument("\n".join(lines))
    assert problem.value.code == "too-many-aliases"
    many = "a: &a x\nb: [" + ", ".join(["*a"] * (MAX_ALIASES + 1)) + "]"
    with pytest.raises(YamlProblem) as problem:
        YamlDocument(many)
    assert problem.value.code == "too-many-aliases"
    assert YamlDocument(many.replace(", *a", "", 1)).value is not None


def test_an_anchor_that_contains_itself_is_refused() -> None:
    with pytest.raises(YamlProblem):
        YamlDocument("a: &a [*a]")


@pytest.mark.parametrize(
    "text", ["", "a: b", "it's", 'say "x"', "a\nb", "\\", "é🌊", "\x07", "true", "12", "- x", "#"]
)
def test_a_written_scalar_reads_back_as_the_same_string(text: str) -> None:
    for written in (quoted(text), spelled(text)):
        assert YamlDocument(f"k: {written}").value == {"k": text}
        assert YamlDocument(f"k: [{written}, x]").value == {"k": [text, "x"]}
