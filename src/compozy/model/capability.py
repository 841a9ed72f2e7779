"""One capability: an outcome an agent offers (formats §9.3), with its digest once computed (§10)."""

from compozy.model.record import Record


class Capability(Record, frozen=True, kw_only=True):
    """A capability record after normalising; `digest` reads ``sha256:<hex>`` or is empty before hashing."""

    id: str
    summary: str
    outcome: str
    version: str = ""
    context_needed: tuple[str, ...] = ()
    artifacts_expected: tuple[str, ...] = ()
    execution_outline: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    digest: str = ""


class DeclaredCapability(Record, frozen=True, kw_only=True):
    """A capability as an answer shows it: only `id` and `summary` when it was asked for in brief."""

    id: str
    summary: str
    outcome: str = ""
    version: str = ""
    context_needed: tuple[str, ...] = ()
    artifacts_expected: tuple[str, ...] = ()
    execution_outline: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    digest: str = ""


class AgentCapabilities(Record, frozen=True, kw_only=True):
    """What one agent declares; `detail` is ``brief`` or ``rich``."""

    agent: str
    detail: str
    capabilities: tuple[DeclaredCapability, ...]
    capabilities_digest: str
