"""Which endpoint a request uses, and which addresses may be called at all (OCM §5; decisions O3, O5)."""

import asyncio

import httpx2
import pytest

from compozy.ocm import bind_endpoint
from compozy.ocm.endpoints.address import check_address
from compozy.ocm.endpoints.calls import Options
from compozy.ocm.endpoints.choice import choose_endpoint, is_reachable
from compozy.ocm.endpoints.connection import Connection
from compozy.ocm.endpoints.errors import EndpointFailed, EndpointRefused
from compozy.ocm.manifest import read_manifest
from compozy.ocm.target import from_manifest


def http(region: str = "", host: str = "a.example", protocol: str = "http") -> dict[str, object]:
    row: dict[str, object] = {"protocol": protocol, "url": f"https://{host}/run"}
    return {**row, "region": region} if region else row


def manifest(*endpoints: dict[str, object], **more: object) -> dict[str, object]:
    return {"ocm": "1", "id": "acme/x", "kind": "tool", "description": "d", "endpoints": list(endpoints), **more}


@pytest.mark.parametrize(
    ("endpoints", "region", "want"),
    [
        ([http("us", "us"), http("EU", "eu")], "eu", "https://eu/run"),
        ([http("us", "us"), http(host="any")], "eu", "https://any/run"),
        ([http(host="any"), http("eu", "eu")], "eu", "https://eu/run"),
        ([http("us", "us")], "eu", None),
        ([http("us", "us"), http(host="any")], "", "https://any/run"),
        ([http("us", "us"), http("eu", "eu")], "", "https://us/run"),
        ([], "eu", None),
    ],
)
def test_the_region_of_the_request_chooses_and_another_region_is_never_used(
    endpoints: list[dict[str, object]], region: str, want: str | None
) -> None:
    found = choose_endpoint(endpoints, region)
    assert (found.url if found else None) == want


def test_what_an_operator_wires_never_hides_what_can_be_called() -> None:
    endpoints = [{"protocol": "queue"}, {"protocol": "mcp"}, http("eu"), {"protocol": "grpc", "url": "https://g"}]
    found = choose_endpoint(endpoints, "eu")
    assert found is not None and found.protocol == "http" and found.is_callable
    found = choose_endpoint(endpoints, "eu", "grpc")
    assert found is not None and not found.is_callable


def test_a_capability_whose_endpoints_all_lie_elsewhere_cannot_be_reached() -> None:
    assert not is_reachable(("us", "ap"), "eu")
    assert is_reachable(("us", ""), "eu") and is_reachable(("EU",), "eu")
    assert is_reachable((), "eu") and is_reachable(("us",), "")


@pytest.mark.parametrize("protocol", ["queue", "grpc", "other", "mcp"])
def test_what_an_operator_wires_is_said_to_be_wired_by_one(protocol: str) -> None:
    row: dict[str, object] = {"protocol": protocol, **({"url": "https://x"} if protocol == "grpc" else {})}
    with pytest.raises(EndpointRefused, match="its operator wires") as caught:
        bind_endpoint(manifest(row))
    assert caught.value.code == "endpoint_operator"


def test_no_endpoint_another_region_and_another_protocol_are_refused_by_name() -> None:
    with pytest.raises(EndpointRefused, match="names no endpoint"):
        bind_endpoint(manifest())
    with pytest.raises(EndpointRefused, match=r"no endpoint in region 'eu', only in us; another region"):
        bind_endpoint(manifest(http("us")), "eu")
    with pytest.raises(EndpointRefused, match="no endpoint of protocol a2a; it has http"):
        bind_endpoint(manifest(http()), protocol="a2a")
    with pytest.raises(EndpointRefused, match="the manifest is invalid: kind"):
        bind_endpoint({**manifest(http()), "kind": "robot"})


def test_documents_records_and_targets_bind_alike() -> None:
    document = manifest(http("us", "us"), http("eu", "eu"))
    for one in (document, read_manifest(document), from_manifest(document)):
        bound = bind_endpoint(one, "EU")
        assert (bound.id, bound.choice.url, bound.choice.protocol) == ("acme/x", "https://eu/run", "http")


@pytest.mark.parametrize(
    "url",
    [
        "http://a.example/x",
        "http://localhost.evil.example/x",
        "http://127.0.0.1.evil.example/x",
        "http://127.0.0.1@evil.example/",
        "http://169.254.169.254/latest/meta-data",
        "https://169.254.169.254/latest",
        "http://0.0.0.0/",
        "https://2852039166/latest",
        "https://0xa9fea9fe/",
        "https://[fe80::1%25eth0]/",
        "https://[::ffff:169.254.169.254]/",
        "https://user:secret@a.example/",
        "https://",
        "https://a.example/{tenant}",
        "https://a.example/x y",
        "https://a.example:99999/",
        "https://[broken/",
    ],
)
def test_an_address_that_breaks_a_rule_is_refused_before_anything_is_sent(url: str) -> None:
    with pytest.raises(EndpointRefused) as caught:
        check_address(url)
    assert caught.value.code == "endpoint_address" and "secret" not in caught.value.message


def test_plain_http_needs_this_machine_or_consent() -> None:
    for url in ("http://localhost:8/x", "http://127.3.2.1/", "http://[::1]:80/", "https://a.example/"):
        assert check_address(url).url == url
    assert check_address("http://a.example/x", allow_plain_http=True).origin == "http://a.example"
    with pytest.raises(EndpointRefused, match="without encryption"):
        bind_endpoint(manifest({"protocol": "http", "url": "http://a.example/"}))
    assert bind_endpoint(
        manifest({"protocol": "http", "url": "http://a.example/"}), options=Options(allow_plain_http=True)
    )


@pytest.mark.parametrize(
    "url",
    [
        "https://EXAMPLE.com/X",
        "https://bücher.example/",
        "https://xn--bcher-kva.example:8443/",
        "http://[::1]:8080/",
        "http://127.1/",
        "https://a.example:443/",
        "https://a_b.example/",
    ],
)
def test_the_library_that_sends_reads_the_same_host_as_the_rules_did(url: str) -> None:
    address, sent = check_address(url), httpx2.URL(url)
    assert address.host in (sent.host.strip("[]"), sent.raw_host.decode().strip("[]"))
    connection = Connection(address, Options(), "", {})
    client, guard = connection.open()
    guard._stay(sent)
    with pytest.raises(EndpointFailed, match="another host"):
        guard._stay(httpx2.URL("https://elsewhere.example:9/"))
    asyncio.run(client.aclose())
