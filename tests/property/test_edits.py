"""Whatever the file looks like, an edit changes its field and nothing else (decisions D3, P30, P31)."""

import difflib
import json

import rtoml
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from compozy.documents.edits import EditRefused, edit_frontmatter, edit_json, edit_toml, replace_body

WORD = st.from_regex(r"[a-z][a-z0-9_-]{0,8}", fullmatch=True)
TEXT = st.one_of(
    WORD,
    st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=12),
    st.sampled_from(
        ["no", "4.10", "0x1F", "a: b", "a # b", "- x", "''", '"', "\\", "[x", "{", "*a", "&b", "", " x ", "~"]
    ),
)
COMMENT = st.sampled_from(["", "  # why", " # a: b", "\t# tab"])
ABOVE = st.sampled_from(["", "# note\n", "\n", "# a\n\n# b: c\n"])
NEWLINE = st.sampled_from(["\n", "\r\n"])
BODY = st.sampled_from(["Body", "Body\n", "\n\nBody\n---\nmore  \n\n", "\tBody # x\r\nmore\n", ""])
FIELDS = ["name", "provider", "model", "tools", "deny_tools", "category_path", "skills"]


def quoted(value: str, style: str) -> str:
    if style == "'" and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    return json.dumps(value, ensure_ascii=True)


@st.composite
def yaml_field(draw: st.DrawFn, name: str) -> str:
    above, comment = draw(ABOVE), draw(COMMENT)
    style = draw(st.sampled_from(["", "'", '"']))

    def scalar() -> str:
        return draw(WORD) if not style else quoted(draw(TEXT), style)

    if name in ("name", "provider", "model"):
        return f"{above}{name}: {scalar()}{comment}\n"
    items = [scalar() for _ in range(draw(st.integers(1, 3)))]
    indent = draw(st.sampled_from(["", "  ", "    "]))
    if name == "skills":
        if draw(st.booleans()):
            return f"{above}skills: {{disabled: [{', '.join(items)}]}}{comment}\n"
        rows = "".join(f"  {indent}- {item}{draw(COMMENT)}\n" for item in items)
        return f"{above}skills:\n  disabled:{comment}\n{rows}"
    shape = draw(st.integers(0, 2))
    if shape == 0:
        return f"{above}{name}: [{', '.join(items)}]{comment}\n"
    if shape == 1:
        rows = "".join(f"  {item},{draw(COMMENT)}\n" for item in items)
        return f"{above}{name}: [{comment}\n{rows}  ]\n"
    return f"{above}{name}:{comment}\n" + "".join(f"{draw(ABOVE)}{indent}- {item}{draw(COMMENT)}\n" for item in items)


@st.composite
def yaml_file(draw: st.DrawFn) -> str:
    names = ["name", *draw(st.lists(st.sampled_from(FIELDS[1:]), unique=True))]
    header = "".join(draw(yaml_field(name)) for name in draw(st.permutations(names)))
    text = f"---\n{header}{draw(ABOVE)}---\n"
    return draw(st.sampled_from(["", "\ufeff"])) + text.replace("\n", draw(NEWLINE)) + draw(BODY)


CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "name": TEXT,
        "provider": st.none() | TEXT,
        "model": st.none() | TEXT,
        "permissions": WORD,
        "tools": st.none() | st.lists(TEXT, max_size=4),
        "deny_tools": st.none() | st.lists(TEXT, max_size=4),
        "category_path": st.none() | st.lists(TEXT, max_size=4),
        ("skills", "disabled"): st.none() | st.lists(TEXT, max_size=3),
    },
)


def parts(text: str) -> tuple[str, str]:
    text = text.removeprefix("\ufeff")
    head = text.split("\n", 1)[1]
    end = head.index("\n---") + 1 if not head.startswith("---") else 0
    rest = head[end:]
    return head[:end], rest[rest.index("\n") + 1 :] if "\n" in rest else ""


def trimmed(value: object) -> object:
    if isinstance(value, list):
        return [str(item).strip() for item in value]
    return str(value).strip()


@example(text='---\nname: "\\u0085"\ntools: [a]\n---\nBody', changes={"name": ""})
@settings(max_examples=400, deadline=None)
@given(yaml_file(), CHANGES)
def test_an_edit_of_yaml_sets_the_fields_and_keeps_the_body(
    text: str, changes: dict[str | tuple[str | int, ...], object]
) -> None:
    try:
        result = edit_frontmatter(text, changes)
    except EditRefused as refusal:
        assert "in place" in str(refusal)
        return
    before, after = parts(text), parts(result.text)
    assert after[1] == before[1]
    assert result.text.startswith("\ufeff") == text.startswith("\ufeff")
    data = yaml.load(after[0], Loader=yaml.CBaseLoader)
    for path, value in changes.items():
        name = path if isinstance(path, str) else path[0]
        found = data.get(name) if data else None
        if isinstance(path, tuple) and isinstance(found, dict):
            found = found.get(path[1])
        if not value:
            # White space is empty already: nothing has to change.
            assert not found or trimmed(found) == ""
        elif name in ("tools", "deny_tools"):
            assert isinstance(value, list)
            assert list(dict.fromkeys(trimmed(found))) == list(dict.fromkeys(trimmed(value)))  # type: ignore[call-overload]
        else:
            assert trimmed(found) == trimmed(value)
    untouched = [line for line in text.splitlines(keepends=True) if line.lstrip().startswith("#")]
    kept = result.text.splitlines(keepends=True)
    if not any(value is None or isinstance(value, list) for value in changes.values()):
        assert all(line in kept for line in untouched)
    assert edit_frontmatter(result.text, changes).text == result.text


@settings(max_examples=200, deadline=None)
@given(yaml_file(), st.sampled_from(["provider", "model"]), TEXT)
def test_an_edit_of_one_scalar_changes_at_most_one_line(text: str, name: str, value: str) -> None:
    try:
        after = edit_frontmatter(text, {name: value or "x"}).text
    except EditRefused:
        return
    old, new = text.split("\n"), after.split("\n")
    blocks = [
        code for code in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if code[0] != "equal"
    ]
    assert len(blocks) <= 1
    assert all(i2 - i1 <= 1 and j2 - j1 <= 1 for _, i1, i2, j1, j2 in blocks)


@settings(max_examples=200, deadline=None)
@given(yaml_file(), BODY)
def test_a_new_body_leaves_the_header_alone(text: str, body: str) -> None:
    after = replace_body(text, body)
    assert after.startswith(text[: len(text) - len(parts(text)[1])])
    assert parts(after)[1].replace("\r\n", "\n").strip() == body.replace("\r\n", "\n").strip()


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@example(old={"a": [1, 2, 3]}, changes={"a": [1]}, indent=None, newline="\n")
@example(old={"a": [1, 2, 3]}, changes={"a": []}, indent=None, newline="\n")
@settings(max_examples=300, deadline=None)
@given(
    st.dictionaries(TEXT, PLAIN, max_size=4),
    st.dictionaries(TEXT, PLAIN, max_size=3),
    st.sampled_from([None, 1, 2, 4, "\t"]),
    NEWLINE,
)
def test_an_edit_of_json_reads_as_asked_and_twice_is_once(
    old: dict[str, object], changes: dict[str, object], indent: int | str | None, newline: str
) -> None:
    text = json.dumps(old, indent=indent).replace("\n", newline)
    after = edit_json(text, changes).text
    expected = {**old, **changes}
    assert json.loads(after) == {
        key: value for key, value in expected.items() if changes.get(key, 0) is not None or key not in changes
    }
    assert edit_json(after, changes).text == after
    assert edit_json(text, {key: value for key, value in old.items() if value is not None}).text == text


TOML_PLAIN = st.recursive(
    st.booleans() | st.integers(-9, 9) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None)
@given(
    st.dictionaries(TEXT, TOML_PLAIN, max_size=4), st.dictionaries(TEXT, st.none() | TOML_PLAIN, max_size=3), NEWLINE
)
def test_an_edit_of_toml_reads_as_asked_and_twice_is_once(
    old: dict[str, object], changes: dict[str, object], newline: str
) -> None:
    text = "# first\n" + rtoml.dumps(old).replace("\n", newline)
    try:
        after = edit_toml(text, changes).text
    except EditRefused as refusal:
        assert "in place" in str(refusal)
        return
    expected = {key: value for key, value in {**rtoml.loads(text), **changes}.items() if value is not None}
    assert rtoml.loads(after) == expected
    assert after.startswith("# first\n") or "# first\n" in after
    assert edit_toml(after, changes).text == after
