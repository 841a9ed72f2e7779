"""Fields of manifests are changed inside their file; comments, order and every other manifest stay."""

from collections.abc import Mapping, Sequence

import pytest

from compozy.ocm.in_place import Document, Edits, InPlaceRefused, edit_manifests
from compozy.ocm.loading import read_document

HEAD = 'ocm: "1"\nid: acme/x\nkind: tool\n'
NEW = ["ask: why?", "no", "say 🎉 twice\nplease", "plain words"]
SPELLED = ('- "ask: why?"', '- "no"', '- "say 🎉 twice\\nplease"', "- plain words")


def changed(text: str, name: str, examples: Sequence[str], wanted: str = "acme/x") -> str:
    def edits_of(documents: Sequence[Document]) -> list[Edits]:
        return [{("examples",): list(examples)} if one["id"] == wanted else {} for one in documents]

    after = edit_manifests(text, name, edits_of, otherwise="do it by hand")
    loaded = read_document(after, name)
    assert not loaded.fails(strict=True)
    for entry in loaded.entries:
        assert isinstance(entry.document, Mapping)
        if entry.id == wanted:
            assert entry.document["examples"] == list(examples)
    assert edit_manifests(after, name, lambda documents: [{} for _ in documents], otherwise="") == after
    return after


def test_a_new_list_goes_where_the_format_has_it_one_line_each() -> None:
    text = HEAD + "description: d\n# who\nmetadata:\n  owner: me\n"
    lines = "".join(f"  {one}\n" for one in SPELLED)
    assert changed(text, "a.yaml", NEW) == HEAD + f"description: d\nexamples:\n{lines}# who\nmetadata:\n  owner: me\n"


@pytest.mark.parametrize(
    ("tail", "after"),
    [
        ("description: d # said\n\n# the end\n", "description: d # said\nexamples:\n  - a b\n\n# the end\n"),
        ("description: d", "description: d\nexamples:\n  - a b"),
        ("description: |\n  d\n\n  # e\n\n", "description: |\n  d\n\n  # e\nexamples:\n  - a b\n\n"),
        ("description: d\ncost:\n  # free\n  usd_per_call: 0 # really\n# end\n",
         "description: d\ncost:\n  # free\n  usd_per_call: 0 # really\nexamples:\n  - a b\n# end\n"),
        ("description: d\nlatency_ms: {p50: 1,\n  p90: 2}\n",
         "description: d\nlatency_ms: {p50: 1,\n  p90: 2}\nexamples:\n  - a b\n"),
        ("description: d\n# what\ncapabilities:\n  domains: &d [a, b]\n  tags: *d\n",
         "description: d\nexamples:\n  - a b\n# what\ncapabilities:\n  domains: &d [a, b]\n  tags: *d\n"),
    ],
)  # fmt: skip
def test_a_list_at_the_end_comes_after_the_last_value_and_before_later_comments(tail: str, after: str) -> None:
    assert changed(HEAD + tail, "a.yaml", ["a b"]) == HEAD + after


def test_only_the_manifest_that_is_meant_changes_in_catalogues_and_streams() -> None:
    catalogue = (
        "# all\ntargets:\n  - {id: n, kind: llm}\n"
        '  - ocm: "1" # one\n    id: acme/x\n    kind: tool\n    description: d\n\n'
        '  # two\n  - ocm: "1"\n    id: acme/y\n    kind: tool\n    description: d\n'
    )
    after = changed(catalogue, "t.yaml", ["a b"])
    assert after == catalogue.replace("d\n\n", "d\n    examples:\n      - a b\n\n")
    stream = (HEAD + "description: d\n---\n").replace("/x", "/y") + HEAD + "description: d\n"
    assert changed(stream.replace("\n", "\r\n"), "s.yaml", ["a b"]) == (stream + "examples:\n  - a b\n").replace(
        "\n", "\r\n"
    )
    flow = '{ocm: "1", id: acme/x, kind: tool, description: d}\n'
    assert changed(flow, "f.yaml", ["a, b", "c"]) == flow.replace("{", '{examples: ["a, b", c], ')


@pytest.mark.parametrize(
    ("before", "examples", "after"),
    [
        ("examples: # asked\n    - a # first\n    # mine\n    - >-\n      b\n      c\n# end\n", ["a", "b c", "d e"],
         "examples: # asked\n    - a # first\n    # mine\n    - >-\n      b\n      c\n    - d e\n# end\n"),
        ("examples:\n- a # first\n- b\nprimary: true\n", ["x", "y"], "examples:\n- x\n- y\nprimary: true\n"),
        ("examples: [a, # first\n  b, # second\n  ]\n", ["a", "b", "c: d"],
         'examples: [a, # first\n  b, "c: d", # second\n  ]\n'),
        ("examples: [a, b] # told\n", ["x"], "examples: [x] # told\n"),
        ("examples: []\n", ["x", "y"], "examples: [x, y]\n"),
    ],
)  # fmt: skip
def test_elements_are_added_behind_those_that_stay_or_take_their_place(
    before: str, examples: list[str], after: str
) -> None:
    head = HEAD + "description: d\n"
    assert changed(head + before, "a.yaml", examples) == head + after


def test_json_keeps_its_form() -> None:
    text = '{\n  "ocm": "1", "id": "acme/x",\n  "kind": "tool",\n  "description": "d",\n  "examples": ["a"]\n}\n'
    after = changed(text, "a.json", ["a", "b"])
    assert after.startswith(text[: text.index(' "examples"')])
    assert changed('{"targets": [' + text + "]}", "t.json", NEW)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("shared.yaml", '- &a {ocm: "1", id: acme/x, kind: tool, description: d}\n- *a\n'),
        ("l.json", '[{"ocm": "1", "id": "acme/x", "kind": "tool", "description": "d"}]'),
        ("anchor.yaml", "- " + HEAD.replace("\n", "\n  ") + "description: d\n  examples: &e\n    - a\n"
         '- {ocm: "1", id: acme/y, kind: tool, description: d, examples: *e}\n'),
    ],
    ids=lambda one: one.split("\n")[0][:12],
)  # fmt: skip
def test_a_file_whose_form_does_not_allow_it_is_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(InPlaceRefused, match=name.replace(".", r"\.")):
        changed(text, name, ["a", "b"])
