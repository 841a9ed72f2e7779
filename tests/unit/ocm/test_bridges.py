"""Agents, skills, MCP tools, A2A cards and personas to manifests and back (issue 8 item 3)."""

import json
from pathlib import Path

import pytest

from compozy.documents.agents import load_agent
from compozy.documents.digests import capabilities_digest
from compozy.ocm.bridge import a2a, others
from compozy.ocm.bridge.agents import to_agents, to_manifests
from compozy.ocm.bridge.drafts import BridgeError
from compozy.ocm.loading import read_document
from compozy.ocm.validate import validate
from compozy.ocm.writing import to_json, to_yaml

AGENT = """\
---
name: reviewer
provider: claude
command: /opt/private/agent
category_path: [team, backend]
mcp_servers:
  - {name: files, command: mcp-files, env: {ROOT: /home/me}}
---
The private prompt.
"""
CATALOG = """\
[[capabilities]]
id = "review-diff"
summary = "Reviews a diff: finds bugs"
outcome = "Findings"
version = "1.10"
context_needed = ["the diff"]
examples = ["no", "review: this"]
requirements = ["git"]

[[capabilities]]
id = "explain"
summary = "Explains code"
outcome = "A page"
"""


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    folder = tmp_path / "reviewer"
    folder.mkdir()
    (folder / "AGENT.md").write_text(AGENT)
    (folder / "capabilities.toml").write_text(CATALOG)
    return folder / "AGENT.md"


def export(path: Path, *, whole: bool = False) -> list[dict[str, object]]:
    definition = load_agent(path).definition
    drafts = to_manifests(
        definition.name,
        definition.capabilities or (),
        publisher="acme",
        category_path=definition.category_path,
        definition=definition if whole else None,
    )
    return [draft.document for draft in drafts]


def test_each_capability_is_a_valid_manifest_and_nothing_private_leaves(agent: Path) -> None:
    documents = export(agent)
    assert [one["id"] for one in documents] == ["acme/reviewer/review-diff", "acme/reviewer/explain"]
    assert all(validate(one) == [] for one in documents)
    text = json.dumps(documents)
    assert not [word for word in ("private", "/home/me", "mcp-files", "claude") if word in text]


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_a_round_trip_gives_the_same_digests(agent: Path, form: str) -> None:
    loaded = load_agent(agent)
    documents = export(agent, whole=True)
    text = to_yaml(documents[::-1]) if form == "yaml" else to_json({"targets": documents[::-1]})
    read_back = [entry.document for entry in read_document(text, f"x.{form}").entries]
    (draft,) = to_agents([one for one in read_back if isinstance(one, dict)])
    assert capabilities_digest(draft.definition.capabilities) == loaded.capabilities_digest
    assert draft.is_whole and draft.definition == loaded.definition


def test_without_the_definition_the_capabilities_keep_their_digests(agent: Path) -> None:
    (draft,) = to_agents(export(agent))
    assert not draft.is_whole
    assert capabilities_digest(draft.definition.capabilities) == load_agent(agent).capabilities_digest
    assert "private" not in draft.definition.prompt


def test_a_capability_that_was_changed_after_its_export_is_refused(agent: Path) -> None:
    documents = export(agent)
    documents[0]["description"] = "Something else"
    with pytest.raises(BridgeError, match="changed after it was exported"):
        to_agents(documents)


def test_an_id_that_is_not_legal_is_refused_with_one_that_is() -> None:
    capability = load_capability()
    with pytest.raises(BridgeError, match="acme-corp/reviewer/review-it"):
        to_manifests("reviewer", (capability,), publisher="Acme Corp")


def load_capability() -> object:
    from compozy.model.capability import Capability

    return Capability(id="Review It", summary="s", outcome="o")


CARD = {
    "name": "Route Planner",
    "description": "Plans routes",
    "version": "2.0",
    "provider": {"organization": "Acme", "url": "https://acme.example"},
    "supportedInterfaces": [
        {"url": "https://a.example/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
        {"url": "https://a.example/grpc", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
    ],
    "capabilities": {"streaming": True},
    "defaultInputModes": ["text/plain", "image/png"],
    "defaultOutputModes": ["application/json"],
    "skills": [{"id": "plan", "name": "Plan", "description": "d", "tags": ["maps"], "examples": ["to the sea"]}],
    "securitySchemes": {},
}


def test_an_agent_card_becomes_a_manifest_and_what_has_no_place_is_named() -> None:
    draft = a2a.from_card(CARD)
    document = draft.document
    assert validate(document) == []
    assert (document["id"], document["kind"], document["version"]) == ("acme/route-planner", "agent", "2.0")
    assert document["endpoints"] == [{"protocol": "a2a", "url": "https://a.example/a2a"}]
    assert document["capabilities"] == {
        "actions": ["plan"],
        "domains": ["maps"],
        "modalities": ["text", "image"],
        "supports_streaming": True,
    }
    assert draft.unmapped == ("provider.url of the card", "interface GRPC at https://a.example/grpc")


def test_whatever_a_manifest_cannot_say_of_a_card_is_named() -> None:
    skill = {"id": "plan", "name": "Plan", "description": "d", "tags": [], "examples": [f"to {n}" for n in range(30)]}
    draft = a2a.from_card(
        {
            **CARD,
            "capabilities": {"streaming": False, "pushNotifications": True, "extensions": []},
            "securitySchemes": {"key": {}},
            "documentationUrl": "https://docs.example",
            "skills": [{**skill, "outputModes": ["image/png"], "securityRequirements": [{}]}, {"tags": ["nameless"]}],
        }
    )
    assert draft.document["capabilities"]["supports_streaming"] is False
    assert draft.unmapped == (
        "securitySchemes of the card",
        "documentationUrl of the card",
        "capabilities.pushNotifications of the card",
        "provider.url of the card",
        "interface GRPC at https://a.example/grpc",
        "skill plan: outputModes, securityRequirements (kept under metadata.a2a)",
        "6 of 30 examples (kept under metadata.a2a)",
        "a skill without id and name",
    )


def test_a_card_comes_back_from_its_manifest() -> None:
    card = {**CARD, "supportedInterfaces": [{**CARD["supportedInterfaces"][0], "protocolVersion": "0.3"}]}
    card["skills"] = [*CARD["skills"], {"id": "drive", "name": "Drive", "description": "e", "tags": ["cars"]}]
    card["defaultOutputModes"] = card["defaultInputModes"] = ["text/plain", "image/*"]
    del card["securitySchemes"]
    document = a2a.from_card(card).document
    again, unmapped = a2a.card_of(document)
    assert again == {**card, "provider": {"organization": "Acme", "url": ""}}
    assert unmapped == ()


def test_whatever_a_card_cannot_say_of_a_manifest_is_named() -> None:
    document = {
        "ocm": "1",
        "id": "acme/x",
        "kind": "agent",
        "description": "d",
        "publisher": "other",
        "version": "2",
        "instructions": "be kind",
        "capabilities": {"actions": ["a"], "tags": ["t"], "languages": ["de"], "supports_streaming": True},
        "constraints": {"regions": ["eu"]},
        "endpoints": [
            {"protocol": "a2a", "url": "https://x.example", "region": "eu", "auth": "bearer"},
            {"protocol": "queue"},
        ],
        "metadata": {"owner": "me"},
        "primary": True,
    }
    _, unmapped = a2a.to_card([document], name="n", description="d", publisher="acme")
    assert unmapped == (
        "acme/x: endpoint a2a: region, auth",
        "acme/x: endpoint queue",
        "acme/x: capabilities.actions",
        "acme/x: capabilities.languages",
        "acme/x: publisher",
        "acme/x: version",
        "acme/x: instructions",
        "acme/x: constraints",
        "acme/x: metadata.owner",
        "acme/x: primary",
    )


def test_a_card_of_the_earlier_version_is_read_too() -> None:
    card = {key: value for key, value in CARD.items() if key != "supportedInterfaces"}
    draft = a2a.from_card({**card, "url": "https://old.example", "preferredTransport": "JSONRPC"})
    assert draft.document["endpoints"] == [{"protocol": "a2a", "url": "https://old.example"}]


def test_manifests_become_one_card_with_a_skill_each() -> None:
    document = {**a2a.from_card(CARD).document, "cost": {"usd_per_call": 1}}
    card, unmapped = a2a.to_card([document], name="n", description="d", publisher="acme")
    assert card["supportedInterfaces"] == [
        {"url": "https://a.example/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    ]
    assert [skill["id"] for skill in card["skills"]] == ["acme/route-planner"]
    assert unmapped == (
        "acme/route-planner: capabilities.actions",
        "acme/route-planner: publisher",
        "acme/route-planner: version",
        "acme/route-planner: metadata.a2a",
        "acme/route-planner: cost",
    )
    assert a2a.from_card(card).document["endpoints"] == document["endpoints"]


def test_a_skill_becomes_a_manifest_with_its_body_as_instructions() -> None:
    text = b"---\nname: reconcile\ndescription: Matches bank lines\nversion: 1.0.0\n---\nDo it so.\n"
    document = others.from_skill(text, "SKILL.md", publisher="acme").document
    assert validate(document) == []
    assert (document["id"], document["kind"], document["instructions"]) == (
        "acme/skills/reconcile",
        "skill",
        "Do it so.",
    )
    with pytest.raises(BridgeError, match="no description"):
        others.from_skill(b"---\nname: x\n---\nb\n", "SKILL.md", publisher="acme")


def test_an_mcp_tool_list_becomes_one_manifest_each() -> None:
    schema = {"type": "object", "properties": {"city": {"description": "its name"}}}
    answer = {"result": {"tools": [{"name": "getWeather", "description": "Weather.", "inputSchema": schema}]}}
    rows = others.tool_rows(answer)
    assert rows is not None
    (draft,) = others.from_mcp_tools(rows, publisher="acme", server="w", url="https://m.example/mcp")
    assert validate(draft.document) == []
    assert draft.document["id"] == "acme/w/getweather"
    assert "city (its name)" in str(draft.document["description"])
    with pytest.raises(BridgeError, match="two entries become the id"):
        others.from_mcp_tools([rows[0], {**rows[0], "name": "GetWeather"}], publisher="a", server="w")


def test_what_a_skill_says_beyond_a_manifest_is_kept_or_named() -> None:
    text = b"---\nname: s\ndescription: d\nlicense: MIT\nallowed-tools: Bash\nmetadata:\n  a: b\n---\nDo.\n"
    draft = others.from_skill(text, "SKILL.md", publisher="acme")
    assert draft.document["metadata"] == {"skill": {"a": "b"}}
    assert draft.unmapped == ("license", "allowed-tools")


def test_what_a_tool_says_beyond_a_manifest_is_named() -> None:
    row = {"name": "t", "description": "x" * 3000, "inputSchema": {}, "icons": [1]}
    (draft,) = others.from_mcp_tools([row], publisher="acme", server="w")
    assert len(str(draft.document["description"])) == 2000
    assert draft.unmapped == ("icons", "the description beyond 2,000 characters")


def test_a_persona_keeps_what_it_says_or_names_it() -> None:
    text = "---\nname: 'Sage: the wise'\ndescription: >\n  Calm\n  and wise\ntone: low\n---\nBe calm.\n"
    (draft,) = others.from_persona(text, "p.md", publisher="acme")
    assert (draft.document["name"], draft.document["description"]) == ("Sage: the wise", "Calm and wise")
    assert draft.unmapped == ("tone",)
    (draft,) = others.from_persona('{"name": "B", "system": "Sing.", "tone": 1}', "p.json", publisher="acme")
    assert (draft.document["instructions"], draft.unmapped) == ("Sing.", ("tone",))
    for bad in ('[{"name": "B"}]', '{"prompt": "x"}', "[]x", "5"):
        with pytest.raises(BridgeError, match=r"p\.json"):
            others.from_persona(bad, "p.json", publisher="acme")
    with pytest.raises(BridgeError, match="header"):
        others.from_persona("---\nname: [\n---\nBe calm.\n", "p.md", publisher="acme")


@pytest.mark.parametrize(
    ("text", "path", "name", "told"),
    [
        ("# Pirate\n\nYou talk like a pirate.\n", "p.md", "Pirate", "You talk like a pirate."),
        ("---\nname: Sage\ndescription: Calm\n---\nBe calm.\n", "p.md", "Sage", "Calm"),
        ('[{"name": "Bard", "prompt": "Sing."}]', "p.json", "Bard", "Sing."),
    ],
)
def test_a_persona_never_competes_by_itself(text: str, path: str, name: str, told: str) -> None:
    (draft,) = others.from_persona(text, path, publisher="acme")
    assert validate(draft.document) == []
    assert (draft.document["name"], draft.document["description"]) == (name, told)
    assert (draft.document["kind"], draft.document["primary"]) == ("persona", False)


def test_written_yaml_reads_back_whatever_the_text() -> None:
    texts = [
        "no",
        "1.10",
        "a: b",
        "# c",
        "",
        " x ",
        "two\nlines\n",
        "\u2028\x85\x07\x7f",
        "é'\"\\",
        "- a",
        "<<",
        "~",
        "\ttab",
    ]
    document = {
        "ocm": "1",
        "examples": texts,
        "metadata": {text: [text, {"a": [[1.5, 1e300, None, True]]}] for text in texts},
    }
    assert read_document(to_yaml([document]), "x.yaml").entries[0].document == document
