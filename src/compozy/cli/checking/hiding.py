"""Text from checked files, shown without the secrets in it (reports P39).

A checker quotes lines of files that hold tokens, in places such as CI logs. Values of names that look like secrets
and of options that do are starred out; references such as `env:NAME` are no secrets.
"""

import re

# A name with its value, in YAML, TOML and JSON alike; the value ends where a quoted or a plain one would.
_ASSIGNED = re.compile(
    r"""(?P<head>["']?(?P<name>[A-Za-z_][A-Za-z0-9_-]*)["']?\s*[:=]\s*)"""
    r"""(?P<value>"(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s,{}\[\]#"'][^,}\]#]*)"""
)
_REFERENCE = re.compile(r"""["']?\s*(?:env:|vault:)""")


def hide_secrets(text: str) -> str:
    """Return text with the values of secret-looking names starred out, character by character."""
    text = _ASSIGNED.sub(_starred, text) if ":" in text or "=" in text else text
    return _without_options(text) if " -" in text else text


def _without_options(text: str) -> str:
    """Star out what a command line of the text says secretly: ``--api-key …``."""
    from compozy.model.command_secrets import command_secrets  # noqa: PLC0415 - start-up cost

    for secret in command_secrets(text):
        text = text.replace(secret, "*" * len(secret))
    return text


def _starred(match: re.Match[str]) -> str:
    from compozy.documents.environment import is_secret_like  # noqa: PLC0415 - start-up cost

    value = match["value"]
    if not is_secret_like(match["name"]) or _REFERENCE.match(value):
        return match.group()
    return match["head"] + "*" * len(value)
