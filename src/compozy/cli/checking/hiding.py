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
# User and password of an address; a lone name before the @ is a token to http and an account to others.
_LOGIN = re.compile(r"""(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<login>[^\s/@"'\\]+)@""")
_REFERENCE = re.compile(r"""["']?\s*(?:env:|vault:)""")


def hide_secrets(text: str) -> str:
    """Return text with secret values and logins in addresses starred out, character by character."""
    if "://" in text:
        text = _LOGIN.sub(_without_login, text)
    text = _ASSIGNED.sub(_starred, text) if ":" in text or "=" in text else text
    return _without_options(text) if " -" in text else text


def _without_options(text: str) -> str:
    """Star out what a command line of the text says secretly: ``--api-key …``."""
    from compozy.model.command_secrets import command_secrets  # noqa: PLC0415 - start-up cost

    for secret in command_secrets(text):
        text = text.replace(secret, "*" * len(secret))
    return text


def _without_login(match: re.Match[str]) -> str:
    login = match["login"]
    if ":" not in login and not match["scheme"].lower().startswith("http"):
        return match.group()
    return f"{match['scheme']}://{'*' * len(login)}@"


def _starred(match: re.Match[str]) -> str:
    from compozy.documents.environment import is_secret_like  # noqa: PLC0415 - start-up cost

    value = match["value"]
    if not is_secret_like(match["name"]) or _REFERENCE.match(value):
        return match.group()
    return match["head"] + "*" * len(value)
