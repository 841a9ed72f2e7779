"""The region of a request decides who may take it and where it goes (decisions O5)."""

from compozy.ocm.policy import Request
from compozy.ocm.selection.engine import Selector
from compozy.ocm.target import Target, from_manifest


def target(name: str, *regions: str) -> Target:
    endpoints = [
        {"protocol": "http", "url": f"https://{region or 'any'}.example/", **({"region": region} if region else {})}
        for region in regions
    ]
    document = {
        "ocm": "1",
        "id": name,
        "kind": "tool",
        "description": "Translates contracts",
        "endpoints": endpoints,
    }
    return from_manifest(document)


def test_the_chosen_one_comes_with_the_endpoint_of_the_requests_region() -> None:
    selector = Selector([target("t", "us", "EU")])
    for region, want in (("eu", "https://EU.example/"), ("us", "https://us.example/"), ("", "https://us.example/")):
        outcome = selector.select("translate a contract", Request(region=region))
        assert outcome.endpoint is not None and outcome.endpoint.url == want


def test_who_answers_in_another_region_only_is_refused_by_that_rule() -> None:
    selector = Selector([target("far", "us"), target("near", "us", ""), target("local")])
    outcome = selector.select("translate a contract", Request(region="eu"))
    assert [(one.id, one.rule) for one in outcome.refused] == [("far", "endpoint")]
    assert outcome.refused[0].reason == "no endpoint in region eu"
    assert {one.id for one in outcome.ranked} == {"near", "local"}


def test_one_without_endpoints_is_chosen_without_one() -> None:
    outcome = Selector([target("local")]).select("translate a contract", Request(region="eu"))
    assert outcome.chosen == "local" and outcome.endpoint is None
