"""A store that fails in the middle of a turn: nobody waits for ever, and the session works again afterwards."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from compozy import __version__
from compozy.acp.client import launch
from compozy.config.home import Home
from compozy.config.load import load_config
from compozy.config.redaction import Redactor
from compozy.config.secrets import Secrets
from compozy.model.event import EventDraft, StoredEvent
from compozy.runtime.configs import Configs
from compozy.runtime.fleet import Fleet
from compozy.runtime.sessions import Deps, Sessions
from compozy.runtime.sessions.create import CreateRequest
from compozy.runtime.sessions.prompting import PromptRequest
from compozy.runtime.sessions.recovery import end_recorded_processes
from compozy.runtime.sessions.turns import Turn
from compozy.runtime.trust import Trust
from compozy.runtime.workspaces import Workspaces
from compozy.store.interface import EventQuery, PromptRecord, SessionRecord, StoreUnavailable
from compozy.store.memory import MemoryStore
from tests.kit.agents import fake_agent_command
from tests.kit.daemons import make_home

pytestmark = pytest.mark.anyio


class FailingStore(MemoryStore):
    """Refuses to write events while `is_full`."""

    is_full = False

    async def append_events(
        self,
        session_id: str,
        drafts: Sequence[EventDraft],
        *,
        record: SessionRecord | None = None,
        prompt: PromptRecord | None = None,
    ) -> tuple[StoredEvent, ...]:
        if self.is_full:
            raise StoreUnavailable("no space left on device: free some and try again")
        return await super().append_events(session_id, drafts, record=record, prompt=prompt)


@pytest.fixture
async def store() -> FailingStore:
    made = FailingStore()
    await made.open()
    return made


@pytest.fixture
async def sessions(tmp_path: Path, store: FailingStore) -> AsyncIterator[Sessions]:
    home: Home = make_home(tmp_path / "home")
    agent = home.agents / "ann" / "AGENT.md"
    agent.parent.mkdir(parents=True)
    gate = tmp_path / "gate"
    script = {"prompts": [[{"text": "one"}, {"wait_file": str(gate)}, {"text": "two"}, {"wait_cancel": True}]]}
    agent.write_text(f"---\nname: ann\ncommand: '{fake_agent_command(tmp_path, script)}'\n---\nHello.\n")
    config = load_config(home)
    redactor = Redactor()
    trust = Trust(home)
    deps = Deps(
        store=store,
        home=home,
        config=config,
        launch=launch,
        end_processes=end_recorded_processes,
        redactor=redactor,
        secrets=Secrets(home, redactor),
        trust=trust,
        configs=Configs(home, config, trust),
        version=__version__,
    )
    made = Sessions(deps, Workspaces(store), Fleet(home, config))
    yield made
    await made.close(seconds=10)


async def test_followers_of_a_turn_that_cannot_be_stored_are_let_go_and_the_session_works_again(
    tmp_path: Path, sessions: Sessions, store: FailingStore
) -> None:
    (tmp_path / "work").mkdir()
    session = await sessions.create(CreateRequest(agent_name="ann", workspace_path=str(tmp_path / "work")))
    turn = await sessions.prompt(session.id, PromptRequest(message="go", message_id="m1", idempotency_key="k1"))
    assert isinstance(turn, Turn)
    seen: list[str] = []
    async with asyncio.timeout(30):
        async for batch in sessions.follow(session.id, 0):
            seen.extend(event.type for event in batch)
            if "agent_message" in seen and not store.is_full:
                store.is_full = True
                (tmp_path / "gate").touch()
        await turn.finished.wait()
    assert seen == ["user_message", "agent_message"]
    store.is_full = False
    (tmp_path / "gate").unlink()
    quick = PromptRequest(message='!steps [{"text": "back"}]', message_id="m2", idempotency_key="k2")
    async with asyncio.timeout(30):
        again = await sessions.prompt(session.id, quick)
        assert isinstance(again, Turn)
        await again.finished.wait()
    events = await store.read_events(session.id, EventQuery(after_sequence=0))
    ends = [(event.turn_id, event.type) for event in events if event.type in ("done", "error")]
    assert ends == [(turn.id, "error"), (again.id, "done")]
    assert (await sessions.get(session.id)).badge == "done"
