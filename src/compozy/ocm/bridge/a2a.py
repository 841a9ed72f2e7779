"""A2A agent cards (protocol 1.0, reading 0.3 too) and manifests of kind `agent` (issue 8 item 3).

Security schemes and signatures have no place in a manifest; prices and constraints none in a card: both are named.
"""

from collections.abc import Mapping, Sequence

from compozy.ocm.bridge.drafts import BridgeError, Draft, slug_id, text_of, texts_of

A2A_VERSION = "1.0"
_MODES = {"text": "text/plain", "image": "image/*", "audio": "audio/*", "video": "video/*"}
_CARD_FIELDS = frozenset(
    ("name", "description", "version", "supportedInterfaces", "skills", "provider", "defaultInputModes")
) | frozenset(("defaultOutputModes", "url", "preferredTransport", "additionalInterfaces", "protocolVersion"))
_MAX_EXAMPLES = 24
_MANIFEST_FIELDS = frozenset(
    ("ocm", "id", "kind", "name", "description", "publisher", "version", "endpoints", "examples", "metadata")
)


def is_card(value: object) -> bool:
    """Whether a value looks like an agent card."""
    return isinstance(value, Mapping) and "skills" in value and "name" in value and "ocm" not in value


def from_card(card: Mapping[str, object], *, publisher: str = "") -> Draft:
    """Return the manifest of an agent card.

    Raises:
        BridgeError: the card has no name or description.
    """
    name, description = text_of(card.get("name")), text_of(card.get("description"))
    if not name or not description:
        raise BridgeError("the agent card has no name or no description; both are required")
    provider = card.get("provider")
    organization = text_of(provider.get("organization")) if isinstance(provider, Mapping) else ""
    who = publisher or organization
    skills = [one for one in _rows(card.get("skills")) if text_of(one.get("id")) or text_of(one.get("name"))]
    endpoints, skipped = _endpoints(card)
    modes = [*texts_of(card.get("defaultInputModes")), *texts_of(card.get("defaultOutputModes"))]
    examples = [text for skill in skills for text in texts_of(skill.get("examples"))][:_MAX_EXAMPLES]
    tags = list(dict.fromkeys(tag for skill in skills for tag in texts_of(skill.get("tags"))))
    section: dict[str, object] = {
        "actions": [text_of(skill.get("id")) or text_of(skill.get("name")) for skill in skills],
        "domains": tags,
        "modalities": list(dict.fromkeys(map(_modality, modes))) or ["text"],
    }
    document: dict[str, object] = {
        "ocm": "1",
        "id": slug_id(*((who, name) if who else (name,))),
        "kind": "agent",
        "name": name,
        "description": description,
    }
    for field, value in (("publisher", who), ("version", text_of(card.get("version")))):
        if value:
            document[field] = value
    document["capabilities"] = {key: value for key, value in section.items() if value}
    if endpoints:
        document["endpoints"] = endpoints
    if examples:
        document["examples"] = examples
    kept = [{key: skill[key] for key in ("id", "name", "description", "tags") if key in skill} for skill in skills]
    document["metadata"] = {"a2a": {"skills": kept}}
    unmapped = [f"{field} of the card" for field in card if field not in _CARD_FIELDS]
    return Draft(document=document, unmapped=(*unmapped, *skipped))


def to_card(
    manifests: Sequence[Mapping[str, object]], *, name: str, description: str, version: str = "", publisher: str = ""
) -> tuple[dict[str, object], tuple[str, ...]]:
    """Return one card for an agent that offers these manifests as skills, and what had no place in it."""
    interfaces: list[dict[str, object]] = []
    skills: list[dict[str, object]] = []
    unmapped: list[str] = []
    modes: dict[str, None] = {}
    for manifest in manifests:
        identity = str(manifest["id"])
        section = manifest.get("capabilities")
        offered: Mapping[str, object] = section if isinstance(section, Mapping) else {}
        for endpoint in _rows(manifest.get("endpoints")):
            if endpoint.get("protocol") == "a2a":
                found = {"url": endpoint.get("url"), "protocolBinding": "JSONRPC", "protocolVersion": A2A_VERSION}
                interfaces += [found] if found not in interfaces else []
            else:
                unmapped.append(f"{identity}: endpoint {endpoint.get('protocol')}")
        modes.update(dict.fromkeys(_MODES.get(one, one) for one in texts_of(offered.get("modalities")) or ["text"]))
        skill: dict[str, object] = {
            "id": identity,
            "name": text_of(manifest.get("name")) or identity,
            "description": str(manifest["description"]),
            "tags": list(dict.fromkeys((*texts_of(offered.get("domains")), *texts_of(offered.get("tags"))))),
        }
        if examples := texts_of(manifest.get("examples")):
            skill["examples"] = examples
        skills.append(skill)
        unmapped += [f"{identity}: {field}" for field in manifest if field not in _MANIFEST_FIELDS | {"capabilities"}]
    card: dict[str, object] = {
        "name": name,
        "description": description,
        "version": version or "0",
        "supportedInterfaces": interfaces,
        "capabilities": {},
        "defaultInputModes": list(modes) or ["text/plain"],
        "defaultOutputModes": list(modes) or ["text/plain"],
        "skills": skills,
    }
    if publisher:
        card["provider"] = {"organization": publisher, "url": ""}
    return card, tuple(dict.fromkeys(unmapped))


def _endpoints(card: Mapping[str, object]) -> tuple[list[dict[str, object]], list[str]]:
    rows = [
        (text_of(one.get("url")), text_of(one.get("protocolBinding")))
        for one in _rows(card.get("supportedInterfaces"))
    ]
    if not rows and text_of(card.get("url")):
        # Cards of 0.3 name one address and its transport, and others beside it.
        rows = [(text_of(card.get("url")), text_of(card.get("preferredTransport")) or "JSONRPC")]
        rows += [
            (text_of(o.get("url")), text_of(o.get("transport"))) for o in _rows(card.get("additionalInterfaces"))
        ]
    endpoints: list[dict[str, object]] = []
    skipped = []
    for url, binding in dict.fromkeys(rows):
        if binding.upper() == "JSONRPC" and url.startswith(("http://", "https://")):
            endpoints.append({"protocol": "a2a", "url": url})
        else:
            skipped.append(f"interface {binding or 'without a binding'} at {url or 'no address'}")
    return endpoints, skipped


def _rows(value: object) -> list[Mapping[str, object]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _modality(mode: str) -> str:
    head = mode.partition("/")[0].lower()
    return "text" if head in ("text", "application", "") else head
