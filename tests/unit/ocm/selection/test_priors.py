"""Learned priors inside manifests: what they rest on, nothing counted twice, files otherwise as they were."""

from datetime import UTC, datetime, timedelta

import pytest

from compozy.ocm.loading import read_document
from compozy.ocm.selection.outcomes import Result, authored_prior, learn, with_learned
from compozy.ocm.selection.priors import PriorRefused, with_learned_priors, write_priors
from compozy.ocm.target import from_manifest
from compozy.ocm.validate import validate

PLAIN = 'ocm: "1"\nid: acme/x\nkind: tool\ndescription: d\n'
ITEM = '- ocm: "1"\n  id: acme/x\n  kind: tool\n  description: d\n'
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
GOOD = [Result(id="acme/x", quality=1.0, at=NOW.isoformat()) for _ in range(8)]


def manifest(**more: object) -> dict[str, object]:
    return {"ocm": "1", "id": "acme/x", "kind": "tool", "description": "d", **more}


def test_a_prior_comes_with_sample_size_decay_and_the_authored_one() -> None:
    old = [Result(id="acme/x", quality=0.0, at=(NOW - timedelta(days=30)).isoformat()) for _ in range(4)]
    (changed,) = with_learned_priors([manifest(quality_prior=0.4, metadata={"owner": "me"})], [*GOOD, *old], NOW)
    # 8 good ones of now, 4 bad ones worth half, 0.4 worth eight: (3.2 + 8) / (8 + 8 + 2).
    assert changed["quality_prior"] == 0.6222
    assert changed["metadata"] == {
        "owner": "me",
        "learned_prior": {
            "authored": 0.4,
            "outcomes": 12,
            "worth": 10.0,
            "half_life_days": 30.0,
            "at": "2026-11-30T12:00:00+00:00",
        },
    }
    assert validate(changed) == []


def test_learning_again_counts_no_outcome_twice() -> None:
    once = with_learned_priors([manifest()], GOOD, NOW)
    assert with_learned_priors(once, GOOD, NOW) == once
    assert authored_prior(once[0]) == 0.5
    target = from_manifest(once[0])
    assert with_learned([target], GOOD, NOW)[0].prior == target.prior == 0.75


def test_a_manifest_without_outcomes_stays_as_it_is() -> None:
    document = manifest(id="acme/other")
    assert with_learned_priors([document], GOOD, NOW)[0] is document


def test_an_authored_prior_that_was_tampered_with_is_no_number_to_start_from() -> None:
    for told in (True, "0.9", 7, None):
        assert authored_prior(manifest(metadata={"learned_prior": {"authored": told}})) == 0.5
    assert learn(GOOD, {}, NOW)[0].prior == 0.75


@pytest.mark.parametrize(
    ("name", "text", "kept"),
    [
        ("a.yaml", '# top\nocm: "1"\nid: acme/x # the id\nkind: tool\ndescription: d\nquality_prior: 0.5 # said\n',
         ("# top", "# the id", "quality_prior: 0.75 # said")),
        ("a.yaml", (PLAIN + "metadata:\n  # who\n  owner: me\n").replace("\n", "\r\n"),
         ("  # who\r\n", "quality_prior: 0.75\r\nmetadata:\r\n")),
        ("a.yaml", '{ocm: "1", id: acme/x, kind: tool, description: d, metadata: {owner: me}}\n', ("owner: me",)),
        ("t.yaml", "# all\ntargets:\n- {id: n, kind: llm} # native\n" + ITEM,
         ("# native\n",)),
        ("s.yaml", PLAIN.replace("acme/x", "acme/y") + "---\n" + PLAIN.replace("d\n", ">\n  d\n"),
         ("id: acme/y\nkind: tool\ndescription: d\n---\n", "description: >\n  d\n")),
        ("l.yaml", ITEM, ()),
        ("a.json", '{\n  "ocm": "1",\n  "id": "acme/x", "kind": "tool",\n  "description": "d"\n}\n', ('"tool",\n',)),
        ("t.json", '{"targets": [{"ocm": "1", "id": "acme/x", "kind": "tool", "description": "d"}]}', ()),
    ],
)  # fmt: skip
def test_a_file_keeps_everything_but_the_prior(name: str, text: str, kept: tuple[str, ...]) -> None:
    after = write_priors(text, name, GOOD, NOW)
    before_documents = [entry.document for entry in read_document(text, name).entries]
    loaded = read_document(after, name)
    assert not loaded.fails(strict=True)
    for before, entry in zip(before_documents, loaded.entries, strict=True):
        assert isinstance(before, dict) and isinstance(entry.document, dict)
        if before["id"] == "acme/x":
            assert entry.document["quality_prior"] == 0.75
        rest = ("quality_prior", "metadata")
        assert {k: v for k, v in entry.document.items() if k not in rest} == {
            k: v for k, v in before.items() if k not in rest
        }
    assert all(one in after for one in kept), after
    assert write_priors(after, name, GOOD, NOW) == after


def test_what_cannot_be_changed_in_place_is_refused_and_named() -> None:
    text = '[{"ocm": "1", "id": "acme/x", "kind": "tool", "description": "d"}]'
    with pytest.raises(PriorRefused, match=r"l\.json: a list of manifests"):
        write_priors(text, "l.json", GOOD, NOW)
    aliased = '- &a {ocm: "1", id: acme/x, kind: tool, description: d}\n- *a\n'
    with pytest.raises(PriorRefused):
        write_priors(aliased, "l.yaml", GOOD, NOW)
