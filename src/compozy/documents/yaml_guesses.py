"""What went wrong in YAML that does not parse, and the edit that mends it (decisions D5, reports P01-P06, P16).

Works on the text and the parser's complaint; `known` are the field names of the document, which tell a slipped key
from running text. A guess is tried before it is offered: the reading goes on with it.
"""

import re
from collections.abc import Collection
from itertools import islice

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from compozy.documents.guesses import Guess
from compozy.documents.limits import MAX_PROBLEMS
from compozy.documents.problems import Problem, Span
from compozy.documents.text import shown
from compozy.documents.yaml_compose import CONTROL, YamlProblem
from compozy.documents.yaml_reader import YamlDocument, quoted

# indent and dashes, key, white space after the colon, value, trailing comment
_ENTRY = re.compile(r"^([ \t]*(?:- +)*)([\w\"'.-]+):([ \t]+)(.*?)([ \t]*(?:[ \t]#.*)?)$")
_KEY_ONLY = re.compile(r"^([ \t]*(?:- +)*)([\w\"'.-]+):(?:[ \t]|$)")
_ITEM = re.compile(r"^([ \t]*(?:- +)+)(.*?)([ \t]*(?:[ \t]#.*)?)$")
_NO_SPACE = re.compile(r"^([ \t]*)([A-Za-z_][\w-]*):([^\s/:].*)$")
_BARE_WORDS = re.compile(r"^([A-Za-z_][\w-]*)[ \t]+(\S.*)$")
_CLOSING = {"[": "]", "{": "}"}
_INDENT = "  "


def guess_yaml(text: str, problem: YamlProblem, known: Collection[str] = ()) -> Guess | None:
    """The likely cause of a YAML error, with the edit when there is one; spans count from the text's start."""
    words, at = problem.message, min(problem.span[0], len(text))
    if words.startswith("control character"):
        return Guess(
            cause="text files hold no control characters",
            title="remove the control characters",
            span=(at, at + 1),
            # A file full of them is no text with a slip.
            edits=tuple((*match.span(), "") for match in islice(CONTROL.finditer(text), MAX_PROBLEMS)),
        )
    if "mapping values are not allowed" in words:
        return _second_colon(text, at, known)
    if "could not find expected ':'" in words:
        return _not_a_key(text, at if problem.context is None else problem.context, known)
    if problem.code == "too-many-aliases":
        # Well-formed, only too much: quoting a value would mend nothing and break the file for good.
        return Guess(cause="a few lines unfold into an enormous value; write it out", span=(at, at + 1))
    if "alias" in words or "anchor" in words:
        start = at if problem.context is None or "duplicate" in words else problem.context
        return _quote_here(text, start, "a value that begins with `*` or `&` must be quoted")
    if "cannot start any token" in words:
        return _bad_start(text, at)
    if "quoted scalar" in words:
        return _unclosed_quote(text, at if problem.context is None else problem.context)
    if "flow" in words:
        return _unclosed_flow(text, problem)
    if "expected <document start>" in words:
        start, line = _line_at(text, at)
        return Guess(cause="this text belongs to no key", span=(at, start + len(line)))
    if "did not find expected key" in words or "expected '-' indicator" in words:
        return _junk_after_value(text, at) or _indentation(text, at)
    return None


def _line_at(text: str, at: int) -> tuple[int, str]:
    """Where the line around an offset begins, and the line."""
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    return start, text[start : end if end >= 0 else len(text)]


def _previous_line(text: str, start: int) -> tuple[int, str]:
    """The last line before `start` that says something; (-1, "") when there is none."""
    while start > 0:
        start, line = _line_at(text, start - 1)
        if line.strip() and not line.lstrip().startswith("#"):
            return start, line
    return -1, ""


def _whole_value(line: str, start: int, cause: str, span: Span, match: re.Match[str]) -> Guess:
    """Quote a whole value in its line; quotes that already stand around it are taken off first."""
    groups = match.groups()
    value = groups[-2]
    before = match.start(len(groups) - 1)
    inner = value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value
    written = quoted(inner)
    mended = line[:before] + written + line[before + len(value) :]
    edit = (start + before, start + before + len(value), written)
    return Guess(cause=cause, title="quote the value", line=mended, span=span, edits=(edit,))


def _second_colon(text: str, at: int, known: Collection[str]) -> Guess | None:
    """A colon inside a value (P01), or a key that stands too far to the right (P05)."""
    start, line = _line_at(text, at)
    match = _ENTRY.match(line) or _ITEM.match(line)
    first = _KEY_ONLY.match(line)
    colon = at - start
    is_item_below_text = line.lstrip().startswith("- ") and _goes_on(_previous_line(text, start)[1])
    if is_item_below_text and not _previous_line(text, start)[1].lstrip().startswith("- "):
        return None
    if match is not None and (first is None or first.end(2) != colon):
        cause = "a value containing `: ` must be quoted"
        if match.re is _ENTRY:
            cause = f"the value of {shown(match[2])} contains `: `; a value containing `: ` must be quoted"
        return _whole_value(line, start, cause, (at, at + 1), match)
    above_start, above = _previous_line(text, start)
    glued = _NO_SPACE.match(above)
    if glued is not None and glued[2] in known:
        return _space_after_colon(above_start, above, glued)
    words = _BARE_WORDS.match(above)
    if words is not None and words[1] in known:
        return _colon_after_key(above_start, above, words)
    if first is None or above_start < 0:
        return None
    indent = len(line) - len(line.lstrip())
    if not indent and _KEY_ONLY.match(above) is None:
        return Guess(cause="this line is no `key: value`", span=(above_start, above_start + len(above)))
    return _slip_or_text(text, (start, line), (above_start, above), first[2], known)


def _space_after_colon(start: int, line: str, match: re.Match[str]) -> Guess:
    at = start + match.end(2) + 1
    return Guess(
        cause="a blank must follow the colon after a key",
        title="add the blank",
        line=f"{match[1]}{match[2]}: {match[3]}",
        span=(at - 1, at),
        edits=((at, at, " "),),
    )


def _colon_after_key(start: int, line: str, match: re.Match[str]) -> Guess:
    return Guess(
        cause="a colon must follow a key",
        title="add the colon",
        line=f"{match[1]}: {match[2]}",
        span=(start, start + len(line)),
        edits=((start + match.end(1), start + match.start(2), ": "),),
    )


def _slip_or_text(
    text: str, here: tuple[int, str], above: tuple[int, str], key: str, known: Collection[str]
) -> Guess | None:
    """A known key below a value slipped to the right; anything else is the value's next line."""
    start, line = here
    above_start, above_line = above
    indent = len(line) - len(line.lstrip(" "))
    ends_here = line.rstrip().endswith(":")
    if key.strip("\"'") in known or not known or ends_here:
        wanted = _key_indent(text, above_start, above_line, indent)
        mended = " " * wanted + line.lstrip(" ")
        return Guess(
            cause="this line is indented more than the keys it belongs to",
            title="align the key",
            line=mended,
            span=(start + indent, start + len(line)),
            edits=((start, start + indent, " " * wanted),),
        )
    entry = _ENTRY.match(above_line)
    if entry is None or not entry[4] or entry[4][0] in "\"'[{|>":
        return None
    at = above_start + entry.start(4)
    return Guess(
        cause="a value that goes on in the next line and contains `: ` must be quoted or begin with `>-`",
        title="write the value as a folded block",
        line=f"{entry[1]}{entry[2]}: >-",
        span=(start + indent, start + len(line)),
        edits=((at, at, ">-\n" + " " * indent),),
    )


def _key_indent(text: str, start: int, line: str, below: int) -> int:
    """The column of the nearest key above that stands left of `below`."""
    while start >= 0:
        match = _KEY_ONLY.match(line)
        if match is not None and len(match[1]) < below:
            return len(match[1])
        start, line = _previous_line(text, start)
    return 0


def _not_a_key(text: str, at: int, known: Collection[str]) -> Guess | None:
    """A line in key position without colon: a value that goes on unindented (P02), or a forgotten colon."""
    start, line = _line_at(text, at)
    words = _BARE_WORDS.match(line)
    if words is not None and words[1] in known:
        return _colon_after_key(start, line, words)
    above_start, above = _previous_line(text, start)
    if above_start < 0:
        return None
    glued = _NO_SPACE.match(above)
    if glued is not None and glued[2] in known:
        return _space_after_colon(above_start, above, glued)
    entry = _KEY_ONLY.match(above)
    if not _goes_on(above):
        return None
    indent = len(line) - len(line.lstrip(" "))
    wanted = (len(entry[1]) if entry is not None else indent) + len(_INDENT)
    added = " " * max(wanted - indent, 1)
    return Guess(
        cause="this line is not indented; indent it or use `>-`",
        title="indent the line",
        line=added + line,
        span=(start + indent, start + len(line)),
        edits=((start, start, added),),
    )


def _goes_on(line: str) -> bool:
    """Whether a line ends in running text that a next line can continue."""
    match = _ENTRY.match(line) or _ITEM.match(line)
    if match is None:
        return line.startswith(" ")
    value = match[4] if match.re is _ENTRY else match[2]
    return bool(value) and value[0] not in "\"'[{|>&*!"


def _quote_here(text: str, at: int, cause: str) -> Guess | None:
    """Quote the value that begins at `at`: a flow item up to its comma, else the rest of the line."""
    start, line = _line_at(text, at)
    column = at - start
    end = len(line)
    before = line[:column]
    if before.count("[") + before.count("{") > before.count("]") + before.count("}"):
        match = re.search(r"[,\]}]", line[column:])
        end = column + match.start() if match else end
    else:
        comment = re.search(r"\s#", line[column:])
        end = column + comment.start() if comment else end
    value = line[column:end].rstrip()
    if not value:
        return None
    written = quoted(value)
    return Guess(
        cause=cause,
        title="quote the value",
        line=line[:column] + written + line[column + len(value) :],
        span=(at, at + len(value)),
        edits=((at, at + len(value), written),),
    )


def _bad_start(text: str, at: int) -> Guess | None:
    character = text[at : at + 1]
    if character == "\t":
        end = at
        while text[end : end + 1] in ("\t", " "):
            end += 1
        _, line = _line_at(text, at)
        return Guess(
            cause="YAML is not indented with tabs",
            title="indent with spaces",
            line=line.replace("\t", _INDENT),
            span=(at, end),
            edits=((at, end, text[at:end].replace("\t", _INDENT)),),
        )
    return _quote_here(text, at, f"a value that begins with `{character}` must be quoted")


def _unclosed_quote(text: str, at: int) -> Guess | None:
    start, line = _line_at(text, at)
    quote = text[at : at + 1]
    rest = line[at - start :].rstrip()
    cause = "the quote that begins here is not closed"
    if rest.count(quote) != 1 or quote not in "\"'":
        return Guess(cause=cause, span=(at, at + len(rest)))
    mended = line[: at - start] + rest + quote
    end = at + len(rest)
    return Guess(cause=cause, title="close the quote", line=mended, span=(at, end), edits=((end, end, quote),))


def _unclosed_flow(text: str, problem: YamlProblem) -> Guess | None:
    """A bracket that is not closed on its line."""
    at = min(problem.span[0], len(text)) if problem.context is None else problem.context
    start, line = _line_at(text, at)
    if not _open_brackets(line):
        start, line = _previous_line(text, start)
    if start < 0:
        return None
    opened = _open_brackets(line)
    if not opened:
        return _junk_after_value(text, min(problem.span[0], len(text)))
    body = line.partition(" #")[0].rstrip()
    closing = "".join(_CLOSING[bracket] for bracket in reversed(opened))
    end = start + len(body)
    return Guess(
        cause=f"a `{opened[-1]}` is not closed",
        title=f"close it with `{closing}`",
        line=body + closing + line[len(body) :],
        span=(start + line.index(opened[0]), end),
        edits=((end, end, closing),),
    )


def _open_brackets(line: str) -> str:
    """The brackets a line opens and does not close, outside quotes."""
    stack: list[str] = []
    quote = ""
    for character in line:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in _CLOSING:
            stack.append(character)
        elif character in "]}" and stack:
            stack.pop()
    return "".join(stack)


def _junk_after_value(text: str, at: int) -> Guess | None:
    """Text after a flow list or a quoted value (P06)."""
    start, line = _line_at(text, at)
    match = _ENTRY.match(line) or _ITEM.match(line)
    if match is None:
        return None
    group = 4 if match.re is _ENTRY else 2
    value = match[group]
    if not value or value[0] not in "[{\"'" or at - start < match.start(group):
        return None
    kind = {"[": "a flow list", "{": "a flow mapping"}.get(value[0], "a quoted value")
    return _whole_value(line, start, f"text after {kind}; quote the value", (at, start + len(line)), match)


def _indentation(text: str, at: int) -> Guess | None:
    """A line whose indentation fits no line above it: align it with the nearest of its kind."""
    start, line = _line_at(text, at)
    indent = len(line) - len(line.lstrip(" "))
    is_item = line.lstrip(" ").startswith("- ")
    above_start, above = _previous_line(text, start)
    best: int | None = None
    while above_start >= 0:
        column = len(above) - len(above.lstrip(" "))
        if above.lstrip(" ").startswith("- ") == is_item and (
            best is None or abs(column - indent) < abs(best - indent)
        ):
            best = column
        above_start, above = _previous_line(text, above_start)
    if best is None or best == indent:
        return None
    return Guess(
        cause="the indentation fits no line above",
        title="align the line",
        line=" " * best + line.lstrip(" "),
        span=(start + indent, start + len(line)),
        edits=((start, start + indent, " " * best),),
    )


def comment_warnings(document: YamlDocument, base: int) -> list[Problem]:
    """Values of several words cut short by ` #`, which read like text, not like a remark (reports P16)."""
    problems: list[Problem] = []
    if document.root is not None and _may_be_cut(document.text):
        for node in _plain_values(document.root, set()):
            end = node.end_mark.index
            if document.text[end : end + 2] == " #" and " " in node.value:
                stop = document.text.find("\n", end)
                rest = document.text[end : stop if stop >= 0 else len(document.text)]
                whole = document.text[node.start_mark.index : end] + rest
                message = f"text after ` #` is a YAML comment: {shown(rest.strip())} is not part of the value"
                problems.append(
                    Problem(
                        code="yaml-comment-in-value",
                        message=f"{message}; quote it if meant",
                        span=(base + end + 1, base + end + len(rest)),
                        suggestion=quoted(whole.rstrip()),
                    )
                )
    return problems


def _may_be_cut(text: str) -> bool:
    """Whether a line holds two words without quotes and then a comment: a cheap first look."""
    at = text.find(" #")
    while at >= 0:
        before = text[text.rfind("\n", 0, at) + 1 : at].lstrip(" -")
        key, colon, value = before.partition(": ")
        if " " in (value if colon else key).strip():
            return True
        at = text.find(" #", at + 2)
    return False


def _plain_values(node: Node, seen: set[int]) -> list[ScalarNode]:
    if isinstance(node, ScalarNode):
        return [] if node.style else [node]
    if id(node) in seen:
        return []
    seen.add(id(node))
    children: list[Node] = []
    if isinstance(node, MappingNode):
        children = [value for _, value in node.value]
    elif isinstance(node, SequenceNode):
        children = list(node.value)
    return [found for child in children for found in _plain_values(child, seen)]
