"""Text to records and back, with positions: AGENT.md, capability catalogs, mcp.json, digests, diagnostics.

The small documented API is what `__all__` names; each name is imported when it is first used, because commands that
need no definitions must start without a YAML reader.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compozy.documents.agents import AgentReport, LoadedAgent, check_agent, load_agent, load_named_agent
    from compozy.documents.canonical import definition_digest
    from compozy.documents.capabilities import CapabilitiesReport, check_capabilities, load_capabilities
    from compozy.documents.digests import capabilities_digest, capability_digest
    from compozy.documents.mcp_json import McpOutcome, check_mcp_json, load_mcp
    from compozy.documents.problems import DefinitionError

__all__ = [
    "AgentReport",
    "CapabilitiesReport",
    "DefinitionError",
    "LoadedAgent",
    "McpOutcome",
    "capabilities_digest",
    "capability_digest",
    "check_agent",
    "check_capabilities",
    "check_mcp_json",
    "definition_digest",
    "load_agent",
    "load_capabilities",
    "load_mcp",
    "load_named_agent",
]

_HOMES = {
    "AgentReport": "agents",
    "CapabilitiesReport": "capabilities",
    "DefinitionError": "problems",
    "LoadedAgent": "agents",
    "McpOutcome": "mcp_json",
    "capabilities_digest": "digests",
    "capability_digest": "digests",
    "check_agent": "agents",
    "check_capabilities": "capabilities",
    "check_mcp_json": "mcp_json",
    "definition_digest": "canonical",
    "load_agent": "agents",
    "load_capabilities": "capabilities",
    "load_mcp": "mcp_json",
    "load_named_agent": "agents",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'compozy.documents' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - start-up cost

    value: object = getattr(import_module(f"compozy.documents.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
