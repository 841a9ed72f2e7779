"""What is masked, what stays, and that masking never breaks JSON (contract §5.8; P39)."""

import json

import pytest

from compozy.config.effective import masked
from compozy.config.redaction import Redactor
from compozy.model.secret_patterns import MASK, is_secret_name

MASKED = [
    ("Authorization: Basic dXNlcjpwYXNz", "Authorization: [REDACTED]"),
    ("curl -H 'Authorization: token abc' x", "curl -H 'Authorization: [REDACTED]' x"),
    ("Bearer abc123xyz next", "Bearer [REDACTED] next"),
    ("basic dXNlcjpwYXNzd29yZA==", "basic [REDACTED]"),
    ("claimed with compozy_claim_Ab-3_x.", "claimed with [REDACTED]."),
    ("https://user:pw@host/x", "https://[REDACTED]@host/x"),
    ("postgres://u@h", "postgres://[REDACTED]@h"),
    ("SERVICE_TOKEN=tok_7f3a9 rest", "SERVICE_TOKEN=[REDACTED] rest"),
    ('{"api_key": "abc", "n": 1}', '{"api_key": "[REDACTED]", "n": 1}'),
    ("clientSecretValue: 'abc'", "clientSecretValue: '[REDACTED]'"),
    ("--api-key abc --x", "--api-key [REDACTED] --x"),
    ("--password=abc", "--password=[REDACTED]"),
    ("-token 'a b'", "-token [REDACTED]"),
    ("?access_token=abc&x=1", "?access_token=[REDACTED]&x=1"),
    ("token: ghp1234567", "token: [REDACTED]"),
    ("ref env:MY_VAR and vault:providers/x/y", "ref env:[REDACTED] and vault:[REDACTED]"),
    ("Cookie: a=b; c=d", "Cookie: [REDACTED]"),
]
KEPT = [
    "max_tokens=500 tokens: 12345678",
    "the token was wrong",
    "def f(token: str, password: str = None):",
    "token = next(tokens)",
    "tokenizer=abc and my secretary=bob",
    "password=$PW and password=${PW} and token=<token>",
    "PASSWORD=",
    "basic authentication and Basic usage",
    "git@github.com:foo/bar",
    "http://localhost:2123/api?x=1",
    "environment: dev",
    "monkey=1 key=value",
]
SHAPES = [
    "sk-abcdefghijklmnopqrstuvwx",
    "ghp_abcdefghijklmnopqrstuv",
    "AKIAABCDEFGHIJKLMNOP",
    "eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeK",
    "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
]


@pytest.mark.parametrize(("text", "expected"), MASKED)
def test_a_secret_in_a_known_form_is_masked(text: str, expected: str) -> None:
    assert Redactor(enabled=False).text(text) == expected


@pytest.mark.parametrize("text", KEPT)
def test_text_that_only_speaks_of_secrets_stays(text: str) -> None:
    assert Redactor().text(text) == text


@pytest.mark.parametrize("text", [text for text, _ in MASKED] + SHAPES)
def test_masking_twice_changes_nothing_more(text: str) -> None:
    redactor = Redactor()
    once = redactor.text(text)
    assert redactor.text(once) == once


@pytest.mark.parametrize("shape", SHAPES)
def test_provider_tokens_are_masked_only_while_redaction_is_enabled(shape: str) -> None:
    assert Redactor(enabled=True).text(f"got {shape} here") == "got [REDACTED] here"
    assert Redactor(enabled=False).text(f"got {shape} here") == f"got {shape} here"


def test_a_registered_secret_is_masked_everywhere_even_when_redaction_is_off() -> None:
    redactor = Redactor(enabled=False)
    redactor.register("plain words")
    redactor.register("plain words and more")
    assert redactor.text("say plain words and more, plain words") == "say [REDACTED], [REDACTED]"


def test_a_registered_secret_is_found_behind_json_escapes() -> None:
    redactor = Redactor(secrets=['quote"slash/ünïcode'])
    spelled = b'{"a": "x quote\\"slash\\/\\u00fcn\\u00efcode y"}'
    assert json.loads(redactor.json_bytes(spelled)) == {"a": "x [REDACTED] y"}


def test_clean_json_comes_back_as_the_same_object() -> None:
    data = b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hello"}}'
    assert Redactor().json_bytes(data) is data


def test_numbers_order_and_spacing_of_json_stay_while_strings_are_masked() -> None:
    data = b'{"z": 1.0, "token" : "abc", "big": 123456789012345678901234567890, "token_count": 5, "a":"K=1"}'
    expected = data.replace(b'"abc"', b'"[REDACTED]"')
    assert Redactor().json_bytes(data) == expected


def test_json_inside_a_json_string_is_masked_too() -> None:
    data = json.dumps({"text": json.dumps({"password": "hunter2"})}).encode()
    clean = json.loads(Redactor().json_bytes(data))
    assert json.loads(clean["text"]) == {"password": "[REDACTED]"}


def test_a_name_spelled_with_escapes_still_marks_its_value() -> None:
    assert json.loads(Redactor().json_bytes(b'{"\\u0074oken": "abc"}')) == {"token": "[REDACTED]"}


def test_plain_data_is_masked_by_key_and_by_content() -> None:
    data = {"env": {"SERVICE_TOKEN": "abc", "PORT": "1"}, "args": ["--password", "--api-key=x"]}
    expected = {"env": {"SERVICE_TOKEN": "[REDACTED]", "PORT": "1"}, "args": ["--password", "--api-key=[REDACTED]"]}
    assert Redactor().value(data) == expected


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("api_key", True),
        ("apiKey", True),
        ("SERVICE_TOKEN", True),
        ("token", True),
        ("Authorization", True),
        ("clientSecret", True),
        ("max_tokens", False),
        ("key", False),
        ("author", False),
        ("MAX_TOKENS", False),
    ],
)
def test_names_are_told_apart(name: str, secret: bool) -> None:
    assert is_secret_name(name) is secret


def test_masking_takes_time_in_proportion_to_the_text() -> None:
    # A quadratic rule would need minutes for these; the bound of the whole run catches it.
    redactor = Redactor()
    for piece in ("a_", "token", "token ", "://", "-", "env:", "authorization: ", 'secret="', "k=v&"):
        redactor.text(piece * (400_000 // len(piece)))


def test_what_follows_a_secret_flag_in_a_list_of_words_is_masked() -> None:
    redactor = Redactor()
    words = ["srv", "--api-key", "abcdef123456", "--port", "1", "--token=xyz-123456", "-H", "x"]
    assert redactor.value(words) == ["srv", "--api-key", MASK, "--port", "1", f"--token={MASK}", "-H", "x"]
    assert masked({"args": words}) == {"args": redactor.value(words)}
    assert redactor.value(["--api-key", ["nested"]]) == ["--api-key", ["nested"]]
