"""The fleet as Open Capability Manifests: the answer of the catalog route (issue 8 item 5)."""

from compozy.model.record import Record


class Skipped(Record, frozen=True, kw_only=True):
    """A capability that has no manifest."""

    agent: str
    capability: str
    reason: str


class OcmIndexRow(Record, frozen=True, kw_only=True):
    """A manifest in short: where it lies, its digest, and the words a search finds it by."""

    id: str
    kind: str
    name: str
    summary: str
    path: str
    digest: str
    terms: tuple[str, ...]
    publisher: str = ""
    version: str = ""


class OcmIndex(Record, frozen=True, kw_only=True):
    """The index of the manifests of a place."""

    ocm_index: str
    generator: str
    count: int
    capabilities: tuple[OcmIndexRow, ...]


class CardInterface(Record, frozen=True, kw_only=True, rename="camel"):
    """Where an agent is reached, and how."""

    url: str
    protocol_binding: str
    protocol_version: str


class CardSkill(Record, frozen=True, kw_only=True):
    """What an agent offers."""

    id: str
    name: str
    description: str
    tags: tuple[str, ...]
    examples: tuple[str, ...] = ()


class CardProvider(Record, frozen=True, kw_only=True):
    """Who offers it."""

    organization: str
    url: str


class AgentCard(Record, frozen=True, kw_only=True, rename="camel"):
    """An A2A agent card."""

    name: str
    description: str
    version: str
    supported_interfaces: tuple[CardInterface, ...]
    capabilities: dict[str, object]
    default_input_modes: tuple[str, ...]
    default_output_modes: tuple[str, ...]
    skills: tuple[CardSkill, ...]
    provider: CardProvider | None = None


class OcmCatalog(Record, frozen=True, kw_only=True, omit_defaults=False):
    """The manifests of a place."""

    manifests: tuple[dict[str, object], ...]
    skipped: tuple[Skipped, ...]
