"""Text to numbers of word pieces, as uncased BERT models read it: lower case, no accents, longest piece first.

The vocabulary is BERT's (30,522 pieces, Apache-2.0; see NOTICE). It knows nothing of vectors.
"""

import gzip
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files

from compozy.lexical.words import beginning

# What the model was trained with; a longer text says no more about what a capability does.
MOST_PIECES = 256
_LONGEST_WORD = 100
_START, _END, _UNKNOWN = "[CLS]", "[SEP]", "[UNK]"
# Of ASCII, every sign that is no letter or digit is a word, "$" and "^" included, and control characters are nothing.
_ASCII_WORD = re.compile(r"[0-9a-z]+|[!-/:-@\[-`{-~]")
_NOTHING = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127))
# Ranges that BERT splits sign by sign: CJK ideographs and their extensions.
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


class WordPieces:
    """The vocabulary, ready to read texts."""

    def __init__(self) -> None:
        packed = files(__package__).joinpath("vocabulary.txt.gz").read_bytes()
        lines = gzip.decompress(packed).decode().split("\n")
        self._numbers = {piece: number for number, piece in enumerate(lines) if piece}
        self._of_word = lru_cache(maxsize=8_192)(self._split_word)

    def read(self, text: str) -> list[int]:
        """Return the numbers of a text between the model's marks of start and end, at most 256."""
        found: list[int] = []
        for word in _words(beginning(text)):
            found.extend(self._of_word(word))
            if len(found) >= MOST_PIECES - 2:
                break
        return [self._numbers[_START], *found[: MOST_PIECES - 2], self._numbers[_END]]

    def _split_word(self, word: str) -> tuple[int, ...]:
        if len(word) > _LONGEST_WORD:
            return (self._numbers[_UNKNOWN],)
        found: list[int] = []
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                number = self._numbers.get(word[start:end] if start == 0 else "##" + word[start:end])
                if number is not None:
                    found.append(number)
                    start = end
                    break
            else:
                return (self._numbers[_UNKNOWN],)
        return tuple(found)


def _words(text: str) -> Iterator[str]:
    """Yield words in lower case without accents; each punctuation mark and ideograph is a word."""
    if text.isascii():
        yield from _ASCII_WORD.findall(text.translate(_NOTHING).lower())
        return
    cleaned = "".join(_clean(letter) for letter in text)
    for word in cleaned.split():
        plain = unicodedata.normalize("NFD", word.lower())
        yield from _split_marks("".join(letter for letter in plain if unicodedata.category(letter) != "Mn"))


def _clean(letter: str) -> str:
    code = ord(letter)
    if letter in "\t\n\r" or unicodedata.category(letter) == "Zs":
        return " "
    if code in (0, 0xFFFD) or unicodedata.category(letter).startswith("C"):
        return ""
    if any(low <= code <= high for low, high in _IDEOGRAPHS):
        return f" {letter} "
    return letter


def _split_marks(word: str) -> Iterator[str]:
    start = 0
    for place, letter in enumerate(word):
        if _is_mark(letter):
            if start < place:
                yield word[start:place]
            yield letter
            start = place + 1
    if start < len(word):
        yield word[start:]


def _is_mark(letter: str) -> bool:
    code = ord(letter)
    # BERT counts every sign of ASCII that is no letter or digit, "$" and "^" included.
    if 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126:
        return True
    return unicodedata.category(letter).startswith("P")
