"""Text as the index reads it: words without filler, their stems, and the character groups inside a word.

Any script counts as words; filler words and stems are English ones. A text is read as far as `MOST_CHARACTERS`. It
knows nothing of documents or scores.
"""

import re
import unicodedata
from functools import lru_cache

# What is said beyond tells no more about what is wanted, and costs as much.
MOST_CHARACTERS = 1 << 16
# Longer runs of letters (encoded data, scripts without blanks) are read in pieces: each word is kept in memory.
_WORD = re.compile(r"[^\W_]{1,64}")
_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_FILLER = """
a an and any are as at be but by can could do does find for from get give had has have help how i if in into is it
its just let like looking make may me more my need no not of on or our please provide should show so some tell that
the their them then there these they this to up us use using via want was we what when where which who why will with
would you your about also all d m s t ve re ll
"""
FILLER = frozenset(_FILLER.split())
# Longest first: the first that leaves three letters is taken off and replaced.
_ENDINGS = (
    ("ational", "ate"),
    ("ization", "ize"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("iveness", "ive"),
    ("tional", "tion"),
    ("ies", "y"),
    ("sses", "ss"),
    ("ements", "e"),
    ("ement", "e"),
    ("ments", ""),
    ("ment", ""),
    ("ations", "ate"),
    ("ation", "ate"),
    ("ators", "ate"),
    ("ator", "ate"),
    ("ings", ""),
    ("ing", ""),
    ("edly", ""),
    ("ed", ""),
    ("ers", ""),
    ("er", ""),
    ("ly", ""),
    ("es", ""),
    ("s", ""),
    ("e", ""),
)
_SHORTEST, _LONGEST = 3, 4
_CACHED_WORDS = 50_000


def split_name(name: str) -> str:
    """Split an identifier where its case changes: `getUserName` reads `get User Name`."""
    return _CASE.sub(" ", name)


def beginning(text: str) -> str:
    """Return as much of a text as is read, without the word that the bound cuts."""
    if len(text) <= MOST_CHARACTERS:
        return text
    end = MOST_CHARACTERS
    while end and text[end - 1].isalnum() and text[end].isalnum():
        end -= 1
    return text[: end or MOST_CHARACTERS]


def all_words(text: str) -> list[str]:
    """Return the words of the beginning of a text in lower case, filler included, in order."""
    text = beginning(text)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return _WORD.findall(text.casefold())


def tokens(text: str) -> list[str]:
    """Return the words of the beginning of a text in lower case without filler, in order."""
    return [word for word in all_words(text) if word not in FILLER]


@lru_cache(maxsize=_CACHED_WORDS)
def stem(word: str) -> str:
    """Return the part of a word that its forms share; it need not be a word itself."""
    if len(word) <= 3:
        return word
    for ending, replacement in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return _tidy(word[: len(word) - len(ending)] + replacement)
    return word


def _tidy(root: str) -> str:
    if len(root) > 3 and root[-1] == root[-2] and root[-1] not in "lsz":
        root = root[:-1]
    if len(root) > 3 and root.endswith("e"):
        root = root[:-1]
    return root[:-1] + "y" if root.endswith("i") else root


@lru_cache(maxsize=_CACHED_WORDS)
def grams(word: str) -> tuple[str, ...]:
    """Return the groups of three and four characters of a word between its borders, which count as spaces."""
    padded = f" {word} "
    found: list[str] = []
    for size in range(_SHORTEST, _LONGEST + 1):
        if len(padded) <= size:
            found.append(padded)
            break
        found.extend(padded[start : start + size] for start in range(len(padded) - size + 1))
    return tuple(found)
