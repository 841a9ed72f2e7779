"""Agents and their capabilities as manifests, one each, and back with the same digests (issue 8 item 3).

A capability leaves with what peers may see of it. Prompt, environment, commands and paths stay unless asked for by
name (`INCLUDE`).
"""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from compozy.documents.digests import capability_digest
from compozy.model.capability import Capability
from compozy.model.definition import AgentDefinition
from compozy.model.record import Record
from compozy.ocm.bridge.drafts import BridgeError, Draft, make_id, text_of, texts_of

# What an author may add: the prompt as instructions, or the whole definition with commands, servers and environment.
INCLUDE = ("prompt", "definition")
KEY = "compozy"
_LISTS = ("context_needed", "artifacts_expected", "execution_outline", "constraints", "requirements")


class AgentDraft(Record, frozen=True, kw_only=True):
    """An agent made from manifests."""

    definition: AgentDefinition
    is_whole: bool
    """Whether the manifests carried the whole definition, so that its digest is the same."""


def to_manifests(
    name: str,
    capabilities: Sequence[Capability],
    *,
    publisher: str,
    category_path: Sequence[str] = (),
    prompt: str = "",
    definition: AgentDefinition | None = None,
    first_position: int = 0,
) -> list[Draft]:
    """Return one manifest for each capability of an agent.

    Raises:
        BridgeError: publisher, agent or capability make no legal id; the message proposes one.
    """
    drafts = []
    for position, capability in enumerate(capabilities, first_position):
        ours: dict[str, object] = {
            "agent": name,
            "capability": capability.id,
            "position": position,
            "outcome": capability.outcome,
            **{field: list(values) for field in _LISTS if (values := getattr(capability, field))},
            "digest": capability.digest or capability_digest(capability),
        }
        if definition is not None:
            bare = msgspec.structs.replace(definition, capabilities=None)
            ours["definition"] = msgspec.to_builtins(bare)
        document: dict[str, object] = {
            "ocm": "1",
            "id": make_id(publisher, name, capability.id),
            "kind": "agent",
            "name": f"{name}: {capability.id}",
            "description": capability.summary,
            "publisher": publisher,
        }
        if capability.version:
            document["version"] = capability.version
        if prompt:
            document["instructions"] = prompt
        if category_path:
            document["capabilities"] = {"domains": list(category_path)}
        if capability.examples:
            document["examples"] = list(capability.examples)
        document["metadata"] = {KEY: ours}
        drafts.append(Draft(document=document))
    return drafts


def to_capability(document: Mapping[str, object]) -> Capability:
    """Return the capability of a manifest.

    Raises:
        BridgeError: the record differs from the digest that the manifest carries.
    """
    ours = _ours(document)
    identity = text_of(ours.get("capability")) or str(document["id"]).rpartition("/")[2]

    def listed(field: str) -> tuple[str, ...]:
        return tuple(texts_of(ours.get(field)))

    capability = Capability(
        id=identity,
        summary=str(document["description"]),
        outcome=text_of(ours.get("outcome")) or str(document["description"]),
        version=text_of(document.get("version")),
        examples=tuple(texts_of(document.get("examples"))),
        context_needed=listed("context_needed"),
        artifacts_expected=listed("artifacts_expected"),
        execution_outline=listed("execution_outline"),
        constraints=listed("constraints"),
        requirements=listed("requirements"),
    )
    digest = capability_digest(capability)
    told = text_of(ours.get("digest"))
    if told and told != digest:
        raise BridgeError(
            f"{document['id']!r} says its capability has the digest {told}, and it has {digest}: it was changed "
            f"after it was exported; remove metadata.{KEY}.digest to take it as it is"
        )
    return msgspec.structs.replace(capability, digest=digest)


def to_agents(documents: Collection[Mapping[str, object]]) -> list[AgentDraft]:
    """Return the agents that manifests describe, one for each publisher and agent.

    Raises:
        BridgeError: a manifest is of another kind, or does not match its digest.
    """
    groups: dict[tuple[str, str], list[Mapping[str, object]]] = {}
    for document in documents:
        if document["kind"] != "agent":
            raise BridgeError(f"{document['id']!r} is of kind {document['kind']}; only kind agent becomes an agent")
        groups.setdefault((text_of(document.get("publisher")), _agent_name(document)), []).append(document)
    return [_agent(name, group) for (_, name), group in groups.items()]


def _agent(name: str, group: Sequence[Mapping[str, object]]) -> AgentDraft:
    # Files lie in the order of their names; the catalog's own order is part of its digest.
    group = sorted(group, key=_position)
    capabilities = tuple(to_capability(document) for document in group)
    first = group[0]
    carried = _ours(first).get("definition")
    if isinstance(carried, Mapping):
        try:
            definition = msgspec.convert(dict(carried), AgentDefinition)
        except msgspec.ValidationError as error:
            raise BridgeError(f"{first['id']!r} carries a definition that cannot be read: {error}") from error
        whole = msgspec.structs.replace(definition, capabilities=capabilities)
        return AgentDraft(definition=whole, is_whole=True)
    section = first.get("capabilities")
    domains = texts_of(section.get("domains")) if isinstance(section, Mapping) else []
    # A prompt is what makes an agent; without the author's, its summary at least says what it is for.
    prompt = text_of(first.get("instructions")) or "\n".join(f"- {one.summary}" for one in capabilities)
    definition = AgentDefinition(name=name, prompt=prompt, category_path=tuple(domains), capabilities=capabilities)
    return AgentDraft(definition=definition, is_whole=False)


def _position(document: Mapping[str, object]) -> int:
    told = _ours(document).get("position")
    return told if isinstance(told, int) else 0


def _agent_name(document: Mapping[str, object]) -> str:
    told = text_of(_ours(document).get("agent"))
    parts = str(document["id"]).split("/")
    return told or (parts[-2] if len(parts) > 1 else parts[0])


def _ours(document: Mapping[str, object]) -> Mapping[str, object]:
    metadata = document.get("metadata")
    found = metadata.get(KEY) if isinstance(metadata, Mapping) else None
    return found if isinstance(found, Mapping) else {}
