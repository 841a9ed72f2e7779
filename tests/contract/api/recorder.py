"""Calls a daemon over one listener and keeps what came back, without what must differ between two homes."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import msgspec

from compozy.client import Answer, ApiError, DaemonClient
from compozy.daemon.routes import ALL_ROUTES
from compozy.daemon.routing import Route

ROUTES: dict[str, Route] = {route.name: route for route in ALL_ROUTES}
# Of the machine and the moment, not of the answer.
_HEADERS_APART = ("date", "server", "content-length", "connection", "transfer-encoding", "keep-alive")
_FACTS_APART = (
    "pid",
    "parent_pid",
    "group",
    "rss_bytes",
    "uptime_seconds",
    "duration_ms",
    "size",
    "bytes",
    "global_db_size_bytes",
    "runtime_seconds",
)
_SECRETS_APART = ("approval_token",)
_TEXTS_APART = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)"), "<time>"),
    (re.compile(r"\b(ws_|(?:sess|turn|evt|int|inp|req|lease|apply|call|att|grant)-)[0-9a-f]{16}"), r"<\1>"),
    (re.compile(r"\bart_[0-9a-f]+"), "<art_>"),
    (re.compile(r"\bmcl_[0-9a-f]{16}"), "<mcl_>"),
    (re.compile(r"\b(client_id|state|code_challenge)=[\w-]+"), r"\1=<\1>"),
    (re.compile(r"\bdaemon \d+"), "daemon <pid>"),
    (re.compile(r"\bwait01[0-9A-Z]+"), "<wait>"),
)


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One answer: what is compared, and the body as it came."""

    route: str
    status: int
    headers: Mapping[str, object]
    body: object
    raw: bytes


@dataclass
class Recorder:
    """The calls of one life."""

    client: DaemonClient
    values: dict[str, str] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)

    def call(
        self,
        route_name: str,
        body: object = None,
        /,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        **values: str,
    ) -> dict[str, Any]:
        """Make the request of a route and return its decoded answer; path parameters come from `values`."""
        route = ROUTES[route_name]
        path = self.path(route, values)
        answer = attempt(self.client, route.method, path, query=query, body=body, headers=headers)
        self._keep(route_name, answer)
        decoded: dict[str, Any] = msgspec.convert(_decoded(answer) or {}, dict[str, Any]) if _is_json(answer) else {}
        return decoded

    def stream(
        self,
        route_name: str,
        body: object = None,
        /,
        *,
        query: Mapping[str, str] | None = None,
        while_idle: Callable[[], object] | None = None,
        compared: bool = True,
        **values: str,
    ) -> Iterator[dict[str, Any]]:
        """Open a stream and yield its events as data; kept when it has ended.

        Events that depend on who was quicker are yielded and not `compared`. With `while_idle`, which makes something
        happen, one event is all there is to see.
        """
        route = ROUTES[route_name]
        frames: list[object] = []
        tick = 0.05 if while_idle else None
        path = self.path(route, values)
        with self.client.stream(route.method, path, query=query, body=body, tick=tick) as opened:
            for event in opened:
                if event is None:
                    assert while_idle is not None
                    while_idle()
                    continue
                data = {"data": event.data} if event.data == "[DONE]" else json.loads(event.data)
                frames.append({"event": event.event, "data": data})
                yield data
                if while_idle is not None:
                    break
            text = json.dumps(frames if compared else []).encode()
            self._keep(route_name, Answer(status=200, headers=opened.headers, body=text))

    def path(self, route: Route, values: Mapping[str, str]) -> str:
        known = {**self.values, **values}
        return re.sub(r"\{(\w+)\}", lambda found: quote(known[found[1]], safe=""), route.path)

    def settled_answer(self, answer: Answer) -> tuple[int, dict[str, object], object]:
        """Return what two listeners must agree on."""
        headers = {key: self.settled(value) for key, value in answer.headers.items() if key not in _HEADERS_APART}
        return answer.status, headers, self.settled(_decoded(answer))

    def _keep(self, name: str, answer: Answer) -> None:
        status, headers, body = self.settled_answer(answer)
        self.seen.append(Seen(route=name, status=status, headers=headers, body=body, raw=answer.body))

    def settled(self, value: object, key: str = "") -> object:
        """Replace what differs between any two homes."""
        if isinstance(value, dict):
            if "restarts" in value:
                # How far a server has come with its start is of the moment.
                value = {name: value[name] for name in ("name", "transport", "defined_in")}
            if isinstance(value.get("summary"), dict) and "counts_by_severity" in value["summary"]:
                # A doctor's report counts those too; its items are compared.
                value = {name: inner for name, inner in value.items() if name not in ("summary", "status")}
            return {self.settled(name): self.settled(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            kept = [one for one in value if not (isinstance(one, dict) and one.get("category") == "mcp")]
            listed = [self.settled(inner, key) for inner in kept]
            # Processes come in the order of their numbers.
            is_by_number = any(isinstance(inner, dict) and "pid" in inner for inner in value)
            return sorted(listed, key=str) if is_by_number else listed
        if isinstance(value, str):
            if key in _SECRETS_APART:
                return f"<{key}>"
            for pattern, name in _TEXTS_APART:
                value = pattern.sub(name, value)
            return value
        return f"<{key}>" if key in _FACTS_APART and isinstance(value, int | float) else value


def _is_json(answer: Answer) -> bool:
    return answer.headers.get("content-type", "").startswith("application/json")


def _decoded(answer: Answer) -> object:
    return json.loads(answer.body) if _is_json(answer) and answer.body else answer.body.decode("latin-1")


def attempt(
    client: DaemonClient,
    method: str,
    path: str,
    *,
    body: object = None,
    query: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """Return the answer of a call, also when it is a refusal."""
    try:
        return client.request(method, path, body=body, query=query, headers=headers)
    except ApiError as refused:
        return Answer(status=refused.http_status, headers=refused.headers, body=json.dumps(refused.envelope).encode())
