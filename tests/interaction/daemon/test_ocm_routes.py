"""The fleet as Open Capability Manifests and as an A2A card (issue 8 item 5)."""

import json
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

import compozy
from compozy.client import ApiError
from compozy.ocm.validate import errors, validate
from compozy.ocm.writing import manifest_digest
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
        rows = {row["id"]: row for row in index["capabilities"]}
        row = rows["acme/reviewer/review-diff"]
        address = urlsplit(f"/{row['path']}")
        found = client.request("GET", address.path, query=dict(parse_qsl(address.query))).json()
        assert isinstance(found, dict)
        assert (found["id"], manifest_digest(found)) == (row["id"], row["digest"])
        with pytest.raises(ApiError) as refused:
            client.request("GET", "/api/ocm/manifests/acme%2Fnobody")
        assert (refused.value.status, refused.value.code) == (404, "manifest_not_found")
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


def test_the_client_gives_catalog_manifest_index_and_card_as_records(running_daemon: Daemon) -> None:
    folder: Path = running_daemon.home.agents / "reviewer"
    folder.mkdir(parents=True)
    (folder / "AGENT.md").write_text(_AGENT)
    (folder / "capabilities.json").write_text(json.dumps(_CATALOG))
    identity = "acme/reviewer/review-diff"
    with compozy.Client(running_daemon.home.root) as client:
        catalog = client.ocm.catalog(publisher="acme")
        assert identity in [one["id"] for one in catalog.manifests] and catalog.skipped
        assert client.ocm.manifest(identity, publisher="acme") in catalog.manifests
        assert identity in [row.id for row in client.ocm.index(publisher="acme").capabilities]
        assert identity in [skill.id for skill in client.ocm.card(publisher="acme").skills]


def test_no_capability_however_it_is_named_or_told_costs_the_others_their_place(running_daemon: Daemon) -> None:
    rows: list[dict[str, object]] = [
        {"id": identity, "summary": "Does it", "outcome": "Done"}
        for identity in ("good", "a" * 250, "x", "x/capability.json", "../up", "UPPER", "a" * 2_000)
    ]
    hostile = running_daemon.home.agents / "hostile"
    half = running_daemon.home.agents / "half"
    for folder, listed in ((hostile, rows), (half, [{"id": "h", "summary": "half \ud800", "outcome": "\udfff"}])):
        folder.mkdir(parents=True)
        (folder / "AGENT.md").write_text(f"---\nname: {folder.name}\nprovider: offline\n---\nWorks.\n")
        (folder / "capabilities.json").write_text(json.dumps({"capabilities": listed}))
    with running_daemon.client() as client:
        for path in ("/api/ocm/catalog", "/.well-known/ocm.json", "/.well-known/agent-card.json"):
            answer = client.request("GET", path)
            assert answer.status == 200 and b"local/hostile/good" in answer.body, path
        catalog = client.request("GET", "/api/ocm/catalog").json()
    assert isinstance(catalog, dict)
    skipped = {row["capability"] for row in catalog["skipped"]}
    assert {"a" * 250, "x/capability.json", "../up", "UPPER"} <= skipped
