"""Environment names and secret references of MCP servers and hooks (formats §7.2, decisions D1)."""

import re
from collections.abc import Mapping

from compozy.documents.problems import Fix, Path, Problem
from compozy.documents.text import shown, trim

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# They make a program load foreign code before its own.
_INJECTING = frozenset({"NODE_OPTIONS", "PYTHONPATH", "PYTHONHOME", "LD_PRELOAD"})
_INJECTING_PREFIX = "DYLD_"
_SECRET_WORDS = (
    "SECRET", "TOKEN", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "PRIVATE_KEY", "PRIVATEKEY", "AUTHORIZATION",
    "BEARER", "CREDENTIAL",
)  # fmt: skip
_HARMLESS_ENDINGS = ("_URL", "_URI", "_PATH", "_FILE", "_DIR")
_VAULT = re.compile(
    r"vault:(?:providers|bridges|automation|mcp|hooks|extensions|sandbox|sessions)/"
    r"[a-z0-9][a-z0-9_.-]*(?:/[A-Za-z0-9][A-Za-z0-9_.-]*)*"
)


def is_secret_like(name: str) -> bool:
    """Whether an environment name suggests that its value is a secret (formats §7.2)."""
    upper = name.upper()
    return any(word in upper for word in _SECRET_WORDS) and not upper.endswith(_HARMLESS_ENDINGS)


def is_env_name(name: str) -> bool:
    """Whether a trimmed name is a legal environment variable name."""
    return _NAME.fullmatch(name) is not None


def env_problems(
    values: Mapping[str, str], path: Path, where: str, *, refuse_injection: bool, secret: bool
) -> list[Problem]:
    """Check the names of `env` or `secret_env` in byte order; literal secret-looking ones warn (D1)."""
    problems = []
    for name in sorted(values, key=str.encode):
        at, trimmed, place = (*path, name), trim(name), f"{where}.{name}"
        if not trimmed:
            message = f"{where}: empty environment variable name"
            problems.append(Problem(code="env-name-invalid", message=message, path=at, part="key"))
        elif not is_env_name(trimmed):
            message = (
                f"{place}: environment variable name {shown(name)} must start with a letter or _ and hold letters, "
                "digits and _ only"
            )
            problems.append(Problem(code="env-name-invalid", message=message, path=at, part="key"))
        elif refuse_injection and _is_injecting(trimmed):
            message = f"{place} is forbidden for stdio MCP servers: it makes the program load foreign code; remove it"
            problems.append(Problem(code="env-forbidden", message=message, path=at, part="key"))
        elif not secret and is_secret_like(trimmed):
            message = (
                f"{place} looks like a secret: write it below `secret_env` as a reference "
                f"(`{trimmed}: env:{trimmed}`), so that the value stays out of the file"
            )
            problems.append(Problem(code="env-secret-like", message=message, path=at, part="key"))
    return problems


def _is_injecting(name: str) -> bool:
    return name.upper() in _INJECTING or name.upper().startswith(_INJECTING_PREFIX)


def reference_problems(values: Mapping[str, str], path: Path, where: str, namespace: str) -> list[Problem]:
    """Check that each value of `secret_env` is a reference into `namespace` (``mcp`` or ``hooks``)."""
    problems = []
    for name in sorted(values, key=str.encode):
        reason = reference_reason(values[name], namespace)
        if reason:
            at: Path = (*path, name)
            fix = None
            if is_env_name(trim(values[name])) and is_secret_like(trim(values[name])):
                reference = f"env:{trim(values[name])}"
                fix = Fix(title=f"write {reference}", kind="set_value", text=reference)
            message = f"{where}.{name}: {reason}"
            problems.append(Problem(code="secret-ref-invalid", message=message, path=at, fix=fix))
    return problems


def reference_reason(value: str, namespace: str) -> str:
    """Why a text is no secret reference; "" when it is one. The text itself is never repeated: it may be a secret."""
    trimmed = trim(value)
    wanted = f"use env:NAME or vault:{namespace}/..."
    if trimmed.startswith("env:"):
        name = trim(trimmed[4:])
        return "" if is_env_name(name) else f"env: must be followed by an environment variable name; {wanted}"
    if trimmed.startswith("vault:"):
        if not _VAULT.fullmatch(trimmed):
            return f"is not a well-formed vault reference; {wanted}"
        if not trimmed.startswith(f"vault:{namespace}/"):
            return f"a secret of another place cannot be used here; {wanted}"
        return ""
    return f"unsupported secret ref; {wanted}"
