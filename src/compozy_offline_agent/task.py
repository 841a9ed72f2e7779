"""What a prompt asks for: the user's own text, the words and phrases to look for, and a file to write.

Cuts the client's guidance off (everything up to the last line that starts with "User request:") and decides by plain
rules, never by guessing a meaning. Touches no file.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from compozy_offline_agent.words import (
    CHANGES,
    COMMANDS,
    IDENTIFIER,
    STOPWORDS,
    fold,
    is_unspaced,
    neighbours,
    parts,
    related,
    stem,
)

DEFAULT_FINDINGS = "FINDINGS.md"
# More words than this only blur a ranking; the first ones say what the task is about.
MAX_WORDS = 24
RELATED_WEIGHT = 0.35
# A longer text is something pasted: what is asked stands before or after it.
_HEAD, _TAIL = 8_000, 4_000

_MARKER = re.compile(r"^[ \t]*User request:[ \t]*", re.MULTILINE)
# Blocks that the client adds to a turn about the session and its surroundings.
_CONTEXT = re.compile(r"<(compozy-[\w-]{1,60})>")
_QUOTED = re.compile(
    r"\"([^\"\n]{2,200})\"|“([^”\n]{2,200})”|«([^»\n]{2,200})»|`([^`\n]{2,200})`|(?<!\w)'([^'\n]{2,200})'(?!\w)"
)
_FILE = r"[\"'`“«]?(?P<file>[\w@~.+-]{0,100}(?:/[\w@.+-]{1,100})+/?"
_FILE += r"|[\w@.+-]{1,100}/|[\w@+-]{1,100}(?:\.[\w@+-]{1,100})+)[\"'`”»]?"
_OPENING = r"(?:^|[.;:,!?\n]\s*|\band\s+|\bthen\s+|\bplease\s+)(?:(?:and|then|please|also)\s+){0,3}"
_VERB = r"(?:write|save|put|store|record|export|produce|create)"
_THING = r"(?:findings?|results?|report|answers?|summary|overview|notes|them|it|that|this|everything"
_THING += r"|what you (?:find|found))"
_WRITE_TO = re.compile(
    rf"{_OPENING}{_VERB}\b(?:\s+[\w']+){{0,3}}?\s+{_THING}(?:\s+(?:down|up|file))?\s+(?:in)?(?:to|into|in|as|at|under)\s+"
    rf"(?:a\s+|the\s+)?(?:file\s+)?(?:called\s+|named\s+)?{_FILE}",
    re.IGNORECASE,
)
_REPORT_FILE = re.compile(
    rf"{_OPENING}(?:write|create|produce|save)\s+{_FILE}\s+with\b[^.\n]*\bfindings?", re.IGNORECASE
)
_REPORT = re.compile(
    rf"{_OPENING}(?:write|save|produce|create)\s+(?:me\s+|up\s+)?(?:an?\s+|the\s+|your\s+|all\s+)?(?:short\s+|brief\s+)?"
    r"(?:findings?(?:\s+(?:file|report))?|report|summary(?:\s+file)?|results?)\b",
    re.IGNORECASE,
)
_PATH = re.compile(r"[\w@.+-]{0,100}(?:/[\w@.+-]{1,100})+|[\w@+-]{1,100}\.[A-Za-z]\w{0,7}\b")


class Word(NamedTuple):
    """One word to look for; `of` names the task's word when this one only stands for it."""

    shown: str
    stem: str
    weight: float = 1.0
    of: str = ""


class Attachment(NamedTuple):
    """Text the client sent along with the prompt."""

    name: str
    text: str


class Task(NamedTuple):
    """What is asked: `words` and `pairs` of neighbours are compared by stem, `phrases` and `paths` as they stand."""

    text: str
    words: tuple[Word, ...]
    pairs: tuple[tuple[str, str], ...]
    phrases: tuple[str, ...]
    paths: tuple[str, ...]
    write_to: str
    wants_change: bool
    attachments: tuple[Attachment, ...]


def read_task(blocks: Sequence[object]) -> Task:
    """Read the content blocks of a prompt."""
    texts: list[str] = []
    attachments: list[Attachment] = []
    for block in blocks:
        if not isinstance(block, dict):
            continue
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            texts.append(block["text"])
        resource = block.get("resource")
        if block.get("type") == "resource" and isinstance(resource, dict) and isinstance(resource.get("text"), str):
            attachments.append(Attachment(str(resource.get("uri", "attachment")), resource["text"]))
    return understand(user_text("\n".join(texts)), tuple(attachments))


def user_text(prompt: str) -> str:
    """Return the user's own words: what follows the last "User request:" line, less the client's context."""
    markers = list(_MARKER.finditer(prompt))
    return _without_context(prompt[markers[-1].end() :] if markers else prompt).strip()


def _without_context(text: str) -> str:
    kept, at = [], 0
    unclosed: set[str] = set()
    for opening in _CONTEXT.finditer(text):
        name = opening[1]
        if opening.start() < at or name in unclosed:
            continue
        end = text.find(f"</{name}>", opening.end())
        if end < 0:
            unclosed.add(name)
            continue
        kept.append(text[at : opening.start()])
        at = end + len(name) + 3
    return "".join(kept) + text[at:]


def understand(text: str, attachments: tuple[Attachment, ...] = ()) -> Task:
    """Take a task apart."""
    read = text if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD]}\n{text[-_TAIL:]}"
    searched, write_to = _cut_write_clause(read)
    phrases = [fold(next(group for group in match.groups() if group)) for match in _QUOTED.finditer(searched)]
    paths = [fold(match.group().lstrip("./")) for match in _PATH.finditer(searched)]
    words = _words(searched)
    phrases += [word.stem for word in words if is_unspaced(word.stem)]
    opening = IDENTIFIER.findall(text.lower())[:2]
    wants_change = bool(opening) and (opening[0] in CHANGES or (opening[0] == "please" and opening[-1] in CHANGES))
    if _REPORT.match(read):
        wants_change = False
    return Task(
        text=text,
        words=tuple(word for word in words if not is_unspaced(word.stem)),
        pairs=_pairs(searched, words),
        phrases=tuple(dict.fromkeys(phrase.strip() for phrase in phrases if phrase.strip())),
        paths=tuple(dict.fromkeys(path for path in paths if path)),
        write_to=write_to,
        wants_change=wants_change,
        attachments=attachments,
    )


def _cut_write_clause(text: str) -> tuple[str, str]:
    """Return the text without the request to write findings, and the file to write ("" when none is asked for)."""
    for pattern in (_WRITE_TO, _REPORT_FILE):
        match = pattern.search(text)
        if match:
            return text[: match.start()] + " " + text[match.end() :], match.group("file").rstrip(".")
    match = _REPORT.search(text)
    if match:
        return text[: match.start()] + " " + text[match.end() :], DEFAULT_FINDINGS
    return text, ""


def _pairs(text: str, words: Sequence[Word]) -> tuple[tuple[str, str], ...]:
    """Return the two words that follow each other in the task, where both are looked for."""
    own = {word.stem for word in words if not word.of}
    return tuple(sorted(pair for pair in neighbours(text) if own.issuperset(pair)))


def _words(text: str) -> list[Word]:
    """Return the words to look for: the task's own, then what stands for them."""
    own: dict[str, Word] = {}
    identifiers = IDENTIFIER.findall(text)
    first = identifiers[0].lower() if identifiers else ""
    dropped = STOPWORDS | COMMANDS | ({first} & CHANGES)
    for identifier in identifiers:
        folded = fold(identifier)
        if folded in dropped or (len(folded) < 2 and folded.isascii()):
            continue
        stems = parts(identifier)
        if len(stems) > 1:
            own.setdefault(stem(folded.replace("_", "")), Word(identifier, stem(folded.replace("_", "")), 1.5))
            stems = tuple(one for one in stems if len(one) > 2 and one not in STOPWORDS)[:4]
            for part in stems:
                own.setdefault(part, Word(part, part, 0.6, identifier))
        else:
            own[stem(folded)] = Word(folded, stem(folded))
    if not own:
        kept = [fold(one) for one in identifiers if fold(one) not in STOPWORDS]
        own = {stem(one): Word(one, stem(one)) for one in kept}
    words = list(own.values())[:MAX_WORDS]
    for word in list(words):
        if not word.of:
            extra = [one for one in related(word.stem) if stem(one) not in own]
            words += [Word(one, stem(one), RELATED_WEIGHT, word.shown) for one in extra]
    return words
