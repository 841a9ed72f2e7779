"""Asking an agent for a speed, the last step of the negotiation (contract §5.4 step 7; shapes: speed_resolution).

Only an unambiguous select option is used: an agent without one goes on at its own speed, and that is recorded. An
agent that refuses what it offers is an error.
"""

from collections.abc import Mapping, Sequence

from compozy.acp.contract import SessionOptions
from compozy.model.session import ConfigOption, Speed, SpeedReason, SpeedResolution

# Ids under which agents offer speeds, and words for the ordinary one.
_NAMES = ("speed", "speed_tier", "service_tier")
_CATEGORY = "speed"
_WORDS: Mapping[Speed, Sequence[str]] = {"fast": ("fast",), "normal": ("normal", "standard", "default")}


def speed_option(options: SessionOptions, speed: Speed) -> tuple[ConfigOption, str] | SpeedResolution:
    """Return the option and the value that stand for a speed, or why there are none."""
    found = [
        option
        for option in options.config_options
        if option.kind == "select"
        and (_plain(option.id) in _NAMES or options.option_categories.get(option.id) == _CATEGORY)
    ]
    if len(found) != 1:
        return _unsupported(speed, "capability_ambiguous" if found else "capability_absent")
    values = {value.value for value in found[0].values}
    if speed in values:
        return found[0], speed
    meant = [value for value in sorted(values) if _plain(value) in _WORDS[speed]]
    return (found[0], meant[0]) if len(meant) == 1 else _unsupported(speed, "value_ambiguous")


def _plain(text: str) -> str:
    return text.casefold().replace("-", "_").replace(" ", "_")


def _unsupported(speed: Speed, reason: SpeedReason) -> SpeedResolution:
    return SpeedResolution(requested=speed, status="unsupported", reason=reason)
