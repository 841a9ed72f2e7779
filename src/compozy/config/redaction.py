"""Redaction: what looks like a secret becomes ``[REDACTED]`` before it is stored, logged or answered (contract §5.8).

Always: bearer and authorization values, claim tokens, user information in URLs, values after secret-like names
(``key=value``, ``"key": "value"``, ``--key value``), ``env:`` and ``vault:`` references, and every registered secret.
Provider-token shapes only while [redact] is enabled. Works on text and, without parsing it whole, on JSON bytes,
which stay valid JSON with every number, key and order as they were. Rules for text are in `secret_patterns.py`.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import AnyStr

from compozy.model.secret_patterns import MASK, is_secret_name, mask_named, mask_shapes, mask_spelled, may_match

# Shorter values would turn every other word into a mask.
_MIN_SECRET = 6
# No rule matches less: ``env:A``.
_SHORTEST_MATCH = 5
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"')
_GAP = re.compile(rb"\s*:\s*")


class Redactor:
    """Redacts with one setting and one set of registered secrets."""

    def __init__(self, *, enabled: bool = True, secrets: Iterable[str] = ()) -> None:
        self._shapes = enabled
        self._secrets: tuple[str, ...] = ()
        self._raw: tuple[bytes, ...] = ()
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
        if len(text) < _SHORTEST_MATCH:
            return text
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, MASK)
        data = text.encode("utf-8", "surrogatepass")
        if not may_match(data, shapes=self._shapes):
            return text
        text = mask_named(mask_spelled(text))
        return mask_shapes(text) if self._shapes else text

    def json_bytes(self, data: bytes) -> bytes:
        """Return JSON with the secrets in its strings masked; the same object when there is nothing to mask."""
        if not self.may_hold_secret(data):
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
            return self.items(value, self.value)
        return value

    def items(self, values: Sequence[object], clean: Callable[[object], object]) -> list[object]:
        """Return a list with each entry cleaned; what follows a flag such as ``--api-key`` is masked whole."""
        return [
            MASK
            if isinstance(inner, str) and inner[:1] not in ("", "-") and _is_secret_flag(before)
            else clean(inner)
            for before, inner in zip(("", *values), values, strict=False)
        ]

    def may_hold_secret(self, data: bytes) -> bool:
        """Take a cheap look at JSON, or at several texts of it joined: False means that nothing has to be masked."""
        if may_match(data, shapes=self._shapes):
            return True
        # Escapes may spell any character of a name, a URL or a secret.
        if b"\\u00" in data or b"\\/" in data:
            return True
        return bool(self._raw) and (b"\\" in data or any(secret in data for secret in self._raw))

    def ends_in_secret(self, data: bytes) -> bool:
        """Whether JSON text ends in the beginning of a registered secret."""
        return any(_overlap(data, secret) for secret in self._raw)

    def begun_secret(self, text: str) -> int:
        """Return how many characters at the end of a text may be the beginning of a registered secret."""
        return max((_overlap(text, secret) for secret in self._secrets), default=0)

    def _string(self, token: bytes, *, is_secret: bool) -> bytes | None:
        """Return the token's replacement, None when it stays."""
        text = _decoded(token)
        clean = MASK if is_secret and text else self.text(text)
        return None if clean == text else json.dumps(clean).encode("ascii")


def _overlap(text: AnyStr, secret: AnyStr) -> int:
    """Return the length of the longest end of the text that begins the secret and is not all of it."""
    for length in range(min(len(secret) - 1, len(text)), 0, -1):
        if text.endswith(secret[:length]):
            return length
    return 0


def _is_secret_flag(word: object) -> bool:
    return isinstance(word, str) and word.startswith("-") and "=" not in word and is_secret_name(word.lstrip("-"))


def _decoded(token: bytes) -> str:
    if b"\\" not in token:
        return token[1:-1].decode("utf-8", "replace")
    try:
        decoded: object = json.loads(token)
    except ValueError:
        return token[1:-1].decode("utf-8", "replace")
    return str(decoded)
