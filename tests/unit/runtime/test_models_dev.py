"""models.dev as a source: asked when told to, bounded, kept in the home, honest when out of reach (contract §3.6)."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from compozy.config.builtin_providers import BUILTIN_PROVIDERS
from compozy.config.home import Home
from compozy.model.provider_answers import ModelCost
from compozy.runtime.providers import models_dev
from compozy.runtime.providers.catalog import model_rows, source_states
from compozy.runtime.providers.models_dev import ModelsDev, read_document

CLAUDE = BUILTIN_PROVIDERS["claude"]
DOCUMENT = {
    "anthropic": {
        "id": "anthropic",
        "models": {
            "claude-sonnet-5": {
                "name": "Sonnet of the list",
                "tool_call": True,
                "reasoning": True,
                "release_date": "2026-05-01",
                "limit": {"context": 7, "output": 9},
                "cost": {"input": 1.5, "output": 2, "cache_read": 0.1},
            },
            "claude-other": {"name": "Other", "limit": {"context": 5}, "cost": {"input": 4, "output": 5}},
            "odd": {"limit": {"context": "many", "output": True}, "cost": {"input": -1}, "tool_call": "yes"},
            "broken": "text",
        },
    },
    "nobody-we-know": {"models": {"m": {}}},
}


class Answers:
    """What the address answers next."""

    def __init__(self) -> None:
        self.status, self.body, self.location = 200, json.dumps(DOCUMENT).encode(), ""
        self.asked = 0


@pytest.fixture
def answers() -> Iterator[tuple[Answers, str]]:
    said = Answers()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            said.asked += 1
            self.send_response(said.status)
            if said.location:
                self.send_header("Location", said.location)
            self.send_header("Content-Length", str(len(said.body)))
            self.end_headers()
            self.wfile.write(said.body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield said, f"http://127.0.0.1:{server.server_address[1]}/api.json"
    server.shutdown()
    server.server_close()
    thread.join(30)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.create()
    return home


def test_facts_are_read_as_they_are_published_and_odd_ones_are_left_out() -> None:
    found = read_document(DOCUMENT)
    assert set(found) == {"claude", "pi"}
    rows = {row.id: row for row in found["claude"]}
    assert set(rows) == {"claude-sonnet-5", "claude-other", "odd"}
    sonnet = rows["claude-sonnet-5"]
    assert (sonnet.context_window, sonnet.max_output_tokens, sonnet.supports_tools) == (7, 9, True)
    assert (sonnet.cost_input_per_million, sonnet.cost_cache_read_per_million) == (1.5, 0.1)
    odd = rows["odd"]
    assert (odd.context_window, odd.max_output_tokens, odd.cost_input_per_million, odd.supports_tools) == (None,) * 4


@pytest.mark.parametrize("value", [None, [], "x", {"anthropic": []}, {"anthropic": {"models": []}}])
def test_what_is_no_catalogue_names_nothing(value: object) -> None:
    assert read_document(value) == {}


def test_what_was_fetched_is_kept_in_the_home_and_ranks_between_the_lists_and_the_built_in_rows(
    home: Home, answers: tuple[Answers, str]
) -> None:
    said, address = answers
    assert ModelsDev(home).about("claude").models == () and said.asked == 0
    assert ModelsDev(home).refresh(address) == "" and said.asked == 1
    # Another process: the cache is enough, and nothing is asked.
    listed = ModelsDev(home).about("claude")
    rows = {row.model_id: row for row in model_rows(CLAUDE, None, listed, view="all")}
    sonnet = rows["claude-sonnet-5"]
    assert [one.source_id for one in sonnet.sources] == ["models_dev", "builtin"]
    assert sonnet.sources[0].priority == 50 and sonnet.sources[0].refreshed_at
    assert (sonnet.display_name, sonnet.context_window, sonnet.release_date) == (
        "Sonnet of the list",
        7,
        "2026-05-01",
    )
    assert sonnet.cost == ModelCost(input_per_million=1.5, output_per_million=2, cache_read_per_million=0.1)
    # What the built-in row alone says stays.
    assert sonnet.reasoning_efforts and sonnet.curated and sonnet.availability_state == "unknown"
    assert not rows["claude-other"].curated
    assert "claude-other" not in [row.model_id for row in model_rows(CLAUDE, None, listed)]
    state = {one.source_id: one for one in source_states(CLAUDE, None, listed, can_ask=False)}["models_dev"]
    assert (state.refresh_state, state.row_count, state.stale) == ("succeeded", 3, False)
    assert said.asked == 1


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (500, b"", "answers 500"),
        (404, b"", "answers 404"),
        (302, b"", "answers 302"),
        (200, b"<html>", "answers no JSON"),
        (200, b"[" * 100_000, "answers no JSON"),
        (200, b"{}", "names none of the providers"),
        (200, b'{"a": "' + b"x" * 2_000 + b'"}', "answers more than"),
    ],
)
def test_a_failed_question_says_why_and_what_was_known_stays_and_is_called_stale(
    home: Home, answers: tuple[Answers, str], monkeypatch: pytest.MonkeyPatch, status: int, body: bytes, words: str
) -> None:
    said, address = answers
    source = ModelsDev(home)
    assert source.refresh(address) == ""
    if b"xxx" in body:
        monkeypatch.setattr(models_dev, "_MOST_BYTES", 1_000)
    said.status, said.body, said.location = status, body, address if status == 302 else ""
    assert words in source.refresh(address)
    listed = source.about("claude")
    assert listed.is_stale and len(listed.models) == 3 and listed.answered_at <= listed.asked_at
    state = {one.source_id: one for one in source_states(CLAUDE, None, listed, can_ask=False)}["models_dev"]
    assert (state.refresh_state, state.stale) == ("failed", True) and words in state.last_error
    assert len(ModelsDev(home).about("claude").models) == 3


@pytest.mark.parametrize(
    "address", ["http://models.example/api.json", "ftp://x/y", "x", "https://u:p@models.example/"]
)
def test_an_address_that_others_could_listen_to_is_not_asked(home: Home, address: str) -> None:
    assert "write it like https://models.dev/api.json" in ModelsDev(home).refresh(address)


def test_an_address_nobody_listens_at_is_said_so(home: Home) -> None:
    source = ModelsDev(home)
    assert "does not answer" in source.refresh("http://127.0.0.1:9/api.json")
    assert source.about("claude").models == () and source.about("claude").is_stale


def test_a_cache_that_cannot_be_read_is_fetched_again(home: Home, answers: tuple[Answers, str]) -> None:
    path = ModelsDev(home).path
    path.parent.mkdir(exist_ok=True)
    path.write_text("half a fil")
    broken = ModelsDev(home)
    assert broken.about("claude").models == () and "refresh it" in broken.about("claude").error
    assert broken.refresh(answers[1]) == "" and broken.about("claude").models
