"""Trust before execution, first cut (decisions D15): what a workspace brings does not run, and does not widen.

A definition of the home is trusted. One that lies in a workspace and names a command, MCP servers or hooks cannot
start a session until it was trusted; its permissions never exceed the home's mode. Granting comes with issue 5.
"""

from compozy.config.config import Config
from compozy.model.agent import Origin
from compozy.model.definition import AgentDefinition
from compozy.model.errors import Conflict
from compozy.runtime.sessions.policy import stricter


def require_trust(definition: AgentDefinition, origin: Origin, digest: str, config: Config) -> None:
    """Refuse a definition that would run something of a workspace.

    Raises:
        Conflict: code `trust_required`, naming what would run.
    """
    if origin != "workspace" or config.trust.mode == "off":
        return
    brings = [
        label
        for label, present in (
            ("command", bool(definition.command)),
            ("mcp_servers", bool(definition.mcp_servers)),
            ("hooks", bool(definition.hooks)),
        )
        if present
    ]
    if brings:
        raise Conflict(
            f"agent {definition.name!r} lies in a workspace and brings {', '.join(brings)}, which was not trusted: "
            "move it to the home's agents folder, or set [trust] mode = \"off\" in the home's config.toml "
            "(`compozy trust grant` arrives with a later version)",
            code="trust_required",
            category="trust",
            evidence={"agent": definition.name, "definition_digest": digest, "brings": brings},
            diagnostic=True,
        )


def permission_mode(definition: AgentDefinition, origin: Origin, requested: str, config: Config) -> str:
    """Return the mode in force: the agent's, else the home's; a workspace never widens, a request only narrows."""
    home = config.permissions.mode
    mode = definition.permissions
    if not mode:
        return requested or home
    if origin == "workspace" and config.trust.mode != "off":
        mode = stricter(mode, home)
    return stricter(mode, requested) if requested else mode
