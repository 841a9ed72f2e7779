"""Redaction of text that arrives in pieces: a secret that lies across two pieces is masked like one in one piece.

What a secret is, `redaction.py` decides. Here is only the question how much of the text so far can be let go: the end
of it is held back while more text could make it a secret. Contract §5.8. Knows nothing of sessions or updates.
"""

import json
import re
from collections.abc import Sequence

from compozy.config.redaction import Redactor
from compozy.model.secret_patterns import MASK

# What is kept of text that was let go: the name of a secret may stand in it, its value in the next piece.
_KEPT = 64
# A secret longer than this keeps its mask, but its middle is forgotten.
_MOST_HELD = 8_192
# How the text might go on: a long word, which could be the rest of a URL's user information, too. If it would be
# masked together with the end of the text, that end may be a part of a secret.
_MORE = "A7b8C9d0E1f2G3h4J5k6L7m8N9p0Q1r2S3t4U5v6@"
# Shapes known by their end only: an AWS key of exact length, a JWT of three parts, the head of a private key.
_UNFINISHED = re.compile(
    r"(?:\bA[KS]IA[A-Z0-9]{0,16}|\beyJ[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]*){0,2}|-----B[A-Z ]{0,45}-{0,5})\Z"
)
# The longest escape of JSON, of which the kept end may have cut off a part.
_ESCAPE = 6


class TextStream:
    """One text in pieces. `take` gives back as many pieces, together the same text, masked; `flush` the held rest."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._tail = b""
        """The end of what was let go, as JSON spells it; used while nothing is suspicious."""
        self._window = ""
        """The text that is still looked at, `_sent` of it masked and let go."""
        self._sent = ""
        self._is_watching = False

    def take(self, pieces: Sequence[bytes]) -> list[str] | None:
        """Return what to show for each piece, None when that is every piece as it is.

        Args:
            pieces: JSON strings, quotes included.
        """
        if not self._is_watching:
            joined = self._tail + b"".join([piece[1:-1] for piece in pieces])
            if not (self._redactor.may_hold_secret(joined) or self._redactor.ends_in_secret(joined)):
                self._tail = joined[-_KEPT:]
                return None
            self._window = self._sent = _decoded_tail(self._tail)
            self._is_watching = True
        texts = [_decoded(piece) for piece in pieces]
        shown = self._add(texts)
        return None if shown == texts else shown

    def flush(self) -> str:
        """Return what is held, masked, and forget the text: another message begins."""
        rest = _rest(self._sent, self._redactor.text(self._window)) if self._is_watching else ""
        self._tail, self._window, self._sent, self._is_watching = b"", "", "", False
        return rest

    def _add(self, pieces: list[str]) -> list[str]:
        """Return what to show for each piece. Many are looked at as one; where there is something, half as many."""
        window = self._window + "".join(pieces)
        stable, is_open = self._settled(window)
        if len(pieces) > 1 and (is_open or stable != window or self._sent != self._window):
            half = len(pieces) // 2
            return self._add(pieces[:half]) + self._add(pieces[half:])
        shown = pieces if stable == window and self._sent == self._window else [_rest(self._sent, stable)]
        self._window = window
        if not (self._sent.startswith(stable) and len(stable) <= len(self._sent)):
            self._sent = stable
        if not is_open:
            self._let_go(stable)
        elif len(self._window) > _MOST_HELD:
            self._forget_middle()
        return shown

    def _let_go(self, stable: str) -> None:
        """Keep the end of a text of which nothing is held back."""
        end = self._window[-_KEPT:]
        self._sent = end if stable == self._window else self._redactor.text(end)
        self._window = end
        self._is_watching = self._redactor.may_hold_secret(end.encode("utf-8", "surrogatepass"))
        if not self._is_watching:
            self._tail = _encoded(end)

    def _settled(self, text: str) -> tuple[str, bool]:
        """Return the masked text as far as nothing that follows can change it, and whether some is left."""
        longer = self._redactor.text(text + _MORE)
        is_open = not longer.endswith(_MORE)
        stable = longer[: longer.rfind(MASK)] if is_open else longer[: -len(_MORE)]
        unfinished = _UNFINISHED.search(text, max(0, len(text) - _MOST_HELD))
        held = max(self._redactor.begun_secret(text), len(text) - unfinished.start() if unfinished else 0)
        if held:
            is_open = True
            masked = self._redactor.text(text)
            shown = masked[:-held] if masked.endswith(text[-held:]) else masked[: masked.rfind(MASK)]
            stable = min(stable, shown, key=len)
        return stable, is_open

    def _forget_middle(self) -> None:
        """Keep the beginning of a very long secret and its end: the rule that masks it needs no more."""
        head, end = self._window[: _MOST_HELD // 2], self._window[-_KEPT:]
        self._window = head + end if self._settled(head)[1] else self._window[-_MOST_HELD // 2 :]
        self._sent = self._settled(self._window)[0]


def _rest(sent: str, whole: str) -> str:
    """Return what is to be shown after `sent`, so that both together are `whole`."""
    if whole.startswith(sent):
        return whole[len(sent) :]
    if sent.startswith(whole):
        return ""
    # A name that was shown turned out to be the beginning of a secret.
    same = next((n for n, (a, b) in enumerate(zip(sent, whole, strict=False)) if a != b), 0)
    return whole[same:]


def _decoded(piece: bytes) -> str:
    if b"\\" not in piece:
        return piece[1:-1].decode("utf-8", "surrogatepass")
    return str(json.loads(piece))


def _encoded(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass")


def _decoded_tail(tail: bytes) -> str:
    for cut in range(_ESCAPE + 1):
        try:
            return str(json.loads(b'"' + tail[cut:] + b'"'))
        except ValueError:
            continue
    return ""
