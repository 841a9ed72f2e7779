"""The startup prompt as text: one runtime envelope in front, then the blocks in their order and within their budgets.

Pure. Order and budgets are contract §5.7; a budget counts characters (runes), its mark included. The situation is
left out when it is too long, because half a JSON object says nothing; the others are cut.
"""

import re
from collections.abc import Mapping

import msgspec

from compozy.runtime.sessions.startup.slots import Blocks

ENVELOPE_OPEN, ENVELOPE_CLOSE = "<compozy-runtime-context>", "</compozy-runtime-context>"
SITUATION_OPEN, SITUATION_CLOSE = "<compozy-situation-context>", "</compozy-situation-context>"
SITUATION_BUDGET = 20_000
MEMORY_BUDGET = 24_000
SOUL_BUDGET = 16_000
SKILLS_BUDGET = 16_000
TOOLS_BUDGET = 48_000
CUT_MARK = "\n[cut here: the rest is longer than this part may be]"

SITUATION_ORDER = (
    "self",
    "workspace",
    "session",
    "soul",
    "task",
    "coordination_channel",
    "inbox_summary",
    "peer_roster",
    "capabilities",
    "limits",
    "provenance",
)

_ENVELOPE = re.compile(
    re.escape(ENVELOPE_OPEN) + r".*?" + re.escape(ENVELOPE_CLOSE) + r"\s*", re.DOTALL | re.IGNORECASE
)
_TAG = re.compile(r"</?compozy-runtime-context>", re.IGNORECASE)

_ENVELOPE_TEXT = (
    "# Compozy Runtime\n\n"
    "You run inside a session that compozy, a local runtime for agents, keeps on this machine. What you say and do "
    "is recorded there. Ask for permission where your work needs it; a refusal is final for that step. The facts "
    "below are those of this session."
)

TOOLS_RULE = (
    "# Tools of this session\n\n"
    "compozy offers you tools over MCP. Before you run a shell command for something a tool may do:\n"
    "1. resolve which tool does it with `tool_search`;\n"
    "2. look at its input with `tool_info`;\n"
    "3. for a way of working rather than a single call, find a skill with `skill_search` and load it with "
    "`skill_view`;\n"
    "4. call the tool that was returned. Use the shell only when no tool fits.\n"
    "Their full names are `compozy__tool_search`, `compozy__tool_info`, `compozy__skill_search` and "
    "`compozy__skill_view`. What a search shows as denied stays denied: do not look for a way around it."
)


def strip_envelope(text: str) -> str:
    """Remove every runtime envelope, and every stray end of one, from text that somebody else wrote."""
    while True:
        # Again until nothing changes: what is left after a removal may join to a new one.
        stripped = _TAG.sub("", _ENVELOPE.sub("", text))
        if stripped == text:
            return text
        text = stripped


def envelope(facts: Mapping[str, str]) -> str:
    """Return the runtime envelope with its facts, empty ones left out."""
    lines = "\n".join(f"- {key}: {' '.join(strip_envelope(value).split())}" for key, value in facts.items() if value)
    return f"{ENVELOPE_OPEN}\n{_ENVELOPE_TEXT}\n\n{lines}\n{ENVELOPE_CLOSE}"


def situation(sections: Mapping[str, object]) -> str:
    """Return the situation block with its sections in order, or nothing when it exceeds its budget."""
    ordered = {name: sections[name] for name in SITUATION_ORDER if name in sections}
    text = f"{SITUATION_OPEN}\n{msgspec.json.encode(ordered).decode()}\n{SITUATION_CLOSE}"
    return text if len(text) <= SITUATION_BUDGET else ""


def within(text: str, budget: int) -> str:
    """Return the text cut to a budget of characters, with a mark that says so."""
    return text if len(text) <= budget else text[: budget - len(CUT_MARK)] + CUT_MARK


def tools_block(blocks: Blocks) -> str:
    """Return the rule about tools with what their owner adds; nothing for a session without tools."""
    if blocks.tools is None:
        return ""
    return "\n\n".join(part for part in (TOOLS_RULE, strip_envelope(blocks.tools).strip()) if part)


def startup_prompt(
    *,
    facts: Mapping[str, str],
    sections: Mapping[str, object],
    body: str,
    blocks: Blocks | None = None,
    overlay: str = "",
) -> str:
    """Join the blocks by a blank line; exactly one envelope stands in front. `overlay` follows the body."""
    blocks = blocks or Blocks()
    parts = (
        situation(sections),
        within(_clean(blocks.memory), MEMORY_BUDGET),
        _clean(body),
        _clean(overlay),
        within(_clean(blocks.soul), SOUL_BUDGET),
        within(_clean(blocks.skills), SKILLS_BUDGET),
        within(tools_block(blocks), TOOLS_BUDGET),
    )
    return "\n\n".join([envelope(facts), *(strip_envelope(part) for part in parts if part)])


def _clean(text: str) -> str:
    return strip_envelope(text).strip()
