"""The typed client on a real daemon: records in, records out, a whole task without one path written by hand."""

from pathlib import Path

import pytest

import compozy
from compozy.client import ApiError, DaemonUnreachable
from compozy.model.session import Session
from tests.kit.daemons import Daemon


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    agent = folder / ".compozy" / "agents" / "scout"
    agent.mkdir(parents=True)
    (agent / "AGENT.md").write_text("---\nname: scout\nprovider: offline\n---\n\nFind things.\n")
    (agent / "capabilities.toml").write_text(
        '[[capabilities]]\nid = "find-code"\nsummary = "Find where kettles are filled."\noutcome = "Files, lines."\n'
    )
    (folder / "kettle.py").write_text("# the kettle is filled here\n")
    return folder


def test_a_task_runs_from_choice_to_transcript_in_records(shared_daemon: Daemon, workspace: Path) -> None:
    with compozy.Client(shared_daemon.home.root) as client:
        registered = client.workspaces.resolve(str(workspace))
        assert client.workspaces.resolve(str(workspace / ".compozy")) == registered
        assert registered in client.workspaces.list()
        assert {agent.name for agent in client.agents.list(registered.id).agents} >= {"scout"}
        assert client.agents.get("scout", registered.id).capabilities[0].id == "find-code"
        chosen = client.agents.select("find where the kettle is filled", registered.id)
        assert chosen.agent == "scout" and chosen.reason
        session = client.sessions.create(workspace=registered.id, agent=chosen.agent, permissions="approve-reads")
        assert isinstance(session, Session) and session.runtime.status == "unbound"
        kinds = [frame["type"] for frame in client.prompt(session, "where is the kettle filled?")]
        assert kinds[0] == "start" and kinds[-1] == "finish"
        text = "".join(
            part.text or ""
            for entry in client.sessions.transcript(session).entries
            for part in entry.message.parts
            if part.type == "text"
        )
        assert "kettle.py:1" in text
        events = client.sessions.events(session)
        assert [event.sequence for event in events] == list(range(1, len(events) + 1))
        assert client.sessions.interactions(session) == ()
        assert client.sessions.cancel(session).outcome == "nothing-in-flight"
        client.sessions.stop(session)
        assert client.sessions.get(session.id).state == "stopped"
        assert session.id in {row.id for row in client.sessions.list(registered.id).sessions}
        seen = [event.sequence for event in client.sessions.follow(session, after=len(events) - 2)]
        assert seen[:2] == [len(events) - 1, len(events)]
        client.sessions.delete(session)
        with pytest.raises(ApiError) as refused:
            client.sessions.get(session.id)
        assert refused.value.status == 404


def test_without_a_daemon_the_client_says_how_to_start_one(tmp_path: Path) -> None:
    with pytest.raises(DaemonUnreachable) as refused:
        compozy.Client(tmp_path)
    assert refused.value.hint == "compozy daemon start"


def test_the_first_steps_are_finished_and_shown_again(shared_daemon: Daemon) -> None:
    with compozy.Client(shared_daemon.home.root) as client:
        assert not client.settings.reset_onboarding().completed
        done = client.settings.complete_onboarding()
        assert done.completed and done.completed_at and done == client.settings.onboarding()
        assert client.settings.reset_onboarding() == client.settings.onboarding()


def test_a_session_is_looked_up_and_its_tools_are_those_it_sees(shared_daemon: Daemon, workspace: Path) -> None:
    with compozy.Client(shared_daemon.home.root) as client:
        registered = client.workspaces.resolve(str(workspace))
        session = client.sessions.create(workspace=registered.id, agent="scout")
        assert client.sessions.get(session.id, workspace=registered.id).id == session.id
        with pytest.raises(ApiError) as refused:
            client.sessions.get(session.id, workspace="ws-of-nobody")
        assert refused.value.status == 404
        seen = client.tools.list_of_session(session)
        assert seen and seen == client.tools.list(session_id=session.id)
        found = client.tools.search_of_session(session, "skill", limit=3)
        assert found and all(tool in seen for tool in found)
        assert client.providers.models("offline") == tuple(
            row for row in client.providers.models() if row.provider_id == "offline"
        )
