"""Faults in handlers, strict bodies, admission and transports, over real sockets of this process."""

import http.client
import json
import logging

import pytest
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response

from compozy.client import ApiError, DaemonClient
from compozy.daemon.messages import Body, json_response, query_flag, query_number, read_body
from compozy.daemon.routing import Route
from compozy.model.errors import Conflict, Unavailable
from compozy.model.record import Record
from compozy.runtime.services import Services
from tests.kit.http_app import Served, serving

pytestmark = pytest.mark.anyio


class Named(Record, frozen=True, kw_only=True):
    name: str


class Wish(Body, frozen=True, kw_only=True):
    name: str
    count: int = 0


async def fail(app: Services, request: Request) -> Response:
    raise KeyError("a secret place in the code")


async def unavailable(app: Services, request: Request) -> Response:
    raise Unavailable("the file /private/place is gone; restore it")


async def conflict(app: Services, request: Request) -> Response:
    raise Conflict("digest 'a' is stale; read it again", hint="compozy agent info x", evidence={"digest": "b"})


async def echo(app: Services, request: Request) -> Response:
    wish = await read_body(request, Wish)
    return json_response({"name": wish.name, "count": wish.count})


async def telling(app: Services, request: Request) -> Response:
    raise Conflict("cannot use api_key=hush1", details={"d": "token=hush2"}, evidence={"e": ["password=hush3"]})


async def odd_name(app: Services, request: Request) -> Response:
    return json_response({"path": "/x/a\udcffb", "rows": [Named(name="\ud800")]})


async def odd_error(app: Services, request: Request) -> Response:
    raise Conflict("the file '/x/a\udcffb' is in the way; move it")


async def numbers(app: Services, request: Request) -> Response:
    limit = query_number(request, "limit", default=50, minimum=1, maximum=100)
    return json_response({"limit": limit, "flag": query_flag(request, "flag")})


ROUTES = (
    Route(method="GET", path="/api/fail", handler=fail, name="fail", summary=""),
    Route(method="GET", path="/api/unavailable", handler=unavailable, name="unavailable", summary=""),
    Route(method="GET", path="/api/conflict", handler=conflict, name="conflict", summary=""),
    Route(method="POST", path="/api/echo", handler=echo, name="echo", summary="", kind="admit"),
    Route(method="GET", path="/api/telling", handler=telling, name="telling", summary=""),
    Route(method="GET", path="/api/odd-name", handler=odd_name, name="odd", summary=""),
    Route(method="GET", path="/api/odd-error", handler=odd_error, name="oddError", summary=""),
    Route(method="GET", path="/api/numbers", handler=numbers, name="numbers", summary=""),
    Route(method="GET", path="/api/unix-only", handler=echo, name="unix", summary="", transport="unix"),
)


async def refused(client: DaemonClient, method: str, path: str, body: object = None) -> ApiError:
    with client, pytest.raises(ApiError) as caught:
        await to_thread.run_sync(lambda: client.request(method, path, body=body))
    return caught.value


async def accepted(client: DaemonClient, method: str, path: str, body: object = None) -> object:
    with client:
        return (await to_thread.run_sync(lambda: client.request(method, path, body=body))).json()


@pytest.mark.parametrize("path", ["/api/fail", "/api/unavailable"])
async def test_a_fault_is_masked_on_tcp_and_its_request_id_leads_to_the_log(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(ROUTES) as served:
        with caplog.at_level(logging.ERROR, logger="compozy.http"):
            masked = await refused(served.tcp(), "GET", path)
            shown = await refused(served.unix(), "GET", path)
    assert masked.envelope["error"] in ("Internal Server Error", "Service Unavailable")
    assert "place" not in str(masked.envelope)
    assert "place" in str(shown)
    logged = [getattr(record, "request_id", "") for record in caplog.records]
    assert logged == [masked.envelope["request_id"], shown.envelope["request_id"]]
    assert all("place" in record.getMessage() for record in caplog.records)


async def test_a_deliberate_refusal_keeps_its_text_code_and_remedy_on_both_transports() -> None:
    async with serving(ROUTES) as served:
        errors = [await refused(client, "GET", "/api/conflict") for client in (served.tcp(), served.unix())]
    assert errors[0].envelope == errors[1].envelope
    diagnostic = errors[0].envelope["diagnostic"]
    assert isinstance(diagnostic, dict)
    assert errors[0].status == 409
    assert diagnostic["code"] == "conflict" and diagnostic["evidence"] == {"digest": "b"}
    assert diagnostic["data_freshness"] == "live"
    assert errors[0].hint == "compozy agent info x"
    # An error diagnostic wins over the status (contract §4.4).
    assert errors[0].exit_code == 71


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b'{"name": "a", "nmae": 1}', "unknown field `nmae`"),
        (b'{"name": "a"} {}', "not valid JSON"),
        (b'{"name": 1}', "Expected `str`, got `int` - at `$.name`"),
        (b"{}", "missing required field `name`"),
        (b"", "missing required field `name`"),
        (b"[]", "Expected `object`"),
        (b'{"name": "\xff"}', "not valid JSON"),
        (b'{"name": "a", "count": 1.5}', "$.count"),
    ],
)
async def test_a_body_that_does_not_fit_is_refused_with_the_reason(body: bytes, says: str) -> None:
    async with serving(ROUTES) as served:
        error = await refused(served.unix(), "POST", "/api/echo", body)
    assert error.status == 400
    assert says.lower() in str(error).lower()


async def test_a_body_of_undeclared_length_is_cut_off_at_the_limit() -> None:
    def send(served: Served, blocks: int) -> tuple[int, dict[str, str]]:
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
        try:
            body = iter([b'{"name": "', *[b"x" * 65536] * blocks, b'"}'])
            connection.request("POST", "/api/echo", body=body, encode_chunked=True)
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    async with serving(ROUTES) as served:
        assert (await to_thread.run_sync(send, served, 2))[0] == 200
        status, body = await to_thread.run_sync(send, served, 80)
    assert (status, body["error"]) == (413, "request body too large")


async def test_a_fitting_body_arrives() -> None:
    async with serving(ROUTES) as served:
        assert await accepted(served.tcp(), "POST", "/api/echo", {"name": "ünï", "count": 2}) == {
            "name": "ünï",
            "count": 2,
        }


async def test_no_part_of_an_error_tells_a_secret() -> None:
    async with serving(ROUTES) as served:
        error = await refused(served.unix(), "GET", "/api/telling")
    assert "hush" not in str(error.envelope)
    assert str(error.envelope).count("[REDACTED]") == 4


async def test_a_file_name_that_is_no_text_empties_no_list_and_hides_no_error() -> None:
    async with serving(ROUTES) as served:
        answer = await accepted(served.unix(), "GET", "/api/odd-name")
        error = await refused(served.unix(), "GET", "/api/odd-error")
    assert answer == {"path": "/x/a\\udcffb", "rows": [{"name": "\\ud800"}]}
    assert error.status == 409 and "a\\udcffb" in str(error)


async def test_while_draining_admission_is_refused_with_its_code_and_reads_go_on() -> None:
    async with serving(ROUTES) as served:
        served.status.is_draining = True
        error = await refused(served.tcp(), "POST", "/api/echo", {"name": "a"})
        await accepted(served.tcp(), "GET", "/api/numbers")
    assert (error.status, error.code) == (503, "daemon_draining")
    assert str(error) == "daemon is draining; new work admission is closed"
    assert error.exit_code == 71


async def test_a_route_of_the_socket_does_not_exist_on_tcp() -> None:
    async with serving(ROUTES) as served:
        assert (await refused(served.tcp(), "GET", "/api/unix-only")).status == 404
        assert (await refused(served.unix(), "GET", "/api/unix-only")).status == 400


# %D9%A3 is a digit of another script, which is no number here.
BAD_VALUES = ("limit=0", "limit=101", "limit=ten", "limit=1e2", "limit=%D9%A3", f"limit={10**30}", "flag=maybe")


@pytest.mark.parametrize("query", BAD_VALUES)
async def test_a_query_value_out_of_bounds_is_refused_by_name(query: str) -> None:
    async with serving(ROUTES) as served:
        error = await refused(served.unix(), "GET", f"/api/numbers?{query}")
    assert error.status == 400
    assert query.partition("=")[0] in str(error)


async def test_query_values_are_trimmed_and_the_first_of_repeated_ones_counts() -> None:
    async with serving(ROUTES) as served:
        answer = await accepted(served.unix(), "GET", "/api/numbers?limit=%207%20&limit=9&flag=true")
    assert answer == {"limit": 7, "flag": True}


@pytest.mark.parametrize(
    "body",
    ['{"name": "a", "name": "b"}', '{"name": "a", "count": 1, "count": 1}', '{"name": "a", "n\\u0061me": "b"}'],
    ids=["values", "equal values", "escaped"],
)
async def test_a_body_with_a_member_given_twice_is_refused(body: str) -> None:
    """D10: which of the two is meant nobody knows."""

    def send(port: int) -> tuple[int, str]:
        connection = http.client.HTTPConnection("localhost", port, timeout=30)
        connection.request("POST", "/api/echo", body=body, headers={"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    async with serving(ROUTES) as served:
        status, text = await to_thread.run_sync(send, served.port)
    assert status == 400 and "is given twice" in json.loads(text)["error"]
