"""The life of one home, in requests: every operation of the API succeeds once, with whatever it needs before it.

Told without a word about the listener. Whoever adds a route adds its success here, beside those of its resource.
"""

import json
import re
from typing import Any

from tests.contract.api.recorder import ROUTES, Recorder
from tests.kit.daemons import wait_until
from tests.kit.mcp_remote import browse
from tests.kit.sessions import World

CAPABILITIES = '[[capabilities]]\nid = "find-code"\nsummary = "Find code."\noutcome = "Files and lines."\n'
ASK = {
    "permission": {"title": "Write notes.md", "kind": "edit"},
    "then": [{"text": "wrote"}],
    "else": [{"text": "no"}],
}
# Operations that nothing in a test can bring to success, and why; their refusals are compared all the same.
ONLY_REFUSED: dict[str, str] = {}
FORM = {"type": "object", "properties": {"colour": {"type": "string", "title": "Which?", "enum": ["red", "blue"]}}}
WONDER = {"sessionId": "{session}", "mode": "form", "message": "Before I go on", "requestedSchema": FORM}


def live(world: World, rec: Recorder, guarded: str) -> None:
    """Live it; `guarded` is the address of an MCP server that asks for a login."""
    _write_files(world, guarded)
    _workspaces_and_agents(world, rec)
    _extensions_and_trust(world, rec)
    _settings_and_providers(rec)
    _sessions(world, rec)
    _children(world, rec)
    _a_person_answers(world, rec)
    _a_person_says_more(world, rec)
    _prompts_that_wait(world, rec)
    _files(rec)
    _tools(rec)
    _logins(rec)
    _reads(rec)
    _ends(world, rec)


def _write_files(world: World, guarded: str) -> None:
    world.agent("quick", {"prompts": [[{"thought": "hm"}, {"text": "done"}]]})
    world.agent("asking", {"prompts": [[ASK]]}, permissions="approve-reads")
    world.agent("wondering", {"prompts": [[{"request": "elicitation/create", "params": WONDER}, {"text": "{last}"}]]})
    gate = world.folder / "gate"
    slow = [{"text": "one"}, {"wait_file": str(gate)}, {"text": "end of one"}]
    world.agent("slow", {"prompts": [slow, [{"text": "two"}], [{"text": "three"}]]})
    world.write_agent(world.workspace / ".compozy/agents", "runner", command="/bin/true")
    kit = world.folder / "kit"
    world.write_agent(kit / "agents", "brought")
    (kit / "extension.toml").write_text('name = "kit"\nversion = "1.0"\nagents = ["agents"]\n')
    servers = {"notes": {"command": "notes-server"}, "vaulted": {"url": guarded}}
    (world.daemon.home.root / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    skill = world.workspace / ".compozy" / "skills" / "long"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: long\ndescription: many steps\n---\n" + "A step.\n" * 1_000)


def _workspaces_and_agents(world: World, rec: Recorder) -> None:
    made = rec.call("createWorkspace", {"root_dir": str(world.workspace), "name": "work"})
    rec.values["workspace_id"] = made["workspace"]["id"]
    rec.call("resolveWorkspace", {"path": str(world.workspace)})
    rec.call("updateWorkspace", {"default_agent": "quick"})
    here = {"workspace": rec.values["workspace_id"]}
    fields = {"name": "scout", "prompt": "Find things.", "provider": "offline"}
    rec.call("createAgent", {"scope": "workspace", "agent": fields, **here})
    (world.workspace / ".compozy/agents/scout/capabilities.toml").write_text(CAPABILITIES)
    rec.values["name"] = "scout"
    digest = rec.call("getAgent", query=here)["agent"]["definition_digest"]
    changed = {**fields, "model": "small"}
    rec.call("updateAgent", {"agent": changed, "expected_digest": digest, **here})
    rec.call("updateAgent", {"agent": fields, "expected_digest": digest, **here})
    rec.call("duplicateAgent", {"name": "second", **here})
    rec.call("deleteAgent", name="second", query=here)
    kept = rec.call("listAgentHistory", query=here)["history"]
    rec.call("restoreAgent", {"hash": kept[0]["hash"], **here})
    rec.call("selectAgent", {"task": "find code", **here})


def _extensions_and_trust(world: World, rec: Recorder) -> None:
    rec.call("addExtension", {"path": str(world.folder / "kit")})
    rec.call("disableExtension", name="kit")
    rec.call("enableExtension", name="kit")
    here = {"workspace": rec.values["workspace_id"]}
    report = rec.call("showTrust", query=here)["trust"]
    rec.call("grantTrust", {**here, "digest": report["digest"]})
    rec.call("revokeTrust", query=here)


def _settings_and_providers(rec: Recorder) -> None:
    rec.call("updateSettingsGeneral", {"config": {"permissions": {"mode": "approve-reads"}}})
    rec.call("reloadSettings")
    rec.call("putSettingsProvider", {"settings": {"command": "/bin/true"}}, name="new")
    rec.call("deleteSettingsProvider", name="new")
    rec.values |= {"provider_id": "openai-compatible", "role": "auto_title"}
    rec.call("probeProviderAuth")
    rec.call("refreshProviderModels", {})
    rec.call("refreshProviderModelsByProvider", {})
    rec.call("curateProviderModel", {"model_id": "fake-model", "featured": True})
    rec.call("completeOnboarding")
    rec.call("resetOnboarding")
    rec.call("drainDaemon")
    rec.call("createSession", {"workspace": rec.values["workspace_id"]})
    rec.call("undrainDaemon")


def _create(rec: Recorder, agent: str, **more: str) -> dict[str, str]:
    body = {"workspace": rec.values["workspace_id"], "agent_name": agent, **more}
    session = rec.call("createSession", body)["session"]
    return {"session_id": session["id"]}


def _sessions(world: World, rec: Recorder) -> None:
    one = _create(rec, "quick", name="first")
    rec.values |= one
    rec.call("setSessionRuntime", {"runtime": {"provider": "offline"}, "expected_revision": 0})
    rec.call("clearSessionRuntime", query={"expected_revision": "1"})
    for _ in rec.stream("sendSessionPrompt", world.prompt_body("go")):
        pass
    told = world.prompt_body("again")
    for _ in rec.stream("sendSessionPrompt", told):
        pass
    rec.call("rewindSessionConversation", {"message_id": told["message_id"], "idempotency_key": "rewind-1"})
    rec.call("clearSessionConversation")
    rec.call("renameSession", {"name": "renamed"})
    # How often it takes until the watcher is there, nobody compares.
    aside = Recorder(rec.client, rec.values)
    for _ in rec.stream("streamSessionCatalog", while_idle=lambda: aside.call("renameSession", {"name": "again"})):
        pass
    rec.call("updateSessionPresence", {"visible": True})
    rec.call("attachSession", {"attached_to": "test", "ttl_seconds": 60})
    rec.call("waitForSession", {"timeout_ms": 1})
    rec.call("cancelSessionPrompt")
    rec.call("repairSession")


def _children(world: World, rec: Recorder) -> None:
    world.write_agent(world.daemon.home.agents, "child", provider="offline")
    parent = _create(rec, "child")
    caller = {"x-compozy-session-id": parent["session_id"], "x-compozy-agent": "child"}
    body = {"agent_name": "child", "spawn_role": "helper", "ttl_seconds": 60, "permissions": {}}
    rec.call("spawnAgentSession", body, headers=caller)
    rec.call("getAgentMe", headers=caller)
    rec.call("getAgentContext", headers=caller)
    rec.call("notifyOperator", {"title": "done"}, headers=caller)


def _a_person_answers(world: World, rec: Recorder) -> None:
    session = _create(rec, "asking", permissions="approve-reads")
    for answer in ("approveSession", "answerAttention"):
        for frame in rec.stream("sendSessionPrompt", world.prompt_body("ask"), compared=False, **session):
            question = frame.get("data") if frame.get("type") == "data-compozy-permission" else None
            if isinstance(question, dict) and not question.get("decision"):
                pending = rec.call("listSessionInteractions", query={"status": "pending"}, **session)["interactions"]
                waiting = rec.call("listAttention")["items"]
                if answer == "approveSession":
                    asked = {"request_id": pending[0]["provider_request_id"], "turn_id": pending[0]["turn_id"]}
                    rec.call("approveSession", {**asked, "decision": "allow-once"}, **session)
                else:
                    rec.call("answerAttention", {"decision": "reject-once"}, attention_id=waiting[0]["id"])


def _a_person_says_more(world: World, rec: Recorder) -> None:
    session = _create(rec, "wondering")
    for frame in rec.stream("sendSessionPrompt", world.prompt_body("go"), **session):
        event = frame.get("data") if frame.get("type") == "data-compozy-event" else None
        if isinstance(event, dict) and event.get("type") == "clarify" and not event.get("decision"):
            (waiting,) = rec.call("listSessionClarifications", **session)["clarifications"]
            asked = {"request_id": waiting["request_id"], **session}
            rec.call("answerSessionClarification", {"choice_index": 1}, **asked)


def _prompts_that_wait(world: World, rec: Recorder) -> None:
    session = _create(rec, "slow")
    turn = ""
    for frame in rec.stream("sendSessionPrompt", world.prompt_body("go"), compared=False, **session):
        if frame.get("type") == "start":
            turn = str(frame["messageId"])
        if frame.get("type") != "text-delta" or frame.get("delta") != "one":
            continue
        entries = [_queue(world, rec, session, text)["queue_entry_id"] for text in ("later", "promoted", "withdrawn")]
        rec.call("listSessionInputs", **session)
        identity = {"message_id": "edit-1", "idempotency_key": "edit-key-1"}
        rec.call("replaceSessionInput", {"text": "other", **identity}, queue_entry_id=entries[0], **session)
        rec.call("cancelQueuedSessionPrompt", queue_entry_id=entries[2], **session)
        steer = {"message_id": "edit-2", "idempotency_key": "edit-key-2", "expected_turn_id": turn}
        rec.call("promoteSessionInput", {"text": "now", **steer}, queue_entry_id=entries[1], **session)
        steer = {"message_id": "edit-3", "idempotency_key": "edit-key-3", "expected_turn_id": turn}
        rec.call("steerSessionPrompt", {"text": "and now", **steer}, **session)
        (world.folder / "gate").touch()
    quiet = Recorder(rec.client, rec.values | session)
    wait_until(lambda: not quiet.call("listSessionInputs")["inputs"], "the waiting prompts run")
    wait_until(lambda: quiet.call("getSession")["session"]["badge"] != "running", "the last turn ends")


def _queue(world: World, rec: Recorder, session: dict[str, str], text: str) -> dict[str, Any]:
    found: dict[str, Any] = rec.call("sendSessionPrompt", world.prompt_body(text, mode="queue"), **session)["prompt"]
    return found


def _tools(rec: Recorder) -> None:
    here = {"workspace_id": rec.values["workspace_id"]}
    rec.values["id"] = "compozy__workspace_info"
    rec.call("getTool", query=here)
    rec.call("getToolset", id="compozy__catalog", query=here)
    rec.call("searchTools", {"query": "list sessions", **here})
    rec.call("searchSessionTools", {"query": "list sessions"})
    rec.call("explainPermission", {"agent": "asking", "workspace": rec.values["workspace_id"], "kind": "edit"})
    rec.call("invokeTool", {"input": {}, **here})
    (kept,) = rec.call("invokeTool", {"input": {"name": "long"}, **here}, id="compozy__skill_view")["result"][
        "artifacts"
    ]
    rec.call("readToolArtifact", artifact_id=kept["uri"].partition(":")[2], query={"limit": "100"})
    rec.call("createToolApproval", {"input": {}, **here})
    grant = {"tool_id": "compozy__agent_create", "decision": "allow", "scope": "tool"}
    made = rec.call("setToolApprovalGrant", grant, query=here)["grant"]
    rec.call("listToolApprovalGrants", query=here)
    rec.call("revokeToolApprovalGrant", id=made["id"], query=here)


def _logins(rec: Recorder) -> None:
    login = rec.call("beginMcpLogin", {"server": "vaulted"})["login"]
    browse(login["url"])
    quiet = Recorder(rec.client, {**rec.values, "id": login["id"]})
    wait_until(lambda: quiet.call("getMcpLogin")["login"]["state"] != "waiting", "the login is over")
    rec.call("getMcpLogin", id=login["id"])
    # What later answers say of its tools must not depend on who was quicker.
    wait_until(lambda: _server_state(quiet) == "ready", "the server lets us in")
    rec.call("endMcpLogin", {"server": "vaulted"})
    wait_until(lambda: _server_state(quiet) == "needs_login", "the server does so no more")


def _server_state(quiet: Recorder) -> str:
    rows = quiet.call("getMcpStatus")["mcp"]["servers"]
    return next((str(row["state"]) for row in rows if row["name"] == "vaulted"), "")


def _files(rec: Recorder) -> None:
    part = b'content-disposition: form-data; name="file"; filename="notes.txt"\r\ncontent-type: text/plain\r\n\r\n'
    body = b"--edge\r\n" + part + b"the notes\r\n--edge--\r\n"
    kept = rec.call("uploadSessionAttachment", body, headers={"content-type": "multipart/form-data; boundary=edge"})[
        "attachment"
    ]
    rec.call("readSessionAttachmentBytes", attachment_id=kept["id"])
    rec.call("deleteSessionAttachment", attachment_id=kept["id"])


def _reads(rec: Recorder) -> None:
    """Ask every route that only reads and whose parameters are known."""
    here = {"workspace": rec.values["workspace_id"]}
    special = {
        "getMcpServer": {"name": "notes"},
        "getSettingsProvider": {"name": "offline"},
        "getOcmManifest": {"id": "local/scout/find-code"},
    }
    for route in ROUTES.values():
        more = special.get(route.name, {})
        named = set(re.findall(r"\{(\w+)\}", route.path))
        if route.method == "GET" and route.transport == "any" and not route.streams and named <= {*rec.values, *more}:
            rec.call(route.name, query=here if "workspace" in route.query else None, **more)


def _ends(world: World, rec: Recorder) -> None:
    rec.call("createBackup", {"path": str(world.folder / "backup.tar")})
    mine = rec.values["session_id"]
    for row in rec.call("listSessions", query={"state": "active"})["sessions"]:
        if row["id"] != mine:
            rec.call("deleteSession", session_id=row["id"])
    rec.call("stopSession")
    for _ in rec.stream("streamSession", query={"frames": "raw", "after_sequence": "0"}):
        pass
    rec.call("archiveSession")
    rec.call("unarchiveSession")
    rec.call("deleteSession")
    rec.call("runRetention", {})
    rec.call("removeExtension", name="kit")
    rec.call("deleteWorkspace")
