"""How findings read: the streamed answer and the Markdown file. Text only; nothing is sent or written here."""

from collections.abc import Iterator, Mapping, Sequence

from compozy_offline_agent.ranking import SHOWN_SHARE, Document, Excerpt, Finding
from compozy_offline_agent.task import Task

MAX_SHOWN = 6
MAX_NAMED = 20
# Only the best findings show all their places; the others show the first one.
FULLY_SHOWN = 2
CONTEXT_LINES = 2
MAX_WIDTH = 200

# Files and their names may hold bytes that move a terminal's cursor; they are shown, not obeyed.
_CONTROLS = dict.fromkeys((*range(32), 127, *range(128, 160)), "�")

SIGNATURE = "Written by the offline agent of compozy, which uses no language model"
INTRODUCTION = (
    "I am the offline agent. I use no language model: I look for the words of your task in this workspace, "
    "rank what I find, and say why.\n\n"
)
NO_CHANGE = (
    "You ask for a change. I cannot make one, I can only show where it would go; "
    "an agent with a language model can make it.\n\n"
)


def words_used(task: Task) -> str:
    """Say what is looked for."""
    own = [f"`{word.shown}`" for word in task.words if not word.of]
    stand = [f"`{word.shown}` (for {word.of})" for word in task.words if word.of and word.weight < 0.5]
    phrases = [f'"{phrase}"' for phrase in task.phrases]
    if not own and not phrases:
        return "Your task has no word that I could look for.\n\n"
    text = "I look for " + ", ".join([*phrases, *own])
    if stand:
        text += "; counting less, related words: " + ", ".join(stand)
    return text + ".\n\n"


def coverage(read: int, listed: int, skipped: Mapping[str, int], trouble: Mapping[str, int], was_cut: str) -> str:
    """Say what was read and what was not."""
    text = f"I read {read} of {listed} files" if listed else "There is no file to read here"
    left = [f"{count} {reason}" for reason, count in sorted({**skipped, **trouble}.items())]
    if left:
        text += f" (left out: {', '.join(left)})"
    if was_cut:
        text += f"; I stopped at {was_cut}"
    return text + ".\n\n"


def plain(text: str) -> str:
    """Return one line of text without characters that a terminal would obey; tabs become spaces."""
    return text.expandtabs(4).translate(_CONTROLS)


def shown(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings worth showing: the best ones that are not far below the first."""
    if not findings:
        return []
    return [one for one in findings[:MAX_SHOWN] if one.score >= SHOWN_SHARE * findings[0].score]


def answer(findings: Sequence[Finding], documents: Sequence[Document]) -> Iterator[str]:
    """Yield the answer piece by piece, one finding each."""
    texts = {document.path: document.text for document in documents}
    top = shown(findings)
    for place, finding in enumerate(top, 1):
        yield _finding(place, finding, texts[finding.path])
    rest = [plain(finding.path) for finding in findings[len(top) :]]
    if rest:
        more = f" and {len(rest) - MAX_NAMED} more" if len(rest) > MAX_NAMED else ""
        yield f"Weaker matches: {', '.join(rest[:MAX_NAMED])}{more}.\n\n"


def nothing_found(task: Task, read: int) -> str:
    """Say that nothing matched, and what could help."""
    if not read:
        return "So I have nothing to show.\n"
    looked = [f'"{phrase}"' for phrase in task.phrases] + [f"`{word.shown}`" for word in task.words if not word.of]
    return (
        f"No file has a match for {', '.join(looked) or 'this task'}. "
        "Name a word that stands in the files, or quote a phrase exactly.\n"
    )


def findings_file(task: Task, about: str, findings: Sequence[Finding], documents: Sequence[Document]) -> str:
    """Return the Markdown file that holds the findings."""
    quoted = "\n".join(f"> {line}" for line in task.text.splitlines())
    body = "".join(answer(findings, documents)) if findings else "No file matches.\n"
    return (
        f"# Findings\n\nTask:\n\n{quoted}\n\n{about}{body.rstrip()}\n\n"
        f"{SIGNATURE}: it matched and ranked words, and understood nothing.\n"
    )


def is_findings_file(text: str) -> bool:
    """Whether the text is a file that this agent wrote: quoting it back would only echo earlier tasks."""
    return text.startswith("# Findings\n\nTask:\n") and SIGNATURE in text


def _finding(place: int, finding: Finding, text: str) -> str:
    lines = text.split("\n")
    at = f":{finding.excerpts[0].line}" if finding.excerpts else ""
    head = f"**{place}. {plain(finding.path)}{at}**: {'; '.join(finding.reasons)}\n"
    excerpts = finding.excerpts if place <= FULLY_SHOWN else finding.excerpts[:1]
    return head + "".join(_excerpt(finding.path, excerpt, lines) for excerpt in excerpts) + "\n"


def _excerpt(path: str, excerpt: Excerpt, lines: Sequence[str]) -> str:
    first = max(1, excerpt.line - CONTEXT_LINES)
    last = min(len(lines), excerpt.line + CONTEXT_LINES)
    width = len(str(last))
    rows = []
    for number in range(first, last + 1):
        line = plain(lines[number - 1].rstrip("\r")[: 2 * MAX_WIDTH])
        line = line if len(line) <= MAX_WIDTH else line[: MAX_WIDTH - 1] + "…"
        rows.append(f"{'>' if number == excerpt.line else ' '} {number:>{width}} | {line}".rstrip())
    fence = "```"
    while any(fence in row for row in rows):
        fence += "`"
    return f"{plain(path)}:{excerpt.line}\n{fence}\n" + "\n".join(rows) + f"\n{fence}\n"
