"""The language of the scripted model: a prompt carries its own script, so that the model server keeps no state.

In the last user text that holds ``[[...]]`` each directive is one model turn; the turn used is the number of tool
results since that text:

    [[read PATH]]  [[write PATH|TEXT]]  [[edit PATH|OLD|NEW]]  [[sh COMMAND]]  [[tool NAME {json}]]
    (NAME may be the end of a longer one)
    [[say TEXT]]   the final text (else "DONE n")         [[think TEXT]]  reasoning before the first turn
    [[slow N MS]]  N words, MS milliseconds apart         [[big BYTES]]   one unbroken text
    [[http CODE]]  answer with that status                [[hang SECONDS]] send headers, then nothing
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

Json = dict[str, object]
Tools = Mapping[str, Mapping[str, object] | None]

_DIRECTIVE = re.compile(r"\[\[(.+?)\]\]", re.DOTALL)
# Names that agents give their tools and arguments, the likeliest first.
_READ = ("read_file", "Read", "read", "read_text_file", "view")
_WRITE = ("write_file", "Write", "write", "write_text_file", "create")
_EDIT = ("edit_file", "Edit", "replace", "edit", "edit_text_file")
_SHELL = ("run_shell_command", "Bash", "bash", "shell", "execute", "terminal", "run_command")
_PATHS = ("file_path", "absolute_path", "filePath", "path", "filename")
_TEXTS = ("content", "contents", "text", "file_text")
_COMMANDS = ("command", "cmd", "script")
_OLD, _NEW = ("old_string", "oldString", "old_str", "old"), ("new_string", "newString", "new_str", "new")


class Call(NamedTuple):
    """One tool call the model makes."""

    name: str
    arguments: Json


class Plan(NamedTuple):
    """What the model does in one of its turns: calls, or text in pieces, or something unkind."""

    calls: tuple[Call, ...] = ()
    pieces: tuple[str, ...] = ()
    thinking: str = ""
    delay: float = 0.0
    status: int = 0
    hang: float = 0.0


def plan(history: Sequence[str | None], tools: Tools) -> Plan:
    """Decide the next turn from the conversation: user texts, and None for each tool result."""
    start, directives = -1, list[str]()
    for index, text in enumerate(history):
        found = _DIRECTIVE.findall(text or "")
        if found:
            start, directives = index, found
    if start < 0 or not tools:
        return Plan(pieces=("ok",) if not tools else ("DONE 0",))
    results = sum(1 for text in history[start + 1 :] if text is None)
    said: dict[str, str] = {}
    steps = []
    for directive in directives:
        verb, _, rest = directive.strip().partition(" ")
        if verb in ("think", "say", "slow", "big"):
            said[verb] = rest
        else:
            steps.append((verb, rest))
    thinking = said.get("think", "") if results == 0 else ""
    if results < len(steps):
        return _step(*steps[results], tools)._replace(thinking=thinking)
    return _ending(said, results)._replace(thinking=thinking)


def _ending(said: Mapping[str, str], results: int) -> Plan:
    if "big" in said:
        return Plan(pieces=("B" * int(said["big"]),))
    if "slow" in said:
        count, milliseconds = said["slow"].split()
        return Plan(pieces=tuple(f"w{number} " for number in range(int(count))), delay=int(milliseconds) / 1000)
    return Plan(pieces=tuple(re.findall(r"\S+\s*", said.get("say", f"DONE {results}"))))


def _step(verb: str, rest: str, tools: Tools) -> Plan:
    if verb == "http":
        return Plan(status=int(rest))
    if verb == "hang":
        return Plan(hang=float(rest))
    if verb == "tool":
        wanted_name, _, arguments = rest.partition(" ")
        # Agents put the server's name in front of an MCP tool's, each in its own way.
        found = next((one for one in tools if one.endswith(wanted_name)), wanted_name)
        return Plan(calls=(Call(found, json.loads(arguments or "{}")),))
    path, _, text = rest.partition("|")
    old, _, new = text.partition("|")
    wanted: dict[str, tuple[Sequence[str], list[tuple[Sequence[str], str]]]] = {
        "read": (_READ, [(_PATHS, rest)]),
        "write": (_WRITE, [(_PATHS, path), (_TEXTS, text)]),
        "edit": (_EDIT, [(_PATHS, path), (_OLD, old), (_NEW, new)]),
        "sh": (_SHELL, [(_COMMANDS, rest), (("description",), "a scripted command")]),
    }
    names, values = wanted.get(verb, ((), []))
    name = next((one for one in names if one in tools), None)
    if name is None:
        return Plan(pieces=(f"NO TOOL for {verb!r} among {sorted(tools)}",))
    return Plan(calls=(Call(name, _fill(tools[name] or {}, values)),))


def _fill(schema: Mapping[str, object], values: Sequence[tuple[Sequence[str], str]]) -> Json:
    """Build arguments that fit a tool's JSON schema; what is required beyond ours gets a harmless value."""
    properties = schema.get("properties")
    properties = properties if isinstance(properties, dict) else {}
    filled: Json = {}
    for names, value in values:
        name = next((one for one in names if one in properties), None)
        if name is not None:
            filled[name] = value
    required = schema.get("required")
    for name in required if isinstance(required, list) else []:
        if name not in filled:
            filled[name] = _harmless(properties.get(name, {}))
    return filled


def _harmless(schema: Mapping[str, object]) -> object:
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        return choices[0]
    by_type: dict[object, object] = {"integer": 1, "number": 1, "boolean": False, "array": [], "object": {}}
    return by_type.get(schema.get("type"), "scripted")
