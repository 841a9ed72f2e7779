"""The fault kit: what real agents do wrong, as scripts of the fake agent, with what must come of it.

One `Fault` per scenario, numbered by the 18 groups of the survey of real agents (see docs/faults.md). `tests/failure/
test_fault_kit.py` runs each through a real daemon and checks five things every time: the session's final state, the
stored events, the answer to the client, that no process is left, and that the daemon's memory stayed bounded.
"""

# ruff: noqa: E501 - a scenario is read as one row

from dataclasses import dataclass, field
from typing import Any, Literal

Step = dict[str, Any]
Script = dict[str, Any]

CHUNK = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hi"}}
OPTION = {
    "id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": "a",
    "options": [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}],
}  # fmt: skip
EFFORT = {
    "id": "effort", "name": "Effort", "category": "thought_level", "type": "select", "currentValue": "low",
    "options": [{"value": "low", "name": "Low"}, {"value": "high", "name": "High"}],
}  # fmt: skip
SWITCH = {"id": "fast", "name": "Fast", "category": "model_config", "type": "boolean", "currentValue": False}
EDIT = {"toolCallId": "edit-1", "title": "Write notes", "kind": "edit"}
TOKEN = "tok_" + "5e6f7" * 4


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One scenario.

    Args:
        script: of the agent; `{folder}` in its strings is the test's own folder.
        fields: header fields of the agent's definition.
        refused: the code of the API error that answers the prompt, "" when a turn begins.
        text: what the agent's answer must hold.
        end: type and stop reason of the event that ends the turn.
        state: state and stop reason of the session afterwards.
        kinds: event types that must be stored.
        cancel_at: the type of the frame at which the client cancels the turn.
        stop_first: the session has a turn and is stopped before the prompt.
        goes_on: the next prompt of the same session is answered.
        limit: of its daemon: "silence" gives up on a silent agent after a moment, "grace" on one that was cancelled.
    """

    group: int
    name: str
    script: Script
    fields: dict[str, str] = field(default_factory=dict)
    refused: str = ""
    text: str = ""
    end: tuple[str, str] = ("done", "end_turn")
    state: tuple[str, str] = ("active", "")
    kinds: tuple[str, ...] = ()
    cancel_at: str = ""
    stop_first: bool = False
    goes_on: bool = True
    limit: Literal["", "silence", "grace"] = ""


def once(*first: Step, then: list[Step]) -> Step:
    """Return a step whose first process does `first` and whose later ones do `then`."""
    return {"first_time": "{folder}/once", "then": list(first), "else": then}


_RECOVERED = ("runtime_recovery_started", "runtime_recovery_succeeded")
_CANCELLED = ("done", "cancelled")
_STOPPED = ("stopped", "agent_crashed")
_READS = {"permissions": "approve-reads"}

DEATHS = (
    Fault(group=1, name="dies-at-start", script={"start": [{"stderr": "no config\n"}, {"exit": 3}]},
          refused="provider_classification_unknown", goes_on=False),
    Fault(group=1, name="dies-in-initialize", script={"on": {"initialize": [{"die": 9}]}},
          refused="provider_classification_unknown", goes_on=False),
    Fault(group=1, name="dies-in-a-turn", script={"prompts": [[once({"text": "a"}, {"exit": 9}, then=[{"text": "b"}])]]},
          text="b", kinds=_RECOVERED),
    Fault(group=1, name="dies-in-every-attempt", script={"prompts": [[{"text": "a"}, {"exit": 9}]]},
          end=("error", "error"), state=_STOPPED, kinds=("runtime_recovery_exhausted", "session_stopped")),
    Fault(group=1, name="launcher-killed-child-holds-stdout",
          script={"prompts": [[once({"spawn": "sleep", "hold_stdout": True}, {"die": 9}, then=[{"text": "b"}])]]},
          text="b", kinds=_RECOVERED),
    Fault(group=1, name="stdout-closed-while-it-lives",
          script={"prompts": [[once({"text": "a"}, {"close_stdout": True}, {"wait_file": "/none"}, then=[{"text": "b"}])]]},
          text="b", kinds=_RECOVERED),
)  # fmt: skip

SILENCE = (
    Fault(group=2, name="silent-after-a-chunk", limit="silence",
          script={"prompts": [[{"text": "a"}, {"wait_cancel": True}]]},
          end=("error", "timeout"), state=("stopped", "timeout"), kinds=("runtime_warning",)),
    Fault(group=2, name="silent-from-the-start", limit="silence", script={"prompts": [[{"never": True}]]},
          end=("error", "timeout"), state=("stopped", "timeout"), kinds=("runtime_warning",)),
    Fault(group=2, name="silent-and-deaf", limit="silence",
          script={"deaf": ["eof", "term"], "cancel": "ignore", "prompts": [[{"wait_file": "/none"}]]},
          end=("error", "timeout"), state=("stopped", "timeout"), kinds=("runtime_warning",)),
)  # fmt: skip

_SLOW = [{"text": "x"}, {"repeat": 400, "steps": [{"text": "y"}, {"sleep": 0.02}]}]
CANCELS = (
    Fault(group=3, name="cancel-while-streaming", script={"prompts": [_SLOW]}, cancel_at="text-delta", end=_CANCELLED),
    Fault(group=3, name="cancel-before-the-first-update", script={"prompts": [[{"wait_cancel": True}]]},
          cancel_at="start", end=_CANCELLED),
    Fault(group=3, name="cancel-in-a-terminal", fields={"permissions": "approve-all"},
          script={"prompts": [[{"text": "x"}, {"terminal": ["sleep", "600"]}]]}, cancel_at="text-delta", end=_CANCELLED),
    Fault(group=3, name="cancel-answered-with-end_turn", script={"cancel": "end_turn", "prompts": [_SLOW]},
          cancel_at="text-delta", end=_CANCELLED),
    Fault(group=3, name="cancel-answered-with-an-error", script={"cancel": "error", "prompts": [_SLOW]},
          cancel_at="text-delta", end=_CANCELLED),
    Fault(group=3, name="cancel-never-answered", limit="grace", script={"cancel": "never", "prompts": [_SLOW]},
          cancel_at="text-delta", end=_CANCELLED),
    Fault(group=3, name="late-updates-of-the-cancelled-turn",
          script={"prompts": [_SLOW], "after_cancel": [{"text": "late"}], "late": [{"text": "later"}]},
          cancel_at="text-delta", end=_CANCELLED),
)  # fmt: skip

PERMISSIONS = (
    Fault(group=4, name="unanswered-at-cancel", fields=_READS, script={"prompts": [[{"permission": EDIT}]]},
          cancel_at="data-compozy-permission", end=_CANCELLED, kinds=("permission",)),
    Fault(group=4, name="agent-dies-while-a-person-is-asked", fields=_READS,
          script={"prompts": [[once({"request": "session/request_permission", "async": True, "params": {
              "sessionId": "{session}", "toolCall": EDIT, "options": []}}, {"sleep": 0.1}, {"exit": 4},
              then=[{"text": "b"}])]]},
          text="b", kinds=("permission", *_RECOVERED)),
    Fault(group=4, name="no-title-no-kind", fields={"permissions": "deny-all"},
          script={"prompts": [[{"permission": {"toolCallId": "c", "title": None}, "else": [{"text": "no: {last}"}]}]]},
          text="no: opt-reject_once", kinds=("permission",)),
    Fault(group=4, name="no-option-that-fits", fields={"permissions": "deny-all"},
          script={"prompts": [[{"permission": EDIT, "options": ["allow_once"], "else": [{"text": "{last}"}]}]]},
          text="cancelled", kinds=("permission",)),
    Fault(group=4, name="options-of-an-unknown-kind", fields={"permissions": "approve-all"},
          script={"prompts": [[{"permission": EDIT, "options": [{"optionId": "z", "name": "Z", "kind": "maybe"}],
                                "else": [{"text": "{last}"}]}]]},
          text="cancelled", kinds=("permission",)),
    Fault(group=4, name="only-always-is-offered", fields={"permissions": "approve-all"},
          script={"prompts": [[{"permission": EDIT, "options": ["allow_always"], "then": [{"text": "{last}"}]}]]},
          text="opt-allow_always", kinds=("permission",)),
)  # fmt: skip

PROCESSES = (
    Fault(group=5, name="child-in-its-own-session",
          script={"prompts": [[{"spawn": "sleep", "new_session": True, "ignore_term": True}, {"text": "x"}]]}, text="x"),
    Fault(group=5, name="child-that-forks-twice", script={"prompts": [[{"daemonise": "{folder}/pid"}, {"text": "x"}]]},
          text="x", goes_on=False),
    Fault(group=5, name="launcher-that-forks-the-agent", script={"wrap": True, "prompts": [[{"text": "x"}]]}, text="x"),
    Fault(group=5, name="deaf-to-eof-and-sigterm", script={"deaf": ["eof", "term", "int"], "prompts": [[{"text": "x"}]]},
          text="x"),
)  # fmt: skip

_ALL = {"permissions": "approve-all"}
TERMINALS = (
    Fault(group=6, name="never-released", fields=_ALL,
          script={"prompts": [[{"terminal": ["sleep", "600"], "wait": False, "release": False}, {"text": "x"}]]}, text="x"),
    Fault(group=6, name="output-over-its-limit", fields=_ALL,
          script={"prompts": [[{"terminal": ["sh", "-c", "yes é | head -c 300000"], "limit": 9}, {"text": "{last}"}]]},
          text="é"),
    Fault(group=6, name="unknown-id", fields=_ALL,
          script={"prompts": [[{"request": "terminal/output", "params": {"sessionId": "{session}", "terminalId": "term-99"}},
                               {"text": "{last}"}]]}, text="error -32"),
    Fault(group=6, name="background-child-holds-the-pipe", fields=_ALL,
          script={"prompts": [[{"terminal": ["sh", "-c", "sleep 600 & echo out"]}, {"text": "{last}"}]]}, text="out"),
    Fault(group=6, name="names-a-terminal-nobody-made",
          script={"prompts": [[{"tool_call": {"content": [{"type": "terminal", "terminalId": "t-7"}]}}, {"text": "x"}]]},
          text="x", kinds=("tool_call", "tool_result")),
)  # fmt: skip

FRAMING = (
    Fault(group=7, name="line-of-563-kb", script={"prompts": [[{"huge": 563_000}, {"text": "x"}]]}, text="x"),
    Fault(group=7, name="line-of-3-mb", script={"prompts": [[{"huge": 3_000_000}, {"text": "x"}]]}, text="x"),
    Fault(group=7, name="bare-json-and-banners",
          script={"start": [{"line": "npm warn \u001b[33mold\u001b[0m"}],
                  "prompts": [[{"line": "null"}, {"line": "42"}, {"line": "[]"}, {"line": '"x"'}, {"line": ""},
                               {"line": '{"level": "info"}'}, {"text": "x"}]]}, text="x", kinds=("system",)),
    Fault(group=7, name="cut-inside-a-character",
          script={"prompts": [[{"cut": [31, 70, 91, 121], "message": {"method": "session/update", "params": {
              "sessionId": "{session}", "update": {**CHUNK, "content": {"type": "text", "text": "ééé€"}}}}}]]},
          text="ééé€"),
    Fault(group=7, name="answers-nobody-waits-for",
          script={"prompts": [[{"respond": {"id": 9999, "result": {}}}, {"respond": {"id": "x", "result": 1}},
                               {"text": "x"}]]}, text="x"),
    Fault(group=7, name="ids-as-strings", script={"string_ids": True, "prompts": [[{"text": "x"}]]}, text="x"),
    Fault(group=7, name="null-answers-load", stop_first=True, script={"load_result": None, "prompts": [[{"text": "x"}]]},
          text="x"),
)  # fmt: skip

FLOODS = (
    Fault(group=8, name="stderr-flood", script={"prompts": [[{"stderr_flood": 3_000_000}, {"text": "x"}]]}, text="x"),
    Fault(group=8, name="secret-on-stderr",
          script={"prompts": [[{"stderr": f"api_key={TOKEN}\n"}, {"exit": 6}]]},
          end=("error", "error"), state=_STOPPED, kinds=("runtime_recovery_exhausted",)),
    Fault(group=9, name="flood-of-updates", script={"prompts": [[{"flood": 10_000}, {"text": "x"}]]}, text="x"),
    Fault(group=9, name="agent-stops-reading", limit="silence",
          script={"deaf": ["eof", "term"], "prompts": [[{"text": "x"}, {"stop_reading": True}, {"wait_file": "/none"}]]},
          end=("error", "timeout"), state=("stopped", "timeout")),
)  # fmt: skip

UNKNOWN = (
    Fault(group=10, name="unknown-updates-and-values",
          script={"prompts": [[{"update": {"sessionUpdate": "notice", "level": "odd"}},
                               {"update": {"sessionUpdate": "usage_update", "used": None, "size": None}},
                               {"update": {"sessionUpdate": "tool_call", "toolCallId": "t", "kind": "teleport",
                                           "status": "pondering"}},
                               {"text": "x"}, {"stop": "error"}]]},
          text="x", end=("done", "error"), kinds=("system", "usage", "tool_call")),
    Fault(group=10, name="unprefixed-method",
          script={"prompts": [[{"request": "craft/drainMidTurnQueue"}, {"text": "{last}"}]]}, text="error -32601"),
    Fault(group=10, name="meta-that-lies",
          script={"prompts": [[{"notify": "session/update", "params": {
              "sessionId": "{session}", "update": CHUNK, "_meta": {"session_id": "EVIL", "update": "EVIL"}}}]]}, text="hi"),
    Fault(group=11, name="updates-before-the-session",
          script={"on": {"session/new": [{"notify": "session/update", "params": {
              "sessionId": "fake-1", "update": {"sessionUpdate": "available_commands_update", "availableCommands": []}}}]},
                  "prompts": [[{"text": "x"}]]}, text="x"),
    Fault(group=11, name="update-of-an-unknown-session",
          script={"prompts": [[{"update": CHUNK, "session": "stranger"}, {"text": "x"}]]}, text="x"),
    Fault(group=11, name="updates-after-the-end", script={"prompts": [[{"text": "x"}]], "late": [{"text": "late"}]},
          text="x"),
)  # fmt: skip

_REPLAY = [{"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": f"old{i}"}} for i in range(5)]
LOADS = (
    Fault(group=12, name="replay-before-the-answer", stop_first=True, text="x",
          script={"replay": _REPLAY, "prompts": [[{"text": "x"}]]}),
    Fault(group=12, name="replay-after-the-answer", stop_first=True, text="x",
          script={"replay_after": _REPLAY, "replay_pause": 0.02, "prompts": [[{"text": "x"}]]}),
    Fault(group=12, name="load-of-an-unknown-id", stop_first=True, text="x", kinds=("transcript_marker.created",),
          script={"load_error": {"code": -32603, "message": "no such session"}, "prompts": [[{"text": "x"}]]}),
    Fault(group=12, name="dies-over-it", stop_first=True, text="x", kinds=("transcript_marker.created",),
          script={"on": {"session/load": [{"exit": 1}]}, "prompts": [[{"text": "x"}]]}),
    Fault(group=12, name="resumes-without-replay", stop_first=True, text="x",
          script={"capabilities": {"sessionCapabilities": {"resume": {}}}, "prompts": [[{"text": "x"}]]}),
)  # fmt: skip

CONFIG = (
    Fault(group=13, name="option-that-goes-with-another", fields={"model": "b"}, text="x",
          script={"config_options": [OPTION, EFFORT], "prompts": [[{"text": "x"}]],
                  "config_rules": {"model": {"b": [{**OPTION, "currentValue": "b"}]}}}),
    Fault(group=13, name="legacy-models-only", fields={"model": "m2"}, text="x",
          script={"models": ["m1", "m2"], "prompts": [[{"text": "x"}]]}),
    Fault(group=13, name="modes-that-are-uris-and-a-switch", text="x",
          script={"modes": ["https://agent.example/modes#ask", "https://agent.example/modes#do"],
                  "config_options": [SWITCH], "prompts": [[{"text": "x"}]]}),
    Fault(group=13, name="options-changed-by-the-agent", text="x", script={"config_options": [OPTION], "prompts": [[
        {"update": {"sessionUpdate": "config_option_update", "configOptions": [SWITCH]}}, {"text": "x"}]]}),
    Fault(group=13, name="model-that-is-gone", fields={"model": "z"}, refused="model_unavailable", goes_on=False,
          script={"config_options": [OPTION]}),
    Fault(group=14, name="tool-calls-never-finished", text="x", kinds=("tool_call", "tool_result"),
          script={"prompts": [[{"tool_call": {"toolCallId": "t1"}}, {"tool_call": {"toolCallId": "t2"}}, {"text": "x"}]]}),
    Fault(group=14, name="agent-goes-on-by-itself", text="x",
          script={"prompts": [[{"text": "x"}]], "late": [{"sleep": 0.1}, {"tool_call": {"toolCallId": "t9"}},
                                                          {"text": "by myself"}]}),
    Fault(group=14, name="second-prompt-never-answered", text="x", script={"busy": "never", "prompts": [[{"text": "x"}]]}),
)  # fmt: skip

STARTS = (
    Fault(group=15, name="wants-a-login", refused="provider_not_authenticated", goes_on=False,
          script={"auth_methods": [{"id": "login", "name": "Log in", "type": "terminal"}],
                  "on": {"session/new": [{"error": {"code": -32000, "message": "Authentication required"}}]}}),
    Fault(group=15, name="login-lost-in-a-turn", end=("error", "error"),
          script={"prompts": [[{"error": {"code": -32000, "message": "token expired"}}]]}),
    Fault(group=16, name="speaks-version-2", refused="provider_classification_unknown", goes_on=False,
          script={"protocol_version": 2}),
    Fault(group=16, name="is-no-agent", refused="provider_classification_unknown", goes_on=False,
          script={"start": [{"line": "Usage: kimi [OPTIONS]"}, {"exit": 0}]}),
    Fault(group=16, name="syntax-error-at-start", refused="provider_classification_unknown", goes_on=False,
          script={"start": [{"stderr": "SyntaxError: Unexpected token '?'\n"}, {"exit": 1}]}),
    Fault(group=16, name="slow-to-answer", text="x",
          script={"on": {"initialize": [{"sleep": 0.5}]}, "prompts": [[{"text": "x"}]]}),
    Fault(group=16, name="refuses-the-servers", refused="provider_classification_unknown", goes_on=False,
          script={"on": {"session/new": [{"error": {"code": -32603, "message": "MCP server failed"}}]}}),
)  # fmt: skip

FILES = (
    Fault(group=17, name="missing-file", script={"prompts": [[{"read": "{cwd}/none"}, {"text": "{last}"}]]},
          text="error -32002"),
    Fault(group=17, name="outside-the-root", script={"prompts": [[{"read": "/etc/hostname"}, {"text": "{last}"}]]},
          text="error -32602"),
    Fault(group=17, name="link-out-of-the-root", script={"prompts": [[{"read": "{cwd}/link"}, {"text": "{last}"}]]},
          text="error -32602"),
    Fault(group=17, name="no-text", script={"prompts": [[{"read": "{cwd}/binary"}, {"text": "{last}"}]]}, text="\ufffd"),
    Fault(group=17, name="one-line-of-many",
          script={"prompts": [[{"read": "{cwd}/lines", "line": 2, "limit": 1}, {"text": "{last}"}]]}, text="two"),
    Fault(group=17, name="write-after-the-turn", fields=_READS, text="x",
          script={"prompts": [[{"text": "x"}]], "late": [{"write": "{cwd}/late", "content": "no"}]}),
)  # fmt: skip

FAULTS: tuple[Fault, ...] = (
    *DEATHS,
    *SILENCE,
    *CANCELS,
    *PERMISSIONS,
    *PROCESSES,
    *TERMINALS,
    *FRAMING,
    *FLOODS,
    *UNKNOWN,
    *LOADS,
    *CONFIG,
    *STARTS,
    *FILES,
)
