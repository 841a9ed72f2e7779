"""What a secret looks like in text: spelled-out schemes, secret-like names, provider-token shapes (contract §5.8).

Each rule costs time in proportion to the text. `may_match` is the cheap look that spares clean text all of them.
"""

import re

MASK = "[REDACTED]"

# The core of a secret-like name; prefix and suffix words may surround it (SERVICE_TOKEN, clientSecretValue).
_CORE = re.compile(
    r"(?i:secret|token|password|passwd|passphrase|credentials?|cookie"
    r"|(?:api|access|private|auth|signing|encryption)[_-]?key)"
)
_NAME_PART = r"[A-Za-z0-9_-]"
_SUFFIX = re.compile(rf"{_NAME_PART}*")
_AUTH_NAME = re.compile(r"(?i)^(?:proxy-|x-)?auth(?:orization)?(?:[_-]?header)?$")
# Longer names are no names.
_MAX_NAME = 200

# Values that carry nothing: placeholders, references to variables, and what is masked already.
_HARMLESS = r"(?!\[REDACTED\]|\$|<|%\(|\*{3,}|\.\.\.|(?i:null|none|true|false)\b)"
_QUOTED = re.compile(
    rf"""["']?\s*(?:=>|:=|[:=])\s*(?P<quote>["'])(?!["']){_HARMLESS}"""
    r"""(?P<value>(?:(?!(?P=quote))[^\\\n]|\\.)*)"""
)
_PLAIN = re.compile(rf"={_HARMLESS}(?P<value>[^\s\"'&,;)\]}}]+)")
# After a colon only what looks like one: long, with a digit. `token: str` in a program stays.
_COLON = re.compile(rf"\s*:\s+{_HARMLESS}(?=[^\s\"',;]*\d)(?P<value>[^\s\"',;(){{}}\[\]]{{6,}})")
_FLAG = re.compile(rf"\s+{_HARMLESS}(?![-|&;])(?P<value>\"[^\"\n]*\"|'[^'\n]*'|[^\s\"']+)")

_SPELLED: tuple[tuple[str, re.Pattern[str], str], ...] = (
    (
        "authorization",
        re.compile(r"(?i)(\bauthorization[\"']?\s*[:=]\s*[\"']?)(?!\[REDACTED\])[^\s\"',;][^\"'\r\n,;]*"),
        rf"\1{MASK}",
    ),
    ("bearer", re.compile(r"(?i)(\bbearer\s+)(?!\[REDACTED\])[A-Za-z0-9._~+/=-]{4,}"), rf"\1{MASK}"),
    (
        "basic",
        re.compile(
            r"((?i:\bbasic)\s+)(?=[A-Za-z0-9+/]*[A-Z0-9+/=])(?=[A-Za-z0-9+/]*[a-z])[A-Za-z0-9+/]{8,}={0,2}(?![\w-])"
        ),
        rf"\1{MASK}",
    ),
    ("compozy_claim_", re.compile(r"compozy_claim_[A-Za-z0-9_-]+"), MASK),
    ("://", re.compile(r"://(?!\[REDACTED\]@)[^\s/@\"'<>?#]+@"), f"://{MASK}@"),
    ("cookie", re.compile(r"(?i)(\bcookie:[ \t]*)(?!\[REDACTED\])[^\s\"'][^\"'\r\n]*"), rf"\1{MASK}"),
    ("env:", re.compile(r"\b(env):[A-Za-z_][A-Za-z0-9_]*"), rf"\1:{MASK}"),
    ("vault:", re.compile(r"\b(vault):[A-Za-z0-9_][A-Za-z0-9_./-]*"), rf"\1:{MASK}"),
)
_SHAPES = re.compile(
    r"\b(?:sk|rk|pk)-[A-Za-z0-9_-]{16,}"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}"
    r"|\bxox[abeprs]-[A-Za-z0-9-]{10,}"
    r"|\bA[KS]IA[A-Z0-9]{16}\b"
    r"|\bAIza[A-Za-z0-9_-]{30,}"
    r"|\bglpat-[A-Za-z0-9_-]{16,}|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_-]{30,}"
    r"|\bhf_[A-Za-z0-9]{20,}|\bgsk_[A-Za-z0-9]{20,}|\bxai-[A-Za-z0-9]{20,}"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
)


def may_match(data: bytes, *, shapes: bool) -> bool:
    """Whether any rule could match; without one of these words none can. Written out, because it runs per event."""
    low = data.lower()
    if (
        b"token" in low
        or b"secret" in low
        or b"key" in low
        or b"passw" in low
        or b"://" in low
        or b"bearer" in low
        or b"authorization" in low
        or b"basic" in low
        or b"credential" in low
        or b"cookie" in low
        or b"passphrase" in low
        or b"env:" in low
        or b"vault:" in low
        or b"compozy_claim_" in low
    ):
        return True
    return shapes and (
        b"sk-" in data
        or b"ghp_" in data
        or b"eyJ" in data
        or b"pk-" in data
        or b"rk-" in data
        or b"gho_" in data
        or b"ghu_" in data
        or b"ghs_" in data
        or b"ghr_" in data
        or b"github_pat_" in data
        or b"xox" in data
        or b"AKIA" in data
        or b"ASIA" in data
        or b"AIza" in data
        or b"glpat-" in data
        or b"npm_" in data
        or b"pypi-" in data
        or b"hf_" in data
        or b"gsk_" in data
        or b"xai-" in data
    )


def mask_spelled(text: str) -> str:
    """Mask what a scheme announces: authorization, bearer, basic, claim tokens, URLs with a user, references."""
    low = text.lower()
    for hint, pattern, replacement in _SPELLED:
        if hint in low:
            text = pattern.sub(replacement, text)
    return text


def mask_shapes(text: str) -> str:
    """Mask tokens that providers give a recognisable shape."""
    return _SHAPES.sub(MASK, text)


def mask_named(text: str) -> str:
    """Mask the values after secret-like names."""
    pieces: list[str] = []
    done = 0
    for core in _CORE.finditer(text):
        if core.start() < done or not _ends_name(text, core):
            continue
        suffix = _SUFFIX.match(text, core.end())
        end = suffix.end() if suffix else core.end()
        value = _value_after(text, core.start(), end)
        if value is not None:
            pieces += (text[done : value[0]], MASK)
            done = value[1]
    return "".join((*pieces, text[done:])) if pieces else text


def is_secret_name(name: str) -> bool:
    """Whether a field, variable or flag of this name holds a secret. Counts (``max_tokens``) do not."""
    if len(name) > _MAX_NAME:
        return False
    return bool(_AUTH_NAME.match(name)) or any(_ends_name(name, core) for core in _CORE.finditer(name))


def _ends_name(text: str, core: re.Match[str]) -> bool:
    """Whether the core is a word of its own: not ``tokens``, ``tokenizer``, ``secretary``."""
    following = text[core.end() : core.end() + 1]
    if not following.isalpha():
        return True
    # camelCase: tokenValue, apiKeyFile.
    return following.isupper() and text[core.end() - 1].islower()


def _value_after(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return where the value of the name that ends at `end` stands."""
    for pattern in (_QUOTED, _PLAIN, _COLON):
        match = pattern.match(text, end)
        if match is not None:
            return match.span("value") if match["value"] else None
    while start > 0 and end - start < _MAX_NAME and (text[start - 1].isalnum() or text[start - 1] in "_-"):
        start -= 1
    if text[start : start + 1] == "-" and (start == 0 or text[start - 1].isspace() or text[start - 1] in "\"'`["):
        match = _FLAG.match(text, end)
        if match is not None:
            return match.span("value")
    return None
