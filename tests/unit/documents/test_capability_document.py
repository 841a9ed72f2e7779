"""The portable document of one capability, and pins (decisions D27; issue 4 item 5)."""

import copy
import json

import pytest

from compozy.documents.capability_document import choose, export_document, verify_document
from compozy.documents.digests import capability_digest
from compozy.model.capability import Capability
from compozy.model.errors import CompozyError, Conflict, InvalidRequest, NotFound

CHART = Capability(
    id="chart-tides",
    summary="Chart the tides.",
    outcome="A tide chart.",
    version="2.1",
    examples=("spring <tide>",),
    requirements=("read-gauges",),
)
DIGEST = capability_digest(CHART)


def exported() -> dict[str, object]:
    made = json.loads(json.dumps(export_document("tide-clerk", CHART)))
    assert isinstance(made, dict)
    return made


def test_an_exported_capability_is_verified_by_its_own_digest() -> None:
    document = exported()
    found = verify_document(json.dumps(document))
    assert (found.agent, found.digest, found.capability.summary) == ("tide-clerk", DIGEST, CHART.summary)
    assert verify_document(json.dumps(document["body"])) == found, "a bare body is read too"
    assert verify_document(json.dumps(document | {"to": "harbour"})) == found, "a message is read too"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("summary", "Chart the moon."),
        ("version", "2.2"),
        ("examples", []),
        ("constraints", ["none"]),
        ("digest", "sha256:" + "0" * 64),
    ],
)
def test_whatever_is_changed_inside_is_a_mismatch(field: str, value: object) -> None:
    document = copy.deepcopy(exported())
    document["body"]["capability"][field] = value  # type: ignore[index]
    with pytest.raises(Conflict) as caught:
        verify_document(json.dumps(document))
    assert caught.value.code == "capability_digest_mismatch"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"kind": "capability"}',
        '{"kind": "other", "body": {}}',
        '{"agent": "a", "capability": {}, "digest": "x"}',
        '{"agent": "../a", "capability": {"id": "x"}, "digest": "x"}',
        '{"agent": "a", "capability": [], "digest": "x"}',
        '{"agent": "a", "capability": {"id": 1, "summary": "s", "outcome": "o"}, "digest": "x"}',
        '{"agent": "a", "agent": "a", "capability": {"id": "x", "summary": "s", "outcome": "o"}, "digest": "x"}',
        '{"agent": "a", "capability": {"id": "x", "summary": "s", "outcome": "o", "more": 1}, "digest": "x"}',
        '{"agent": "a", "capability": {"id": "x", "summary": "s", "outcome": "o"}, "digest": "x", "more": 1}',
        "[" * 5_000,
    ],
)
def test_what_is_no_such_document_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        verify_document(text)
    assert isinstance(caught.value, CompozyError) and "\n" not in caught.value.message


def test_a_pin_fits_exactly_or_the_call_fails() -> None:
    listed = (CHART, Capability(id="a@b", summary="s", outcome="o"))
    assert choose(listed, ()) == listed
    wanted = ("chart-tides@2.1", f"chart-tides@{DIGEST}", "chart-tides", "a@b")
    assert choose(listed, wanted) == (CHART, CHART, CHART, listed[1])
    for pin in ("2.0", "2", "", "sha256:", DIGEST[:-1], DIGEST.upper()):
        with pytest.raises(Conflict) as caught:
            choose(listed, (f"chart-tides@{pin}",))
        assert caught.value.code == "capability_pin_mismatch"
    with pytest.raises(NotFound, match="chart-tides"):
        choose(listed, ("chart-moon",))
    with pytest.raises(Conflict, match="no version"):
        choose(listed, ("a@b@1",))
