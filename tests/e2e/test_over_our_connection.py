"""Each real agent over the product's own ACP connection, without a daemon around it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from compozy.acp.client import AcpClient, launch
from compozy.acp.contract import AgentDied, AgentError, LaunchSpec, PermissionRequest, SessionOptions
from tests.e2e.conftest import Prepared, turn_script
from tests.kit.leftovers import left_after
from tests.kit.recording import Recording, until

pytestmark = [pytest.mark.anyio, pytest.mark.e2e]

START, TURN = 120.0, 120.0


class Person(Recording):
    """Answers every permission with the option of one kind, or (kind "") not at all."""

    def __init__(self, prepared: Prepared, kind: str = "allow_once") -> None:
        super().__init__(prepared.workspace)
        self.choose = self.choose_kind
        self.kind = kind

    async def choose_kind(self, request: PermissionRequest) -> str | None:
        if not self.kind:
            await asyncio.sleep(TURN)
        return next((option.option_id for option in request.options if option.kind == self.kind), None)


@asynccontextmanager
async def opened(prepared: Prepared, person: Person) -> AsyncIterator[tuple[AcpClient, SessionOptions]]:
    spec = LaunchSpec(argv=prepared.argv, env=prepared.env, cwd=str(prepared.workspace), marker=prepared.marker)
    client = await launch(spec, person)
    try:
        await client.initialize(client_version="1", timeout=START)
        options = await client.new_session(
            cwd=str(prepared.workspace), mcp_servers=[], additional_dirs=[], timeout=START
        )
        if prepared.agent.mode:
            await client.set_mode(options.session_id, prepared.agent.mode, timeout=START)
        yield client, options
    finally:
        await client.close()


async def run(client: AcpClient, options: SessionOptions, text: str) -> str:
    blocks = [{"type": "text", "text": text}]
    return (await asyncio.wait_for(client.prompt(options.session_id, blocks, meta={}), TURN)).stop_reason


async def test_a_turn_streams_text_asks_and_has_its_effect(prepared: Prepared) -> None:
    person, agent = Person(prepared), prepared.agent
    async with opened(prepared, person) as (client, options):
        assert await run(client, options, turn_script(prepared)) == "end_turn"
    assert {request.kind for request in person.permissions} == agent.asks
    if agent.has_model:
        assert "All is done here" in person.text()
        assert (prepared.workspace / "out.txt").read_text() == "written by the model"
        assert (prepared.workspace / "made.txt").exists()
    assert any(what == "write" for what, _ in person.log) == agent.writes_through_client
    assert any(what == "terminal" for what, _ in person.log) == agent.uses_terminal
    assert left_after(prepared.marker, 0.0) == [], "close returned, so nothing may live"


async def test_a_cancel_while_a_permission_is_pending_ends_the_turn(prepared: Prepared) -> None:
    person = Person(prepared, kind="")
    async with opened(prepared, person) as (client, options):
        text = f"[[sh touch {prepared.workspace}/made.txt]] [[say Then not]]"
        running = asyncio.create_task(run(client, options, text))
        await until(lambda: person.permissions or running.done(), "a permission request")
        await client.cancel(options.session_id)
        assert await running in ("cancelled", "end_turn")
    assert not (prepared.workspace / "made.txt").exists()
    assert left_after(prepared.marker, 0.0) == []


async def test_closing_in_the_middle_of_a_shell_command_leaves_no_process(prepared: Prepared) -> None:
    if not prepared.agent.has_model:
        pytest.skip(f"{prepared.agent.name}: runs no commands")
    person = Person(prepared)
    async with opened(prepared, person) as (client, options):
        text = f"[[sh sh -c 'touch {prepared.workspace}/made.txt; sleep 300']]"
        running = asyncio.create_task(run(client, options, text))
        await until(lambda: (prepared.workspace / "made.txt").exists() or running.done(), "the command runs")
        assert not running.done(), person.text()
        await client.close()
        (ending,) = await asyncio.wait_for(asyncio.gather(running, return_exceptions=True), TURN)
        assert ending == "cancelled" or isinstance(ending, AgentDied | AgentError), ending
    assert left_after(prepared.marker, 0.0) == []
