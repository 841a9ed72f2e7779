"""Which permission mode is in force, and why (contract §5.5; decisions D15, D16; reports P46).

Pure. The same derivation makes a session's mode, is stored with it, and explains it; nobody else decides modes.
"""

from typing import Literal

from compozy.config.config import Config
from compozy.model.definition import PERMISSION_MODES, AgentDefinition
from compozy.model.permission import ModeDerivation, ModeSource, ModeStep


def stricter(left: str, right: str) -> str:
    """Return the stricter of two permission modes."""
    return min(left, right, key=PERMISSION_MODES.index)


def derive_mode(
    authored: str | None, settings: str, *, requested: str = "", is_capped: bool = False, parent: str = ""
) -> ModeDerivation:
    """Derive the mode in force.

    Args:
        authored: the mode that AGENT.md names, empty when it names none.
        settings: ``[permissions] mode`` as it is in force for the workspace.
        requested: the mode the client asked for; it narrows what the agent authored and replaces the settings'.
        is_capped: the definition came with a workspace and its wider mode was not trusted.
        parent: the mode of the session that spawns this one, empty for none; a child is never wider.
    """
    steps: list[ModeStep] = []
    if authored:
        mode: str = authored
        source: ModeSource = "agent"
        steps.append(ModeStep(source="agent", mode=authored, effect="sets", note="AGENT.md says permissions"))
    else:
        mode, source = settings, "settings"
        note = "AGENT.md names no mode, so [permissions] mode of the settings counts"
        steps.append(ModeStep(source="settings", mode=settings, effect="sets", note=note))
    caps: list[tuple[ModeSource, str, str]] = []
    if authored and is_capped:
        caps.append(("trust", settings, "not trusted: capped at [permissions] mode until you trust it"))
    if requested and not authored:
        mode, source = requested, "request"
        note = "asked for when the session was created; replaces the settings"
        steps.append(ModeStep(source="request", mode=requested, effect="sets", note=note))
    elif requested:
        caps.append(("request", requested, "asked for when the session was created; can only narrow"))
    if parent:
        caps.append(("parent", parent, "a child is never wider than the session that spawned it"))
    for cap, limit, note in caps:
        narrowed = stricter(mode, limit)
        effect: Literal["narrows", "keeps"] = "keeps" if narrowed == mode else "narrows"
        steps.append(ModeStep(source=cap, mode=limit, effect=effect, note=note))
        if narrowed != mode:
            mode, source = narrowed, cap
    return ModeDerivation(mode=mode, source=source, steps=tuple(steps))


def session_mode(
    definition: AgentDefinition, config: Config, *, requested: str = "", is_capped: bool = False, parent: str = ""
) -> ModeDerivation:
    """Derive the mode of a session of that agent under these settings."""
    return derive_mode(
        definition.permissions, config.permissions.mode, requested=requested, is_capped=is_capped, parent=parent
    )
