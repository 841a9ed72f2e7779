"""Drive sessions of a real daemon in tests: an agent per script, prompts as streams, events to compare.

`World` is one home with one daemon and a workspace; its agents are the scripted fake agent (see fake_agent.py).
"""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compozy.client import Answer, DaemonClient
from tests.kit.agents import fake_agent_command
from tests.kit.daemons import PATIENCE, Daemon, make_home

AGENT_FILE = """---
name: {name}
{fields}---
You do what your script says.
"""


@dataclass
class Stream:
    """What a prompt's stream said."""

    frames: list[dict[str, Any]]
    done: bool

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [frame for frame in self.frames if frame["type"] == kind]

    @property
    def text(self) -> str:
        return "".join(frame["delta"] for frame in self.of("text-delta"))

    @property
    def turn_id(self) -> str:
        return str(self.of("start")[0]["messageId"])

    @property
    def finish(self) -> str:
        return str(self.of("finish")[0]["finishReason"])


@dataclass
class World:
    """A home, its daemon and a workspace."""

    folder: Path
    config: str = ""
    http: bool = False
    daemon: Daemon = None  # type: ignore[assignment]  # made below unless one is lent
    workspace: Path = field(init=False)
    _number: int = 0
    _client: DaemonClient | None = None
    _is_lent: bool = False

    def __post_init__(self) -> None:
        self.workspace = self.folder / "work"
        self.workspace.mkdir()
        self._is_lent = self.daemon is not None
        if not self._is_lent:
            self.daemon = Daemon(make_home(self.folder / "home", config=self.config, http=self.http))

    def start(self) -> "World":
        self.daemon.start()
        return self

    @property
    def client(self) -> DaemonClient:
        """A client that ends with the world; one connection is used again and again."""
        if self._client is None:
            self._client = self.daemon.client()
        return self._client

    def end(self) -> None:
        """End the client and, unless it is lent, the daemon."""
        if self._client is not None:
            self._client.close()
            self._client = None
        if not self._is_lent:
            self.daemon.end()

    def agent(self, name: str, script: Mapping[str, object] | None = None, **fields: str) -> str:
        """Write an agent of the home that follows the script."""
        scripts = self.folder / "scripts"
        scripts.mkdir(exist_ok=True)
        fields = {"command": json.dumps(fake_agent_command(scripts, script, name=name)), **fields}
        return self.write_agent(self.daemon.home.agents, name, **fields)

    def write_agent(self, agents: Path, name: str, **fields: str) -> str:
        """Write an AGENT.md with these header fields."""
        path = agents / name / "AGENT.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        head = "".join(f"{key}: {value}\n" for key, value in fields.items())
        path.write_text(AGENT_FILE.format(name=name, fields=head))
        return name

    def create(self, agent: str, **body: object) -> dict[str, Any]:
        """Create a session in the workspace and return it."""
        answer = self.client.request(
            "POST", "/api/sessions", body={"agent_name": agent, "workspace_path": str(self.workspace), **body}
        )
        assert answer.status == 201
        session: dict[str, Any] = answer.json()["session"]
        return session

    def path(self, session: Mapping[str, Any], rest: str = "") -> str:
        return f"/api/workspaces/{session['workspace_id']}/sessions/{session['id']}{rest}"

    def prompt_body(self, text: str, **body: object) -> dict[str, object]:
        self._number += 1
        return {
            "message": text,
            "message_id": f"msg-{self._number}",
            "idempotency_key": f"key-{self._number}",
            **body,
        }

    def prompt(self, session: Mapping[str, Any], text: str = "go", **body: object) -> Stream:
        """Send a prompt and read its stream to the end."""
        frames, done = [], False
        for frame in self.frames(session, text, **body):
            if frame is None:
                done = True
            else:
                frames.append(frame)
        return Stream(frames, done)

    def prompt_until(self, session: Mapping[str, Any], wanted: str, text: str = "go") -> Stream:
        """Prompt until the answer holds this: where limits are so short that a busy machine meets them."""
        end = time.monotonic() + PATIENCE
        while wanted not in (stream := self.prompt(session, text)).text:
            assert time.monotonic() < end, f"{wanted!r} was never answered"
        return stream

    def frames(self, session: Mapping[str, Any], text: str = "go", **body: object) -> Iterator[dict[str, Any] | None]:
        """Send a prompt and yield its frames; None stands for [DONE]."""
        with self.client.stream("POST", self.path(session, "/prompt"), body=self.prompt_body(text, **body)) as stream:
            assert stream.answer is None, stream.answer
            for event in stream:
                assert event is not None
                yield None if event.data == "[DONE]" else json.loads(event.data)

    def get(self, session: Mapping[str, Any], rest: str = "", **query: object) -> dict[str, Any]:
        """Read something of a session."""
        asked = {key: str(value) for key, value in query.items()}
        found: dict[str, Any] = self.client.request("GET", self.path(session, rest), query=asked).json()
        return found

    def post(self, session: Mapping[str, Any], rest: str, body: Mapping[str, object] | None = None) -> Answer:
        return self.client.request("POST", self.path(session, rest), body=dict(body or {}))

    def events(self, session: Mapping[str, Any], **query: object) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get(session, "/events", **{"limit": 1000, **query})["events"]
        return found

    def types(self, session: Mapping[str, Any]) -> list[str]:
        return [event["type"] for event in self.events(session)]

    def refresh(self, session: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = self.get(session)["session"]
        return found
