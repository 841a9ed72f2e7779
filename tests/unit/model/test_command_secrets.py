"""Secrets in command lines are found word by word; what names a place, a reference or a variable is none."""

import shlex

import pytest

from compozy.model.command_secrets import command_secrets, masked_command

HELD = {
    "agent --api-key tok_91cc0-key": ("tok_91cc0-key",),
    "agent --api-key 'two words'": ("two words",),
    "agent '--api-key=two words' x": ("two words",),
    'agent "--client-secret" "abc"': ("abc",),
    "env SERVICE_TOKEN=abc123 agent": ("abc123",),
    "sh -c 'API_TOKEN=abc123 ./x --password=foo'": ("abc123", "foo"),
    "agent https://user:pass@host/x": ("user:pass",),
    "agent -H 'Authorization: Bearer abcdefgh'": ("Bearer abcdefgh",),
    "agent sk-abcdefghijklmnopqrstuvwx": ("sk-abcdefghijklmnopqrstuvwx",),
    "agent --token 'not closed": ("'not",),
}
PLAIN = (
    "",
    "agent acp --stdio",
    "agent --max-tokens 100 --model small",
    "agent --token-file /run/key --auth-url https://host/x",
    "agent --token-file=/run/key",
    "agent --api-key $KEY --token env:KEY --secret vault:mcp/a/b",
    "agent --api-key",
    "agent --api-key --verbose",
)


@pytest.mark.parametrize(("command", "secrets"), HELD.items(), ids=HELD)
def test_a_secret_is_found_and_masked_and_every_other_word_stays(command: str, secrets: tuple[str, ...]) -> None:
    masked = masked_command(command)
    assert command_secrets(command) == secrets
    assert all(secret not in masked for secret in secrets) and "[REDACTED]" in masked
    assert masked_command(masked) == masked and command_secrets(masked) == ()
    if "closed" not in command:
        assert len(shlex.split(masked)) == len(shlex.split(command))


@pytest.mark.parametrize("command", PLAIN)
def test_a_command_without_a_secret_stays_as_it_is_written(command: str) -> None:
    assert masked_command(command) == command and command_secrets(command) == ()


def test_what_is_known_to_be_secret_is_masked_too() -> None:
    def clean(text: str) -> str:
        return text.replace("plain-word", "[REDACTED]")

    assert masked_command("agent plain-word", clean) == "agent '[REDACTED]'"
    assert command_secrets("agent plain-word", clean) == ("plain-word",)
