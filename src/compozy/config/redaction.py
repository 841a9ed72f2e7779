"""Redaction: what looks like a secret becomes ``[REDACTED]`` before it is stored, logged or answered (contract §5.8).

Always: bearer and authorization values, claim tokens, user information in URLs, values after secret-like names
(``key=value``, ``"key": "value"``, ``--key value``), ``env:`` and ``vault:`` references, and every registered secret.
Provider-token shapes only while [redact] is enabled. Works on text and, without parsing it whole, on JSON bytes,
which stay valid JSON with every number, key and order as they were.
"""

import json
import re
from collections.abc import Iterable

MASK = "[REDACTED]"
# Shorter values would turn every other word into a mask.
_MIN_SECRET = 6

# One name that is secret-like: the words may be joined by _ - . or case. "tokens" counts things and is none.
_WORD = (
    r"(?:secret|token|password|passwd|passphrase|credentials?|cookie"
    r"|(?:api|access|private|secret|auth|signing|encryption)[_-]?key)"
)
_NAME = rf"[A-Za-z0-9_.-]*{_WORD}(?![a-z])[A-Za-z0-9_.-]*?"
_SECRET_NAME = re.compile(rf"(?i:{_WORD})(?![a-z])(?i:[_-]?(?:value|id|b64|base64|pem|hash|\d+))?$")
_AUTH_NAME = re.compile(r"(?i)^(?:proxy-|x-)?auth(?:orization)?(?:[_-]?header)?$|^(?:set-)?cookie$|^x-api-key$")

# Values that carry nothing: placeholders, references to variables, and what is masked already.
_HARMLESS = r"(?!\[REDACTED\]|\$|<|%\(|\*{3,}|\.\.\.|null\b|none\b|true\b|false\b)"
_QUOTED = r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'"

_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    # Authorization: Basic dXNlcjpwYXNz   "authorization": "token abc"   Bearer abc
    (
        re.compile(r"(?i)(\b(?:proxy-)?authorization[\"']?\s*[:=]\s*[\"']?)(?!\[REDACTED\])[^\s\"',;][^\"'\r\n,;]*"),
        rf"\1{MASK}",
    ),
    (re.compile(r"(?i)(\bbearer\s+)(?!\[REDACTED\])[A-Za-z0-9._~+/=-]{4,}"), rf"\1{MASK}"),
    (re.compile(r"(?i)(\bbasic\s+)(?=[A-Za-z0-9+/]*[A-Z0-9+/=])[A-Za-z0-9+/]{8,}={0,2}(?![A-Za-z])"), rf"\1{MASK}"),
    (re.compile(r"\bcompozy_claim_[A-Za-z0-9_-]+"), MASK),
    # https://user:pass@host
    (re.compile(r"(?i)(\b[a-z][a-z0-9+.-]*://)(?!\[REDACTED\])[^\s/@\"'<>?#]+@"), rf"\1{MASK}@"),
    # "api_key": "…"   password = '…'   SERVICE_TOKEN="…"
    (re.compile(rf"(?i)(?P<head>[\"']?{_NAME}[\"']?\s*(?:[:=]|=>|:=)\s*)(?P<value>{_QUOTED})"), "quoted"),
    # SERVICE_TOKEN=…   ?access_token=…&
    (re.compile(rf"(?i)(\b{_NAME}=){_HARMLESS}[^\s\"'&,;)\]}}]+"), rf"\1{MASK}"),
    # token: ghp_1234   only for values that look like one: long, with a digit
    (re.compile(rf"(?i)(\b{_NAME}\s*:\s+){_HARMLESS}(?=[^\s\"',;]*\d)[^\s\"',;(){{}}\[\]]{{6,}}"), rf"\1{MASK}"),
    # --api-key abc
    (re.compile(rf"(?i)(--?{_NAME}\s+){_HARMLESS}(?![-|&;])(?:{_QUOTED}|[^\s\"']+)"), rf"\1{MASK}"),
    (re.compile(r"\b(env|vault):[A-Za-z_][A-Za-z0-9_./-]*"), rf"\1:{MASK}"),
)
_SHAPES = re.compile(
    r"\b(?:sk|rk|pk)-[A-Za-z0-9_-]{16,}"
    r"|\b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}"
    r"|\bxox[abeprs]-[A-Za-z0-9-]{10,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"
    r"|\bAIza[A-Za-z0-9_-]{30,}"
    r"|\bglpat-[A-Za-z0-9_-]{16,}|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_-]{30,}"
    r"|\bhf_[A-Za-z0-9]{20,}|\bgsk_[A-Za-z0-9]{20,}|\bxai-[A-Za-z0-9]{20,}"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
)
# The cheap look: without one of these (lower case) no rule can match.
_HINTS = tuple(
    b"secret token passw passphrase credential key cookie auth bearer basic compozy_claim_ @ env: vault:".split()
)
_SHAPE_HINTS = tuple(
    b"sk- rk- pk- ghp_ gho_ ghu_ ghs_ ghr_ xox akia asia aiza glpat- npm_ pypi- hf_ gsk_ xai- eyj -----begin".split()
)
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
_GAP = re.compile(rb"\s*:\s*")


class Redactor:
    """Redacts with one setting and one set of registered secrets."""

    def __init__(self, *, enabled: bool = True, secrets: Iterable[str] = ()) -> None:
        self._shapes = enabled
        self._secrets: tuple[str, ...] = ()
        self._raw: tuple[bytes, ...] = ()
        self._hints = (*_HINTS, *(_SHAPE_HINTS if enabled else ()))
        for secret in secrets:
            self.register(secret)

    def register(self, secret: str) -> None:
        """Remember a secret's value: it is masked wherever it occurs. Values under six characters are not kept."""
        if len(secret) >= _MIN_SECRET and secret not in self._secrets:
            # Longest first, so that a secret that contains another is masked whole.
            self._secrets = tuple(sorted({*self._secrets, secret}, key=len, reverse=True))
            self._raw = tuple(value.encode("utf-8", "surrogatepass") for value in self._secrets)

    def text(self, text: str) -> str:
        """Return the text without secrets; idempotent."""
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, MASK)
        lowered = text.lower().encode("utf-8", "surrogatepass")
        if not any(hint in lowered for hint in self._hints):
            return text
        for pattern, replacement in _RULES:
            text = pattern.sub(_mask_quoted if replacement == "quoted" else replacement, text)
        return _SHAPES.sub(MASK, text) if self._shapes else text

    def json_bytes(self, data: bytes) -> bytes:
        """Return JSON with the secrets in its strings masked; the same object when there is nothing to mask."""
        if not self._may_hold_secret(data):
            return data
        pieces: list[bytes] = []
        done, after_secret_name = 0, -1
        for match in _STRING.finditer(data):
            start, end = match.span()
            gap = _GAP.match(data, end)
            if gap is not None:
                # A name: look at its value next, when that is a string.
                if is_secret_name(_decoded(match[0])):
                    after_secret_name = gap.end()
                continue
            replaced = self._string(match[0], is_secret=start == after_secret_name)
            if replaced is not None:
                pieces += (data[done:start], replaced)
                done = end
        return b"".join((*pieces, data[done:])) if pieces else data

    def value(self, value: object) -> object:
        """Return plain data (dicts, lists, text) with its secrets masked."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {
                key: MASK if isinstance(inner, str) and inner and is_secret_name(str(key)) else self.value(inner)
                for key, inner in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.value(inner) for inner in value]
        return value

    def _may_hold_secret(self, data: bytes) -> bool:
        lowered = data.lower()
        if any(hint in lowered for hint in self._hints):
            return True
        if not self._raw:
            return False
        # An escape may spell any character of a secret.
        return b"\\" in data or any(secret in data for secret in self._raw)

    def _string(self, token: bytes, *, is_secret: bool) -> bytes | None:
        """Return the token's replacement, None when it stays."""
        text = _decoded(token)
        clean = MASK if is_secret and text else self.text(text)
        return None if clean == text else json.dumps(clean).encode("ascii")


def is_secret_name(name: str) -> bool:
    """Whether a field, variable or flag of this name holds a secret."""
    return bool(_SECRET_NAME.search(name) or _AUTH_NAME.match(name))


def _decoded(token: bytes) -> str:
    if b"\\" not in token:
        return token[1:-1].decode("utf-8", "surrogateescape")
    try:
        decoded: object = json.loads(token)
    except ValueError:
        return token[1:-1].decode("utf-8", "surrogateescape")
    return str(decoded)


def _mask_quoted(match: re.Match[str]) -> str:
    value = match["value"]
    inner = value[1:-1]
    if not inner or inner.startswith(("$", "<", "[REDACTED]")):
        return match[0]
    return f"{match['head']}{value[0]}{MASK}{value[0]}"
