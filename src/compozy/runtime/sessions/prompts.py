"""What an agent is told: the startup prompt, frozen at creation, and the text of each turn (contract §5.7, §5.4).

Blocks in order: runtime envelope, situation, memory, AGENT.md body, soul, skills, tools, network. The empty slots
are filled as those parts of the product arrive; budgets count characters.
"""

import re
from collections.abc import Mapping

import msgspec

ENVELOPE_OPEN, ENVELOPE_CLOSE = "<compozy-runtime-context>", "</compozy-runtime-context>"
SITUATION_OPEN, SITUATION_CLOSE = "<compozy-situation-context>", "</compozy-situation-context>"
SITUATION_BUDGET = 20_000

GUIDANCE_HEADER = "Guidance of the system for this whole session. It is not part of the user's request."
REQUEST_HEADER = "User request:"
DELIVERY = "first_turn_prefix"

_ENVELOPE = re.compile(re.escape(ENVELOPE_OPEN) + r".*?" + re.escape(ENVELOPE_CLOSE) + r"\s*", re.DOTALL)

_ENVELOPE_TEXT = (
    "# Compozy Runtime\n\n"
    "You run inside a session that compozy, a local runtime for agents, keeps on this machine. What you say and do "
    "is recorded there. Ask for permission where your work needs it; a refusal is final for that step. The facts "
    "below are those of this session."
)


def strip_envelope(text: str) -> str:
    """Remove every runtime envelope from text that somebody else wrote."""
    return _ENVELOPE.sub("", text)


def envelope(facts: Mapping[str, str]) -> str:
    """Return the runtime envelope with its facts, empty ones left out."""
    lines = "\n".join(f"- {key}: {' '.join(value.split())}" for key, value in facts.items() if value)
    return f"{ENVELOPE_OPEN}\n{_ENVELOPE_TEXT}\n\n{lines}\n{ENVELOPE_CLOSE}"


def situation(sections: Mapping[str, object]) -> str:
    """Return the situation block, or nothing when it exceeds its budget."""
    text = f"{SITUATION_OPEN}\n{msgspec.json.encode(sections).decode()}\n{SITUATION_CLOSE}"
    return text if len(text) <= SITUATION_BUDGET else ""


def startup_prompt(
    *,
    facts: Mapping[str, str],
    sections: Mapping[str, object],
    body: str,
    memory: str = "",
    soul: str = "",
    skills: str = "",
    tools: str = "",
) -> str:
    """Join the blocks by a blank line; exactly one envelope stands in front."""
    blocks = (situation(sections), memory, body, soul, skills, tools)
    rest = [strip_envelope(block).strip() for block in blocks]
    return "\n\n".join([envelope(facts), *(block for block in rest if block)])


def first_turn(guidance: str, text: str, *, history: str = "") -> str:
    """Return the first prompt of an agent session: guidance, what went before if it was lost, then the request.

    Without guidance and history it is the request alone.
    """
    if not guidance and not history:
        return text
    parts = [GUIDANCE_HEADER, guidance, history, f"{REQUEST_HEADER}\n{text}"]
    return "\n\n".join(part for part in parts if part)


def prompt_meta(*, is_first: bool) -> dict[str, object]:
    """Return `_meta` of `session/prompt`."""
    meta: dict[str, object] = {"turn_source": "user"}
    if is_first:
        meta["system"] = {"prompt_delivery": DELIVERY}
    return meta
