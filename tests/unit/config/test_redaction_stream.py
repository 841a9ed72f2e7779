"""Text in pieces is masked like the same text in one piece, wherever it was cut (contract §5.8; issue 6)."""

import json

import pytest

from compozy.config.redaction import Redactor
from compozy.config.redaction_stream import TextStream

REGISTERED = "swordfish-hunter22"
TEXTS = (
    "the password is password=hunter2222 and that is all",
    "use `api_key: abc123def` in the header",
    'he set client_secret = "correct horse 22" in the file',
    "curl -H 'Authorization: Bearer abcdef0123456789' https://example.com",
    "clone https://someone:letmein22@example.com/repo.git now",
    "the key sk-abcdefghijklmnop0123456789 leaked",
    "an AWS key AKIAIOSFODNN7EXAMPLE here",
    "jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijklmn done",
    "ghp_abcdefghijklmnopqrstuvwxyz0123 is a token",
    "run it with --token s3cr3tvalue --verbose",
    f"the word is {REGISTERED}, remember it",
    "see env:SERVICE_TOKEN and vault:db/main for more",
    "token: str is a field; the basic idea of a key is simple\nand the secret garden a book",
    'prose without anything, but with \\ and " and ü and \U0001f600 in it',
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0\nabcdef0123456789\n-----END RSA PRIVATE KEY----- after",
)
SECRETS = (
    "hunter2222",
    "abc123def",
    "correct horse 22",
    "abcdef0123456789",
    "letmein22",
    "sk-abcdefghijklmnop0123456789",
    "AKIAIOSFODNN7EXAMPLE",
    "eyJzdWIiOiIxMjM0In0",
    "abcdefghijklmnopqrstuvwxyz0123",
    "s3cr3tvalue",
    REGISTERED,
    "SERVICE_TOKEN",
    "MIIEpAIBAAKCAQEA0",
)


@pytest.fixture
def redactor() -> Redactor:
    return Redactor(secrets=[REGISTERED])


def shown(redactor: Redactor, pieces: list[str], *, at_once: bool = False) -> str:
    """Return what a reader sees of the pieces, given one by one or all together."""
    stream = TextStream(redactor)
    parts: list[str] = []
    for batch in [pieces] if at_once else [[piece] for piece in pieces]:
        taken = stream.take([json.dumps(piece).encode() for piece in batch])
        parts.extend(batch if taken is None else taken)
    return "".join(parts) + stream.flush()


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text[:24])
def test_a_text_cut_anywhere_shows_no_secret_and_loses_nothing_else(redactor: Redactor, text: str) -> None:
    whole = redactor.text(text)
    for cut in range(1, len(text)):
        told = shown(redactor, [text[:cut], text[cut:]])
        together = shown(redactor, ["so: ", text[:cut], text[cut:], " and more"], at_once=True)
        assert not [secret for secret in SECRETS if secret in together], (cut, together)
        assert not [secret for secret in SECRETS if secret in told], (cut, told)
        assert told.replace("[REDACTED]", "").endswith(whole.rsplit("[REDACTED]", 1)[-1]), (cut, told)
        if "[REDACTED]" not in whole:
            assert told == text


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text[:24])
def test_a_text_in_many_small_pieces_shows_no_secret(redactor: Redactor, text: str, size: int) -> None:
    told = shown(redactor, [text[start : start + size] for start in range(0, len(text), size)])
    assert not [secret for secret in SECRETS if secret in told], told
    assert told.count("[REDACTED]") == redactor.text(text).count("[REDACTED]")
    if "[REDACTED]" not in told:
        assert told == text


def test_harmless_text_is_let_go_at_once(redactor: Redactor) -> None:
    stream = TextStream(redactor)
    for word in ("All ", "is ", "well", " here"):
        assert stream.take([json.dumps(word).encode()]) is None
    assert stream.flush() == ""


def test_only_the_piece_in_doubt_is_held_back_and_it_comes_with_the_next(redactor: Redactor) -> None:
    stream = TextStream(redactor)
    pieces = (b'"set token: "', b'"str"', b'" in the code"')
    taken = [stream.take([piece]) for piece in pieces]
    assert taken == [None, [""], ["str in the code"]]


def test_pieces_that_come_together_are_looked_at_together(redactor: Redactor) -> None:
    stream = TextStream(redactor)
    assert stream.take([b'"set token: "', b'"str"', b'" in the code"']) is None
    shown = stream.take([b'" and password=hun"', b'"ter2222"', b'" end"'])
    assert shown is not None and len(shown) == 3
    assert "".join(shown) + stream.flush() == " and password=[REDACTED] end"


def test_what_is_held_comes_when_the_message_ends(redactor: Redactor) -> None:
    stream = TextStream(redactor)
    assert stream.take([b'"password=hun"']) == ["password="]
    assert stream.take([b'"ter2222"']) == [""]
    assert stream.flush() == "[REDACTED]"
    assert stream.flush() == ""


def test_a_secret_without_end_is_masked_to_its_end_in_bounded_memory(redactor: Redactor) -> None:
    stream = TextStream(redactor)
    parts = stream.take([b'"-----BEGIN PRIVATE KEY-----"', *[b'"\\n' + b"abcd" * 16 + b'"'] * 3_000]) or []
    told = "".join(parts) + "".join(stream.take([b'"\\n-----END PRIVATE KEY----- done"']) or []) + stream.flush()
    assert "abcd" not in told
    assert told.endswith("done")
    assert len(stream._window) < 20_000  # the one thing that could grow


def test_a_new_message_begins_without_the_old_ones_name(redactor: Redactor) -> None:
    stream = TextStream(redactor)
    stream.take([b'"password="'])
    stream.flush()
    assert stream.take([b'"hunter2222"']) is None
