"""The fleet as Open Capability Manifests and as an A2A card (issue 8 item 5)."""

import json
from pathlib import Path

from compozy.ocm.validate import errors, validate
from tests.kit.daemons import Daemon

_AGENT = "---\nname: reviewer\nprovider: claude\ncommand: /opt/secret --token abc\n---\nThe secret prompt.\n"
_CATALOG = {
    "capabilities": [
        {"id": "review-diff", "summary": "Reviews a diff", "outcome": "Findings", "examples": ["review this"]},
        {"id": "Plan It", "summary": "Plans", "outcome": "A plan"},
    ]
}


def test_the_daemon_offers_its_fleet_as_manifests_index_and_card(running_daemon: Daemon) -> None:
    folder: Path = running_daemon.home.agents / "reviewer"
    folder.mkdir(parents=True)
    (folder / "AGENT.md").write_text(_AGENT)
    (folder / "capabilities.json").write_text(json.dumps(_CATALOG))
    with running_daemon.client() as client:
        catalog = client.request("GET", "/api/ocm/catalog", query={"publisher": "acme"}).json()
        index = client.request("GET", "/.well-known/ocm.json", query={"publisher": "acme"}).json()
        card = client.request("GET", "/.well-known/agent-card.json").json()
    assert isinstance(catalog, dict) and isinstance(index, dict) and isinstance(card, dict)
    manifests = [one for one in catalog["manifests"] if one["id"].startswith("acme/reviewer/")]
    assert [one["id"] for one in manifests] == ["acme/reviewer/review-diff"]
    assert not errors(validate(manifests[0]))
    # A capability without a legal id is named with one that is, and costs nobody else anything.
    skipped = [one for one in catalog["skipped"] if one["agent"] == "reviewer"]
    assert skipped[0]["capability"] == "Plan It" and "acme/reviewer/plan-it" in skipped[0]["reason"]
    assert "acme/reviewer/review-diff" in [row["id"] for row in index["capabilities"]]
    assert "local/reviewer/review-diff" in [skill["id"] for skill in card["skills"]]
    assert "secret" not in json.dumps([catalog, index, card])
