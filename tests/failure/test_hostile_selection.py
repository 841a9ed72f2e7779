"""`POST /api/agents/select` under attack: odd bodies, many at once while definitions change, kills in between.

Each request gets an answer or one envelope; nobody is ever told of an agent that is not there (issue 8 item 8).
"""

import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.failure.test_hostile_requests import port_of
from tests.kit.sessions import World

PATIENCE = 60
CALLS = 200
TOPICS = ("invoices", "translations", "deployments", "maps")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    made = World(tmp_path_factory.mktemp("selection"), http=True)
    for topic in TOPICS:
        write_agent(made, topic, 0)
    made.start()
    yield made
    made.end()


def write_agent(world: World, topic: str, version: int) -> None:
    folder = world.daemon.home.agents / f"does-{topic}"
    folder.mkdir(parents=True, exist_ok=True)
    capability = {"id": topic, "summary": f"Handles {topic}, number {version}", "outcome": f"The {topic} are done"}
    for name, text in (
        ("capabilities.json", json.dumps({"capabilities": [capability]})),
        ("AGENT.md", f"---\nname: does-{topic}\nprovider: offline\n---\nYou handle {topic}.\n"),
    ):
        temporary = folder / f"{name}.new"
        temporary.write_text(text)
        temporary.rename(folder / name)


def ask(port: int, body: bytes) -> tuple[int, dict[str, object]]:
    """Send a body as it is; status 0 when the daemon went away."""
    head = f"POST /api/agents/select HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    answer = b""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
            connection.sendall(head.encode() + body)
            while piece := connection.recv(65536):
                answer += piece
    except ConnectionError:
        return 0, {}
    lines, _, text = answer.partition(b"\r\n\r\n")
    return (int(lines.split(b" ", 2)[1]), json.loads(text)) if text else (0, {})


REFUSED = [
    b"",
    b"null",
    b"5",
    b'"task"',
    b"[]",
    b"{}",
    b'{"task": null}',
    b'{"task": 5}',
    b'{"task": ["x"]}',
    b'{"task": {"a": 1}}',
    b'{"task": "x", "require": "a"}',
    b'{"task": "x", "require": [5]}',
    b'{"task": "x", "require": [""]}',
    b'{"task": "x", "require": ["a b"]}',
    b'{"task": "x", "require": ["' + b"a" * 300 + b'"]}',
    b'{"task": "x", "require": ["a\\u0000b"]}',
    b'{"task": "x", "prefer": {"a": 1}}',
    b'{"task": "x", "workspace": 5}',
    b'{"task": "x", "workspace": "a", "workspace_path": "/b"}',
    b'{"task": "\\ud800"}',
    b'{"task": "\xff"}',
    b'{"task": "x", "x": 1}',
    b'{"task": "x"} {}',
    b'{"task": ' + b"[" * 100_000,
    b'{"task": 1' + b"0" * 5_000 + b"}",
    b'{"task": NaN}',
    '{"task": "x"}'.encode("utf-16"),
]


def test_a_body_of_another_form_is_refused_with_what_is_wrong(world: World) -> None:
    for body in REFUSED:
        status, envelope = ask(port_of(world), body)
        assert status in (400, 404, 422), (body[:60], status, envelope)
        assert len(json.dumps(envelope)) < 2_000


@pytest.mark.parametrize(
    "task",
    [
        "invoices " * 12_000,
        "i" * 100_000,
        "\u202einvoices\u202c",
        "🧾" * 1_000,
        "e\u0301" * 20_000,
        "\u0000",
        "\u0627\u0644\u0641\u0648\u0627\u062a\u064a\u0631",
        "a\u200b" * 10_000,
        "0" * 50_000,
        " ",
    ],
    ids=range(10),
)
def test_a_task_of_any_words_gets_an_answer(world: World, task: str) -> None:
    status, answer = ask(port_of(world), json.dumps({"task": task}).encode())
    if task.strip(" \0"):
        assert status == 200 and answer["reason"], answer
    else:
        assert status in (200, 400)
    assert len(json.dumps(answer)) < 20_000


def test_two_hundred_calls_while_definitions_change_each_get_a_right_answer(world: World) -> None:
    ended = threading.Event()

    def change() -> None:
        version = 0
        while not ended.is_set():
            version += 1
            for topic in TOPICS:
                write_agent(world, topic, version)
                # As fast as people and programs save, not as fast as a disk can.
                ended.wait(0.01)

    writer = threading.Thread(target=change)
    writer.start()
    try:
        with ThreadPoolExecutor(20) as pool:
            bodies = [json.dumps({"task": f"please handle the {TOPICS[n % 4]}"}).encode() for n in range(CALLS)]
            answers = list(pool.map(lambda body: ask(port_of(world), body), bodies))
    finally:
        ended.set()
        writer.join(PATIENCE)
    assert [status for status, _ in answers] == [200] * CALLS
    for number, (_, answer) in enumerate(answers):
        assert answer["agent"] == f"does-{TOPICS[number % 4]}", answer
        assert answer["fits"] is True


def test_two_places_at_once_are_never_taken_for_each_other(world: World, tmp_path: Path) -> None:
    places = []
    for name in ("one", "two"):
        folder = tmp_path / name / ".compozy" / "agents" / f"only-{name}"
        folder.mkdir(parents=True)
        (folder / "AGENT.md").write_text(f"---\nname: only-{name}\nprovider: offline\n---\nYou are here.\n")
        row = {"id": "gardening", "summary": "Waters the roses", "outcome": "The roses are watered"}
        (folder / "capabilities.json").write_text(json.dumps({"capabilities": [row]}))
        places.append(str(tmp_path / name))
    bodies = [json.dumps({"task": "water the roses", "workspace_path": places[n % 2]}).encode() for n in range(60)]
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda body: ask(port_of(world), body), bodies))
    assert [answer["agent"] for _, answer in answers] == ["only-one", "only-two"] * 30


def test_a_kill_in_between_costs_the_calls_under_way_and_nothing_else(world: World) -> None:
    port = port_of(world)
    with ThreadPoolExecutor(10) as pool:
        body = json.dumps({"task": "handle the invoices"}).encode()
        calls = [pool.submit(ask, port, body) for _ in range(60)]
        calls[5].result(PATIENCE)
        world.daemon.kill()
        answers = [call.result(PATIENCE) for call in calls]
    assert all(status in (0, 200) for status, _ in answers)
    assert all(answer["agent"] == "does-invoices" for status, answer in answers if status)
    world.daemon.start()
    status, answer = ask(port_of(world), body)
    assert (status, answer["agent"]) == (200, "does-invoices")
