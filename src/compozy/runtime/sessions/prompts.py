"""The text of a prompt as it is sent: guidance and context in front of the user's words (contract §5.4 step 8).

Pure. What the guidance consists of is `startup/`.
"""

from collections.abc import Sequence

GUIDANCE_HEADER = "Guidance of the system for this whole session. It is not part of the user's request."
REQUEST_HEADER = "User request:"
DELIVERY = "first_turn_prefix"


def first_turn(guidance: str, text: str, *, history: str = "", context: Sequence[str] = ()) -> str:
    """Return the first prompt of an agent session: guidance, what went before if it was lost, then the request.

    Without anything in front it is the request alone.
    """
    if not guidance and not history and not context:
        return text
    parts = [GUIDANCE_HEADER, guidance, history, *context, f"{REQUEST_HEADER}\n{text}"]
    return "\n\n".join(part for part in parts if part)


def later_turn(text: str, context: Sequence[str]) -> str:
    """Return the prompt of an agent session that knows its guidance: the turn's context, then the request."""
    if not context:
        return text
    return "\n\n".join([*context, f"{REQUEST_HEADER}\n{text}"])


def prompt_meta(*, is_first: bool) -> dict[str, object]:
    """Return `_meta` of `session/prompt`."""
    meta: dict[str, object] = {"turn_source": "user"}
    if is_first:
        meta["system"] = {"prompt_delivery": DELIVERY}
    return meta
