"""Every request gives the same over TCP and over the socket: status, headers, body (issue 4; contract §1.3).

Successes come from two homes that live the same script, one over each listener; refusals from one home asked twice.
"""

import re
import shutil
from collections.abc import Iterator, Mapping

import msgspec
import pytest

from compozy.client import DaemonClient
from compozy.daemon.routing import Route
from tests.contract.api.recorder import ROUTES, Recorder, Seen, attempt
from tests.contract.api.script import ONLY_REFUSED, live
from tests.kit.daemons import free_port
from tests.kit.fake_models import model_server
from tests.kit.mcp_remote import guarded_server
from tests.kit.sessions import World

Lives = Mapping[str, list[Seen]]
SHARED = [name for name, route in ROUTES.items() if route.transport == "any"]
ONE_SIDED = [name for name in ROUTES if name not in SHARED]


@pytest.fixture(scope="module")
def lives(tmp_path_factory: pytest.TempPathFactory) -> Lives:
    """What came back over each listener. Both homes lie, one after the other, in the same place."""
    folder = tmp_path_factory.mktemp("life") / "of"
    port, found = free_port(), {}
    with model_server() as models, guarded_server(folder.parent) as (guarded, _):
        for name in ("tcp", "unix"):
            folder.mkdir()
            config = f'[providers.openai-compatible]\nbase_url = "{models}/v1"\n'
            world = World(folder, config=config + "[tools]\ndefault_max_result_bytes = 2000\n", http=True)
            file = world.daemon.home.config_file
            file.write_text(re.sub(r"port = \d+", f"port = {port}", file.read_text()))
            world.start()
            try:
                with world.daemon.tcp_client() if name == "tcp" else world.daemon.client() as client:
                    rec = Recorder(client)
                    live(world, rec, guarded)
                found[name] = rec.seen
            finally:
                world.end()
                shutil.rmtree(folder)
    return found


@pytest.mark.parametrize("name", SHARED)
def test_an_operation_succeeds_alike_over_both_listeners(name: str, lives: Lives) -> None:
    tcp, unix = ([seen for seen in life if seen.route == name] for life in (lives["tcp"], lives["unix"]))
    wins = [seen for seen in tcp if seen.status < 400]
    assert wins or name in ONLY_REFUSED, f"add a success of {name} to tests/contract/api/script.py"
    assert not (wins and name in ONLY_REFUSED), f"{name} succeeds now: take it out of ONLY_REFUSED"
    assert len(tcp) == len(unix)
    for one, two in zip(tcp, unix, strict=True):
        assert (one.status, one.headers, one.body) == (two.status, two.headers, two.body)


@pytest.mark.parametrize("name", [name for name in SHARED if ROUTES[name].answer and not ROUTES[name].streams])
def test_an_answer_survives_being_read_as_its_record(name: str, lives: Lives) -> None:
    """What the typed client reads is all there was, so that a program that prints it prints the answer."""
    route = ROUTES[name]
    for seen in lives["unix"]:
        if seen.route == name and seen.status in (route.status, 200) and seen.raw:
            sent = msgspec.json.decode(seen.raw)
            assert _read_and_written(route, seen.raw) == sent


def _read_and_written(route: Route, raw: bytes) -> object:
    if not isinstance(route.answer, Mapping):
        return msgspec.json.decode(msgspec.json.encode(msgspec.json.decode(raw, type=route.answer)))
    members = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    assert set(members) == set(route.answer), "the document names other members than the daemon sends"
    kept = {name: msgspec.json.decode(members[name], type=kind) for name, kind in route.answer.items()}
    return msgspec.json.decode(msgspec.json.encode(kept))


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[DaemonClient, DaemonClient, Recorder]]:
    world = World(tmp_path_factory.mktemp("refusing"), http=True)
    world.start()
    try:
        with world.daemon.tcp_client() as tcp, world.daemon.client() as unix:
            yield tcp, unix, Recorder(unix)
    finally:
        world.end()


def _wrong_requests(route: Route) -> Iterator[tuple[str, str, object, Mapping[str, str]]]:
    """Yield method, path, body and query of requests that this route refuses."""
    path = re.sub(r"\{(\w+)\}", lambda found: f"no-such-{found[1].replace('_', '-')}", route.path)
    served = {other.method for other in ROUTES.values() if other.path == route.path}
    yield next(method for method in ("PUT", "PATCH", "DELETE", "POST") if method not in served), path, {}, {}
    nothing = {} if route.body else None
    if "{" in route.path:
        yield route.method, path, nothing, {}
    if route.kind != "read":
        yield route.method, path, nothing, {"no_such_parameter": "1"}
    if route.body:
        yield route.method, path, {"no_such_member": 1}, {}
        yield route.method, path, b"{} and more", {}
        yield route.method, path, b'"' + b"x" * (5 << 20) + b'"', {}


@pytest.mark.parametrize("name", SHARED)
def test_a_wrong_request_is_refused_alike_over_both_listeners(
    name: str, both: tuple[DaemonClient, DaemonClient, Recorder]
) -> None:
    tcp, unix, rec = both
    refused = 0
    for method, path, body, query in _wrong_requests(ROUTES[name]):
        answers = [attempt(client, method, path, body=body, query=query) for client in (tcp, unix)]
        one, two = (rec.settled_answer(answer) for answer in answers)
        assert one == two, (method, path)
        refused += answers[0].status >= 400
    assert refused


@pytest.mark.parametrize("name", ONE_SIDED)
def test_what_one_listener_serves_alone_is_unknown_to_the_other(
    name: str, both: tuple[DaemonClient, DaemonClient, Recorder]
) -> None:
    route = ROUTES[name]
    other = both[0] if route.transport == "unix" else both[1]
    path = re.sub(r"\{(\w+)\}", "no-such", route.path)
    answer = attempt(other, route.method, path, body={} if route.body else None)
    assert (answer.status, msgspec.json.decode(answer.body)["code"]) == (404, "route_not_found")
