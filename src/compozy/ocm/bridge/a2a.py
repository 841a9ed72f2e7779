"""A2A agent cards (protocol 1.0, reading 0.3 too) and manifests of kind `agent` (issue 8 item 3).

Security schemes and signatures have no place in a manifest; prices and constraints none in a card: each is named.
Skills and protocol versions are kept under `metadata.a2a`, so that a card comes back from its manifest.
"""

from collections.abc import Iterable, Mapping, Sequence

from compozy.ocm.bridge.drafts import BridgeError, Draft, slug_id, text_of, texts_of

A2A_VERSION = "1.0"
_EARLIER_VERSION = "0.3"
KEY = "a2a"
_MODES = {"text": "text/plain", "image": "image/*", "audio": "audio/*", "video": "video/*"}
_MAX_EXAMPLES = 24
_CARD_FIELDS = frozenset(
    ("name", "description", "version", "supportedInterfaces", "skills", "provider", "capabilities",
     "defaultInputModes", "defaultOutputModes")
) | frozenset(("url", "preferredTransport", "additionalInterfaces", "protocolVersion"))  # fmt: skip
_SKILL_FIELDS = frozenset(("id", "name", "description", "tags", "examples"))
# What becomes a part of a skill. Streaming belongs to the whole card and is said there when all can do it.
_MANIFEST_FIELDS = frozenset(
    ("ocm", "id", "kind", "name", "description", "endpoints", "examples", "capabilities", "metadata")
)
_CAPABILITY_FIELDS = frozenset(("domains", "tags", "modalities"))


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
    provider = _mapping(card.get("provider"))
    who = publisher or text_of(provider.get("organization"))
    given = _rows(card.get("skills"))
    skills = [one for one in given if text_of(one.get("id")) or text_of(one.get("name"))]
    interfaces, skipped = _interfaces(card)
    examples = [text for skill in skills for text in texts_of(skill.get("examples"))]
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
    document["capabilities"] = _capabilities(card, skills)
    if interfaces:
        document["endpoints"] = [{"protocol": "a2a", "url": url} for url in interfaces]
    if examples:
        document["examples"] = examples[:_MAX_EXAMPLES]
    document["metadata"] = {KEY: {"skills": [dict(skill) for skill in skills], "versions": interfaces}}
    unmapped = [f"{field} of the card" for field, value in card.items() if field not in _CARD_FIELDS and value]
    offered = _mapping(card.get("capabilities"))
    unmapped += [f"capabilities.{one} of the card" for one, value in offered.items() if one != "streaming" and value]
    unmapped += [f"provider.{one} of the card" for one, value in provider.items() if one != "organization" and value]
    unmapped += [*skipped, *_unmapped_of_skills(skills)]
    if len(examples) > _MAX_EXAMPLES:
        unmapped.append(f"{len(examples) - _MAX_EXAMPLES} of {len(examples)} examples (kept under metadata.{KEY})")
    unmapped += ["a skill without id and name"] * (len(given) - len(skills))
    return Draft(document=document, unmapped=tuple(unmapped))


def _capabilities(card: Mapping[str, object], skills: Sequence[Mapping[str, object]]) -> dict[str, object]:
    modes = [*texts_of(card.get("defaultInputModes")), *texts_of(card.get("defaultOutputModes"))]
    section: dict[str, object] = {
        "actions": [text_of(skill.get("id")) or text_of(skill.get("name")) for skill in skills],
        "domains": list(dict.fromkeys(tag for skill in skills for tag in texts_of(skill.get("tags")))),
        "modalities": list(dict.fromkeys(map(_modality, modes))) or ["text"],
    }
    found = {key: value for key, value in section.items() if value}
    streaming = _mapping(card.get("capabilities")).get("streaming")
    return {**found, "supports_streaming": streaming} if isinstance(streaming, bool) else found


def _unmapped_of_skills(skills: Sequence[Mapping[str, object]]) -> Iterable[str]:
    for skill in skills:
        fields = [field for field, value in skill.items() if field not in _SKILL_FIELDS and value]
        if fields:
            named = text_of(skill.get("id")) or text_of(skill.get("name"))
            yield f"skill {named}: {', '.join(fields)} (kept under metadata.{KEY})"


def card_of(manifest: Mapping[str, object]) -> tuple[dict[str, object], tuple[str, ...]]:
    """Return the card of one agent, with the skills it was imported with, and what had no place in it."""
    own = _rows(_imported(manifest).get("skills"))
    publisher = text_of(manifest.get("publisher"))
    card, unmapped = to_card(
        [manifest],
        name=text_of(manifest.get("name")) or str(manifest["id"]),
        description=str(manifest["description"]),
        version=text_of(manifest.get("version")),
        publisher=publisher,
    )
    if not own:
        return card, unmapped
    card["skills"] = [dict(skill) for skill in own]
    said = {f"{manifest['id']}: {field}" for field in ("capabilities.actions", f"metadata.{KEY}")}
    return card, tuple(one for one in unmapped if one not in said)


def to_card(
    manifests: Sequence[Mapping[str, object]], *, name: str, description: str, version: str = "", publisher: str = ""
) -> tuple[dict[str, object], tuple[str, ...]]:
    """Return one card for an agent that offers these manifests as skills, and what had no place in it."""
    interfaces: list[dict[str, object]] = []
    skills: list[dict[str, object]] = []
    unmapped: list[str] = []
    modes: dict[str, None] = {}
    streams = _streaming(manifests)
    for manifest in manifests:
        identity = str(manifest["id"])
        offered = _mapping(manifest.get("capabilities"))
        versions = _mapping(_imported(manifest).get("versions"))
        for endpoint in _rows(manifest.get("endpoints")):
            if endpoint.get("protocol") == "a2a":
                spoken = text_of(versions.get(str(endpoint.get("url")))) or A2A_VERSION
                found = {"url": endpoint.get("url"), "protocolBinding": "JSONRPC", "protocolVersion": spoken}
                interfaces += [found] if found not in interfaces else []
                rest = [key for key in endpoint if key not in ("protocol", "url")]
                unmapped += [f"{identity}: endpoint a2a: {', '.join(rest)}"] if rest else []
            else:
                unmapped.append(f"{identity}: endpoint {endpoint.get('protocol')}")
        modes.update(dict.fromkeys(_MODES.get(one, one) for one in texts_of(offered.get("modalities")) or ["text"]))
        skills.append(_skill(manifest, identity, offered))
        said = {
            field for field, value in (("version", version), ("publisher", publisher)) if manifest.get(field) == value
        }
        said |= {"capabilities.supports_streaming"} if streams is not None else set()
        unmapped += [f"{identity}: {field}" for field in _unmapped_of(manifest, offered) if field not in said]
    card: dict[str, object] = {
        "name": name,
        "description": description,
        "version": version or "0",
        "supportedInterfaces": interfaces,
        "capabilities": {} if streams is None else {"streaming": streams},
        "defaultInputModes": list(modes) or ["text/plain"],
        "defaultOutputModes": list(modes) or ["text/plain"],
        "skills": skills,
    }
    if publisher:
        card["provider"] = {"organization": publisher, "url": ""}
    return card, tuple(dict.fromkeys(unmapped))


def _streaming(manifests: Sequence[Mapping[str, object]]) -> bool | None:
    """Return what all of them say of streaming; None where they differ or say nothing."""
    said = [_mapping(manifest.get("capabilities")).get("supports_streaming") for manifest in manifests]
    first = said[0] if said else None
    return first if isinstance(first, bool) and all(one is first for one in said) else None


def _skill(manifest: Mapping[str, object], identity: str, offered: Mapping[str, object]) -> dict[str, object]:
    skill: dict[str, object] = {
        "id": identity,
        "name": text_of(manifest.get("name")) or identity,
        "description": str(manifest["description"]),
        "tags": list(dict.fromkeys((*texts_of(offered.get("domains")), *texts_of(offered.get("tags"))))),
    }
    if examples := texts_of(manifest.get("examples")):
        skill["examples"] = examples
    return skill


def _unmapped_of(manifest: Mapping[str, object], offered: Mapping[str, object]) -> Iterable[str]:
    yield from (f"capabilities.{field}" for field in offered if field not in _CAPABILITY_FIELDS)
    for field in manifest:
        if field == "metadata":
            yield from (f"metadata.{key}" for key in _mapping(manifest["metadata"]))
        elif field not in _MANIFEST_FIELDS:
            yield field


def _interfaces(card: Mapping[str, object]) -> tuple[dict[str, str], list[str]]:
    """Return the version spoken at each address that can be called, and the interfaces that cannot."""
    rows = [
        (text_of(one.get("url")), text_of(one.get("protocolBinding")), text_of(one.get("protocolVersion")))
        for one in _rows(card.get("supportedInterfaces"))
    ]
    if not rows and text_of(card.get("url")):
        # Cards of 0.3 name one address and its transport, and others beside it.
        version = text_of(card.get("protocolVersion")) or _EARLIER_VERSION
        rows = [(text_of(card.get("url")), text_of(card.get("preferredTransport")) or "JSONRPC", version)]
        rows += [
            (text_of(o.get("url")), text_of(o.get("transport")), version)
            for o in _rows(card.get("additionalInterfaces"))
        ]
    found: dict[str, str] = {}
    skipped = []
    for url, binding, version in dict.fromkeys(rows):
        if binding.upper() == "JSONRPC" and url.startswith(("http://", "https://")):
            found.setdefault(url, version or A2A_VERSION)
        else:
            skipped.append(f"interface {binding or 'without a binding'} at {url or 'no address'}")
    return found, skipped


def _imported(manifest: Mapping[str, object]) -> Mapping[str, object]:
    return _mapping(_mapping(manifest.get("metadata")).get(KEY))


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _rows(value: object) -> list[Mapping[str, object]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _modality(mode: str) -> str:
    head = mode.partition("/")[0].lower()
    return "text" if head in ("text", "application", "") else head
