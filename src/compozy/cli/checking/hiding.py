"""Text from checked files, shown without the secrets in it (reports P39).

A checker quotes lines of files that hold tokens, in places such as CI logs. Values of names that look like secrets
are starred out; references such as `env:NAME` are no secrets.
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
    return _ASSIGNED.sub(_starred, text) if ":" in text or "=" in text else text


def _starred(match: re.Match[str]) -> str:
    from compozy.documents.environment import is_secret_like  # noqa: PLC0415 - start-up cost

    value = match["value"]
    if not is_secret_like(match["name"]) or _REFERENCE.match(value):
        return match.group()
    return match["head"] + "*" * len(value)
