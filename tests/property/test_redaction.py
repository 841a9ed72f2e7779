"""Redacted JSON is JSON with the same shape; registered secrets never survive; masking is idempotent."""

import json

from hypothesis import given
from hypothesis import strategies as st

from compozy.config.redaction import Redactor

FRAGMENTS = st.sampled_from(
    [
        "token",
        "api_key=",
        '"password": "',
        "Bearer ",
        "://u:p@",
        "env:X",
        "sk-abcdefghijklmnopqrst",
        "\\",
        '"',
        " ",
        "ü",
        "\n",
    ]
)
TEXTS = st.one_of(st.text(), st.lists(st.one_of(FRAGMENTS, st.text(max_size=8)), max_size=8).map("".join))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=12,
)


def shape(value: object) -> object:
    """Return the value with every string in value position replaced by one mark."""
    if isinstance(value, str):
        return "s"
    if isinstance(value, list):
        return [shape(inner) for inner in value]
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    return value


@given(value=VALUES, ascii_only=st.booleans())
def test_redacted_json_is_json_of_the_same_shape(value: object, ascii_only: bool) -> None:
    data = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    clean = Redactor().json_bytes(data)
    assert shape(json.loads(clean)) == shape(value)


@given(text=TEXTS)
def test_masking_is_idempotent(text: str) -> None:
    redactor = Redactor()
    once = redactor.text(text)
    assert redactor.text(once) == once


@given(before=TEXTS, secret=st.text(min_size=6, max_size=20), after=TEXTS, ascii_only=st.booleans())
def test_a_registered_secret_never_survives_in_json(before: str, secret: str, after: str, ascii_only: bool) -> None:
    redactor = Redactor(secrets=[secret])
    data = json.dumps({"a": [before + secret + after]}, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    clean = json.loads(redactor.json_bytes(data))["a"][0]
    if secret not in "[REDACTED]" and "[REDACTED]" not in secret:
        assert secret not in clean.replace("[REDACTED]", "\0")
