"""`-o json` prints what the daemon sent: the typed client loses nothing (contract §4.3; issue 4 item 9)."""

from collections.abc import Mapping
from urllib.parse import quote, urlencode

import pytest

from compozy.client import connect
from tests.kit.agent_files import write_agent
from tests.kit.cli import Cli, steps

EDIT = {
    "permission": {"title": "Write notes.md", "kind": "edit"},
    "then": [{"text": "wrote"}],
    "else": [{"text": "no"}],
}
CAPABILITIES = """
[[capabilities]]
id = "review-change"
version = "2.1"
summary = "Review a change."
outcome = "Risks, each with file and line."
context_needed = ["the change"]
examples = ["review the last commit"]
"""
HEADER = """provider: offline
category_path: [quality, review]
permissions: deny-all
tools: [compozy__read]
mcp_servers:
  - name: notes
    command: notes-server
    env: {API_TOKEN: secret-value, PLAIN: yes it is}
"""


@pytest.fixture(scope="module")
def world(module_cli: Cli) -> Mapping[str, str]:
    """A workspace with a good, a hidden and a broken agent, an extension, and a session with every kind of event."""
    project = module_cli.folder
    write_agent(project / ".compozy/agents", "reviewer", extra=HEADER)
    (project / ".compozy/agents/reviewer/capabilities.toml").write_text(CAPABILITIES)
    write_agent(module_cli.home.agents, "reviewer", prompt="Hidden by the workspace.\n")
    write_agent(project / ".compozy/agents", "other", declared="other-name", extra="provider: offline\n")
    write_agent(project / ".compozy/agents", "broken", extra="permissions: never-heard\n")
    kit = project.parent / "kit"
    write_agent(kit / "agents", "brought")
    (kit / "extension.toml").write_text('name = "kit"\nversion = "1.0"\nagents = ["agents"]\n')
    for call in (("workspace", "add", "."), ("extension", "add", str(kit))):
        assert module_cli(*call).code == 0
    work = steps({"thought": "hm"}, {"plan": ["look"]}, {"tool_call": {"toolCallId": "t1", "title": "ls"}}, EDIT)
    new = ("session", "new", "--agent", "general", "--permissions", "approve-reads", "-o", "json")
    session = module_cli(*new).object()
    assert module_cli("session", "prompt", str(session["id"]), work, "--on-ask", "deny").code == 77
    shown = module_cli("agent", "info", "reviewer", "-o", "json").object()
    assert shown["origin"] == "workspace" and shown["capabilities"]
    digest = str(shown["definition_digest"])
    update = ("agent", "update", "reviewer", "--workspace", ".", "--expected-digest", digest)
    assert module_cli(*update, "--model", "small").code == 0
    workspace = str(session["workspace_id"])
    return {
        "workspace": workspace,
        "session": str(session["id"]),
        "of_session": f"/api/workspaces/{workspace}/sessions/{session['id']}",
    }


# The words of a command, the answer it is made of, and the member of the answer that it prints.
READS = {
    "agent list": ("/api/agents?{w}", "agents"),
    "agent list --workspace .": ("/api/agents?{w}", "agents"),
    "agent info reviewer": ("/api/agents/reviewer?{w}", "agent"),
    "agent info other-name": ("/api/agents/other-name?{w}", "agent"),
    "agent info broken": ("/api/agents/broken?{w}", "agent"),
    "agent resolve reviewer": ("/api/agents/reviewer/resolution?{w}", "resolution"),
    "agent which reviewer": ("/api/agents/reviewer/definitions?{w}", ""),
    "agent why reviwer": ("/api/agents/reviwer/definitions?{w}", ""),
    "agent why coordinator": ("/api/agents/coordinator/definitions?{w}", ""),
    "agent capabilities reviewer": ("/api/agents/reviewer/capabilities?{w}", "capabilities"),
    "agent history reviewer --workspace .": ("/api/agents/reviewer/history?{w}", "history"),
    "workspace list": ("/api/workspaces", "workspaces"),
    "workspace info": ("/api/workspaces/{workspace}", ""),
    "session list --all": ("/api/sessions?{w}", ""),
    "session list --state active": ("/api/sessions?state=active&{w}", ""),
    "session status {session}": ("/api/sessions/{session}", "session"),
    "session events {session}": ("{of_session}/events", "events"),
    "session events {session} --last 2": ("{of_session}/events?limit=2", "events"),
    "session events {session} --after 0 --type plan": ("{of_session}/events?after_sequence=0&type=plan", "events"),
    "session interactions {session}": ("{of_session}/interactions", ""),
    "extension list": ("/api/extensions", "extensions"),
    "roles list": ("/api/roles?{w}", "roles"),
    "roles show auto_title": ("/api/roles/auto_title?{w}", "role"),
    "mcp list": ("/api/mcp/servers?{w}", "mcp"),
    "trust show": ("/api/trust?{w}", "trust"),
    "provider list": ("/api/providers", "providers"),
    "provider status offline": ("/api/providers/offline", ""),
    "provider models list": ("/api/model-catalog/models?view=curated", "models"),
    "provider models list claude --all": ("/api/model-catalog/models?provider_id=claude&view=all", "models"),
    "status": ("/api/status", ""),
    "doctor": ("/api/doctor", ""),
}
# What differs from one moment to the next.
_MOMENTS = ("generated_at", "duration_ms", "uptime_seconds", "global_db_size_bytes")


@pytest.mark.parametrize("words", READS)
def test_a_reading_command_prints_the_daemons_answer(module_cli: Cli, world: Mapping[str, str], words: str) -> None:
    path, member = READS[words]
    named = {**world, "w": urlencode({"workspace": world["workspace"]})}
    with connect(module_cli.home) as client:
        answer = client.request("GET", path.format(**named)).json()
    sent = answer[member] if member else answer
    printed = module_cli(*words.format(**named).split(), "-o", "json").json()
    assert _settled(printed) == _settled(sent)
    assert printed or words == "provider models list"


def _settled(value: object, *, is_outermost: bool = True) -> object:
    """Leave out what says when or from where one asked."""
    if isinstance(value, dict):
        dropped = (*_MOMENTS, "resolution_source") if is_outermost else _MOMENTS
        return {k: _settled(v, is_outermost=False) for k, v in value.items() if k not in dropped}
    return [_settled(row, is_outermost=is_outermost) for row in value] if isinstance(value, list) else value


def test_a_changing_command_prints_the_daemons_answer(module_cli: Cli, world: Mapping[str, str]) -> None:
    with connect(module_cli.home) as client:

        def now(path: str, member: str) -> object:
            return client.request("GET", path, query={"workspace": world["workspace"]}).json()[member]

        created = module_cli("agent", "create", "fresh", "--workspace", ".", "--prompt", "Hi.", "-o", "json").object()
        assert created.pop("resolution_source") == "flag" and created == now("/api/agents/fresh", "agent")
        digest = str(created["definition_digest"])
        update = (
            "agent",
            "update",
            "fresh",
            "--workspace",
            ".",
            "--expected-digest",
            digest,
            "--tool",
            "compozy__read",
        )
        updated = module_cli(*update, "-o", "json").object()
        assert updated.pop("edit") == {"changed": True} and updated.pop("resolution_source")
        assert updated == now("/api/agents/fresh", "agent")
        copy = module_cli("agent", "duplicate", "fresh", "second", "--workspace", ".", "-o", "json").object()
        assert copy.pop("resolution_source") and copy == now("/api/agents/second", "agent")
        kept = module_cli("agent", "history", "fresh", "--workspace", ".", "-o", "json").json()
        assert isinstance(kept, list)
        restore = ("agent", "restore", "fresh", str(kept[0]["hash"]), "--workspace", ".", "-o", "json")
        restored = module_cli(*restore).object()
        assert restored.pop("resolution_source") and restored == now("/api/agents/fresh", "agent")
        deleted = module_cli("agent", "delete", "second", "--workspace", ".", "--yes", "-o", "json").object()
        assert deleted == {"resolution_source": "flag", "name": "second", "origin": "workspace"}
        edited = module_cli("workspace", "edit", ".", "--default-agent", "fresh", "-o", "json").object()
        assert edited.pop("resolution_source") == "positional"
        assert edited == now(f"/api/workspaces/{quote(world['workspace'])}", "workspace")
        renamed = module_cli("session", "rename", world["session"], "again", "-o", "json").object()
        with_state = now(f"/api/sessions/{world['session']}", "session")
        # Looked up for one session that is read, not for the answer to a change.
        assert {**renamed, "definition_state": "unchanged"} == with_state
