"""Calls to a real server on loopback that does as strangers do (issue 8 item 6 and "bad input")."""

import asyncio
import resource
import time
from pathlib import Path

import pytest

from compozy.ocm import bind_endpoint
from compozy.ocm.endpoints.calls import Call, Options, Reply
from compozy.ocm.endpoints.errors import EndpointFailed, EndpointRefused
from compozy.ocm.endpoints.guard import retry_after
from tests.kit.daemons import wait_until
from tests.kit.endpoint_server import EndpointServer, endpoint_server

SECRET = "s3cret-value"


def secrets(reference: str) -> str:
    return {"env:KEY": SECRET, "vault:team/key": SECRET, "env:LINES": "a\nb"}.get(reference, "")


def call(server: EndpointServer, path: str, *, auth: str = "", protocol: str = "http", **options: object) -> Reply:
    row = {"protocol": protocol, "url": server.url + path, **({"auth": auth} if auth else {})}
    document = {"ocm": "1", "id": "acme/x", "kind": "tool", "description": "d", "endpoints": [row]}
    made = Options(**{"timeout": 20.0, **options})  # type: ignore[arg-type]
    return bind_endpoint(document, options=made, secrets=secrets)("pay 12", {"locale": "no"})


def failure(server: EndpointServer, path: str, **more: object) -> EndpointFailed:
    with pytest.raises(EndpointFailed) as caught:
        call(server, path, **more)  # type: ignore[arg-type]
    return caught.value


def test_a_task_goes_out_and_text_usage_and_price_come_back(server: EndpointServer) -> None:
    reply = call(server, "/echo")
    assert (reply.text, reply.success, reply.cost_usd) == ("you said pay 12", True, 0.02)
    assert reply.usage == {"input": 3, "output": 5, "total": 8}
    body = server.seen[0].body
    assert isinstance(body, dict)
    assert (body["task"], body["context"], body["history"]) == ("pay 12", {"locale": "no"}, [])
    assert server.seen[0].headers["idempotency-key"] == body["request_id"]


def test_no_header_tells_more_than_http_needs(server: EndpointServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    call(server, "/echo")
    allowed = {"host", "accept", "accept-encoding", "connection", "user-agent", "content-type", "content-length"}
    assert set(server.seen[0].headers) == allowed | {"idempotency-key"}


@pytest.mark.parametrize("reference", ["env:KEY", "vault:team/key"])
def test_the_credential_comes_from_the_named_place_and_is_masked_in_the_answer(
    server: EndpointServer, reference: str
) -> None:
    reply = call(server, "/wants-bearer", auth="bearer", credential=reference)
    assert reply.text == "welcome Bearer [REDACTED]" and SECRET not in repr(reply)
    assert call(server, "/wants-key", auth="api-key", credential=reference).text == "in"


def test_an_error_that_echoes_the_credential_is_masked(server: EndpointServer) -> None:
    error = failure(server, "/error-in-answer", auth="bearer", credential="env:KEY")
    assert error.code == "endpoint_error" and "no such order [REDACTED]" in error.message


@pytest.mark.parametrize(
    ("auth", "credential", "told"),
    [
        ("bearer", "", "wants bearer: name a credential"),
        ("api-key", "env:NOT_SET", "env has no 'NOT_SET'"),
        ("bearer", SECRET, "the credential is no reference"),
        ("bearer", "env:LINES", "no header can carry"),
        ("none", "env:KEY", "takes no credential"),
        ("mtls", "", "name a certificate"),
        ("kerberos", "", "'kerberos'; only bearer"),
    ],
)
def test_what_the_endpoint_wants_and_did_not_get_is_refused_before_anything_is_sent(
    server: EndpointServer, auth: str, credential: str, told: str
) -> None:
    with pytest.raises(EndpointRefused, match=told) as caught:
        call(server, "/echo", auth=auth, credential=credential)
    assert caught.value.code == "endpoint_auth" and server.seen == [] and SECRET not in caught.value.message


def test_a_manifest_cannot_name_a_secret(server: EndpointServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", SECRET)
    row = {"protocol": "http", "url": server.url + "/echo", "credential": "env:KEY", "auth": "env:KEY"}
    document = {"ocm": "1", "id": "a", "kind": "tool", "description": "d", "endpoints": [row]}
    with pytest.raises(EndpointRefused):
        bind_endpoint(document)
    del row["auth"]
    bind_endpoint(document)("x")
    assert SECRET not in repr(server.seen)


def test_who_is_not_let_in_is_told_so(server: EndpointServer) -> None:
    assert "401; it wants a credential" in failure(server, "/wants-bearer").message
    monkey = failure(server, "/wants-key", auth="bearer", credential="env:KEY")
    assert monkey.code == "endpoint_answer"


@pytest.mark.parametrize("path", ["/busy-once", "/unavailable-once"])
def test_what_was_not_taken_is_sent_again_with_the_same_key(server: EndpointServer, path: str) -> None:
    reply = call(server, path)
    assert (reply.text, reply.attempts) == ("now it works", 2)
    first, second = server.seen
    assert first.body == second.body and first.headers["idempotency-key"] == second.headers["idempotency-key"]


@pytest.mark.parametrize("path", ["/unavailable-silently", "/gateway", "/teapot", "/cut", "/big-told"])
def test_what_may_have_been_taken_is_never_sent_twice(server: EndpointServer, path: str) -> None:
    failure(server, path)
    assert server.count(path) == 1


def test_asking_to_come_back_much_later_is_told_not_waited_for(server: EndpointServer) -> None:
    error = failure(server, "/busy-for-an-hour")
    assert error.code == "endpoint_unavailable" and error.is_temporary and "again in 3600 s" in error.message
    assert server.count("/busy-for-an-hour") == 1


def test_sending_again_ends(server: EndpointServer) -> None:
    assert "answered 429" in failure(server, "/always-busy").message
    assert server.count("/always-busy") == 3


def test_a_connection_that_is_never_made_is_tried_again_and_told() -> None:
    with endpoint_server() as gone:
        url = gone
    error = failure(url, "/echo")
    assert error.code == "endpoint_unreachable" and error.is_temporary


def test_a_redirect_within_the_host_that_keeps_the_request_is_followed(server: EndpointServer) -> None:
    assert call(server, "/moved-here", auth="bearer", credential="env:KEY").text == "you said pay 12"
    assert server.seen[1].body == server.seen[0].body


def test_a_redirect_to_another_host_is_never_followed(server: EndpointServer) -> None:
    with endpoint_server() as other:
        server.elsewhere = other.url
        error = failure(server, "/moved-away", auth="bearer", credential="env:KEY")
        assert error.code == "endpoint_redirect" and "other hosts are never followed" in error.message
        assert other.seen == []


def test_a_redirect_that_would_lose_the_request_or_never_ends_is_refused(server: EndpointServer) -> None:
    assert "lose the request" in failure(server, "/found").message
    assert [one.method for one in server.seen] == ["POST"]
    assert "more than 3 times" in failure(server, "/round").message


@pytest.mark.parametrize("path", ["/hang", "/drip"])
def test_an_endpoint_that_hangs_or_drips_ends_with_the_time_limit(server: EndpointServer, path: str) -> None:
    error = failure(server, path, timeout=0.4)
    assert error.code == "endpoint_timeout" and error.is_temporary
    # On a busy machine the server may look at the request only now.
    wait_until(lambda: server.count(path) > 0, "the request is seen")
    assert server.count(path) == 1


def test_fifty_megabytes_are_cut_at_the_limit(server: EndpointServer) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    error = failure(server, "/big")
    assert error.code == "endpoint_too_large" and "4,194,304 bytes" in error.message
    assert failure(server, "/big-told").code == "endpoint_too_large"
    # Kibibytes: the answer was never held as a whole.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40_000
    assert server.sent_bytes < 30 << 20


def test_an_answer_that_would_unpack_to_more_than_was_counted_is_refused(server: EndpointServer) -> None:
    assert failure(server, "/packed").message.endswith("although it was asked not to")


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/html", "no JSON but '<!doctype html>"),
        ("/empty", "answered nothing"),
        ("/list", "a JSON list where an object was expected"),
        ("/nan", "no JSON"),
        ("/deep", "nested too deeply"),
        ("/deeper", "no JSON"),
        ("/no-text", "without any of text, output, result, content, answer"),
        ("/cut", "broke the connection off"),
        ("/error-in-answer", "reports an error: no such order"),
    ],
)
def test_what_is_no_answer_is_said_to_be_none(server: EndpointServer, path: str, told: str) -> None:
    assert told in failure(server, path).message


def test_the_endpoints_own_word_on_success_is_kept(server: EndpointServer) -> None:
    reply = call(server, "/unsuccessful")
    assert (reply.text, reply.success) == ("half of it", False)


def test_context_that_is_no_json_is_refused_before_anything_is_sent(server: EndpointServer) -> None:
    row = {"protocol": "http", "url": server.url + "/echo"}
    document = {"ocm": "1", "id": "a", "kind": "tool", "description": "d", "endpoints": [row]}
    with pytest.raises(EndpointRefused, match="must be JSON"):
        bind_endpoint(document)("x", {"when": object()})
    assert server.seen == []


def test_a_call_inside_an_event_loop_is_awaited(server: EndpointServer) -> None:
    row = {"protocol": "http", "url": server.url + "/echo"}
    document = {"ocm": "1", "id": "a", "kind": "tool", "description": "d", "endpoints": [row]}
    bound = bind_endpoint(document)

    async def both() -> list[Reply]:
        return await asyncio.gather(bound.ask(Call(task="a")), bound.ask(Call(task="b", request_id="r")))

    assert [one.text for one in asyncio.run(both())] == ["you said a", "you said b"]


def test_retry_after_is_read_as_seconds_and_as_a_date() -> None:
    assert retry_after("7") == 7.0 and retry_after("Mon, 01 Jan 2024 00:00:00 GMT") == 0.0
    assert retry_after(None) is None and retry_after("soon") is None and retry_after("-1") is None


def test_calling_leaves_no_open_descriptors(server: EndpointServer) -> None:
    def count() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    call(server, "/echo")
    before = count()
    for _ in range(5):
        call(server, "/busy-once")
        failure(server, "/html")
    # The server's own ends, in this process too, close a moment later.
    end = time.monotonic() + 30
    while count() > before and time.monotonic() < end:
        server.released.wait(0.02)
    assert count() <= before
