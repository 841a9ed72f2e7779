"""What the runtime's unit tests share: asyncio, an event maker without secrets, updates made from plain data."""

from collections.abc import Callable

import msgspec
import pytest

from compozy.acp.contract import SessionUpdate
from compozy.config.redaction import Redactor
from compozy.runtime.sessions.content import EventMaker

MakeUpdate = Callable[..., SessionUpdate]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def maker() -> EventMaker:
    made = EventMaker("ann", Redactor())
    made.acp_session_id = "acp-1"
    return made


@pytest.fixture
def update() -> MakeUpdate:
    def make(kind: str, **fields: object) -> SessionUpdate:
        raw = msgspec.json.encode({"sessionUpdate": kind, **fields})
        return SessionUpdate(session_id="acp-1", kind=kind, raw=msgspec.Raw(raw))

    return make
