"""Secrets written into a command line: found word by word, and masked (contract §5.8; SECURITY.md).

A command has to say a secret to the program it starts; nothing else needs it. References and variables are no
secrets, and neither is the name of a file that holds one. Pure; what a secret looks like is in `secret_patterns.py`.
"""

import re
import shlex
from collections.abc import Callable, Iterator, Sequence

from compozy.model.secret_patterns import MASK, is_secret_name, mask_named, mask_shapes, mask_spelled, may_match

_HARMLESS = re.compile(r"\$|env:|vault:|<|%\(")
# `--token-file`, `--auth-url`: the value says where the secret is.
_PLACES = ("file", "path", "dir", "url", "uri", "env")
_OPTION = re.compile(r"--?([A-Za-z][A-Za-z0-9_-]*)(?:=|\Z)")


def masked_command(command: str, clean: Callable[[str], str] | None = None) -> str:
    """Return the command line without secrets; the same text when there is none. Idempotent.

    Args:
        clean: masks what else is known to be secret; the known shapes otherwise.
    """
    if clean is None and not may_match(command.encode("utf-8", "surrogatepass"), shapes=True):
        return command
    words, join = _words(command)
    masked = _masked(words, clean or _clean)
    return join(masked) if masked != words else command


def command_secrets(command: str, clean: Callable[[str], str] | None = None) -> tuple[str, ...]:
    """Return the secrets of a command line."""
    words, _ = _words(command)
    pairs = zip(words, _masked(words, clean or _clean), strict=True)
    return tuple(secret for word, shown in pairs if shown != word for secret in _hidden(word, shown))


def _words(command: str) -> tuple[list[str], Callable[[list[str]], str]]:
    """Return the words, and what makes a line of them again."""
    try:
        return shlex.split(command, comments=False, posix=True), shlex.join
    except ValueError:
        # Quotes that are not closed: it starts nothing, and is shown.
        return command.split(" "), " ".join


def _masked(words: Sequence[str], clean: Callable[[str], str]) -> list[str]:
    return [_word(before, word, clean) for before, word in zip(("", *words), words, strict=False)]


def _word(before: str, word: str, clean: Callable[[str], str]) -> str:
    own = _OPTION.match(word)
    if own is not None and _names_place(own[1]):
        return word
    if own is not None and is_secret_name(own[1]):
        value = word[own.end() :]
        return word if not value or _HARMLESS.match(value) else f"{own[0]}{MASK}"
    if word.startswith("-") or not word:
        return clean(word)
    if _HARMLESS.match(word):
        return word
    option = _OPTION.fullmatch(before)
    if option is not None and not before.endswith("="):
        if _names_place(option[1]):
            return word
        if is_secret_name(option[1]):
            return MASK
    return clean(word)


def _names_place(option: str) -> bool:
    return is_secret_name(option) and option.lower().replace("_", "-").rpartition("-")[2] in _PLACES


def _clean(text: str) -> str:
    return mask_shapes(mask_named(mask_spelled(text)))


def _hidden(word: str, shown: str) -> Iterator[str]:
    """Yield what the mask stands for, in order."""
    at = 0
    pieces = shown.split(MASK)
    for number, piece in enumerate(pieces):
        start = word.find(piece, at) if number < len(pieces) - 1 or piece else len(word)
        if start < 0:
            return
        if start > at:
            yield word[at:start]
        at = start + len(piece)
