"""From text to comparable words: identifiers split, case folded, endings cut, a few related words known.

Pure functions. Light on purpose: every step must be explainable in one line to the person who reads the answer.
"""

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise

IDENTIFIER = re.compile(r"\w+", re.UNICODE)
# Parts of an identifier: ACRONYMBefore, Word, word, digits, or a run of another script.
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+", re.UNICODE)
# From here on scripts often write without spaces between words, so such words are looked for as substrings.
_FIRST_UNSPACED = "\u2e80"

STOPWORDS = frozenset(
    "a about after all also an and any are as at be because been before being between both but by can could did "
    "do does each every for from had has have here how i if in into is it its just like many may me might more "
    "most must my need no nor not of on once one only or other our out over own per please same shall she "
    "should so some such than that the their them then there these they this those through to too under until "
    "up us very via was we were what when where whether which while who whom whose why will with within without "
    "would you your let lets there's what's".split()
)
# Words that say what to do with the findings rather than what to look for.
COMMANDS = frozenset(
    "analyse analyze answer check code codebase describe display explain file files find finding findings "
    "folder give help identify inspect investigate line lines list locate look mention mentioned mentions "
    "overview place places produce project question read repo report repository result results review search "
    "see show source summarise summarize summary task tell thing things understand use used uses using want "
    "work works workspace write".split()
)
# A task that opens with one of these wants a change, which this agent cannot make; it says so.
CHANGES = frozenset(
    "add build change convert create delete drop extend fix implement improve make migrate modify move port "
    "refactor remove rename replace rewrite simplify update upgrade".split()
)
# Groups of words that stand for each other in code; a related word counts for less than the word itself.
_RELATED_GROUPS = (
    "error exception failure fault",
    "delete remove drop",
    "auth authentication authorization login signin credential",
    "config configuration settings option",
    "database db sql",
    "retry backoff reattempt",
    "timeout deadline",
    "test spec",
    "user account customer",
    "cache memoize",
    "queue backlog",
    "send dispatch emit publish",
    "fetch download request",
    "log logger",
    "directory folder",
    "price cost amount",
    "money currency cents",
    "payment charge billing",
    "mail email smtp",
    "verify validate",
)


def fold(text: str) -> str:
    """Return the text in one spelling: compatibility forms composed, case folded."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text).casefold()


def is_unspaced(word: str) -> bool:
    """Whether the word is of a script that does not put spaces between words."""
    return any(char >= _FIRST_UNSPACED for char in word)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return a folded word without its common English endings: one stem for `retry`, `retries`, `retrying`."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    for ending, instead in (("ies", "y"), ("ied", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("s", "")):
        if word.endswith(ending):
            if ending == "s" and word.endswith(("ss", "us", "is")):
                break
            rest = word[: -len(ending)] + instead
            if len(rest) >= 3 and any(vowel in rest for vowel in "aeiouy"):
                word = rest
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "sl":
        word = word[:-1]
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


@lru_cache(maxsize=65536)
def sequence(identifier: str) -> tuple[str, ...]:
    """Return the stems of an identifier's parts, in order."""
    return tuple(stem(fold(part)) for part in _PART.findall(identifier))


@lru_cache(maxsize=65536)
def parts(identifier: str) -> tuple[str, ...]:
    """Return the stems an identifier stands for: its parts, and the parts written together when there are several."""
    found = [fold(part) for part in _PART.findall(identifier)]
    stems = [stem(part) for part in found]
    if len(found) > 1:
        stems.append(stem(fold(identifier).replace("_", "")))
        stems.extend(stem(first + second) for first, second in pairwise(found))
    return tuple(dict.fromkeys(stems))


def stems_of(text: str) -> set[str]:
    """Return every stem in a piece of text."""
    return {one for identifier in IDENTIFIER.findall(text) for one in parts(identifier)}


def neighbours(text: str) -> set[tuple[str, str]]:
    """Return every two stems that follow each other in a piece of text."""
    return set(pairwise(one for identifier in IDENTIFIER.findall(text) for one in sequence(identifier)))


def related(word: str) -> tuple[str, ...]:
    """Return the words that stand for the word with this stem in code."""
    return _RELATED.get(word, ())


_RELATED: dict[str, tuple[str, ...]] = {
    stem(word): tuple(other for other in group.split() if stem(other) != stem(word))
    for group in _RELATED_GROUPS
    for word in group.split()
}
