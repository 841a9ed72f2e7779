"""A scripted ACP agent in one stdlib-only process: does what its script says, also what no agent should do.

    python tests/kit/fake_agent.py SCRIPT.json        (a path, or the JSON text itself)
    python -m tests.kit.fake_agent SCRIPT.json
From tests: ``tests.kit.agents.fake_agent(tmp_path, {...})`` gives the argv. Nothing here imports compozy.

The script is one JSON object; every key is optional. ``{}`` is a polite agent that echoes each prompt.
  prompts        [[step, …], …]  the steps of the 1st, 2nd, … prompt; the last list repeats. Default: echo
                 A prompt with a line ``!steps [JSON]`` runs those steps instead (the last such line counts).
  start          [step, …]       before anything is read (banner lines, ``exit``, ``spawn``)
  on             {method: [step, …]}  before the usual answer to that method; a ``result``/``error``/``never`` step
                 replaces the answer.  Notifications count too.
  late           [step, …]       after each prompt's answer was sent (late updates)
  protocol_version 1 · capabilities {}  merged into agentCapabilities · agent_info {} · auth_methods []
  session_id     "fake-1"        ids count up: fake-1, fake-2, …
  modes          [ids] · current_mode · config_options [raw option, …] · models [ids] (legacy) · current_model
  config_rules   {option id: {value: [raw option, …]}}  what the option list becomes after that value was set
  replay         [update, …] before the answer of session/load · replay_after [update, …] after it
                 replay_pause   seconds before each of the latter
  load_result    any JSON (null counts) · load_error {code, message}
  cancel         "honour" (answer stopReason cancelled) | "ignore" | "end_turn" | "error" | "never"
  after_cancel   [step, …]       run when a cancel arrives in a turn, before its answer
  busy           "queue" | "refuse" | "parallel" | "cancel_first" | "never": second prompt of a busy session
  deaf           ["eof", "term", "int"]  what it ignores · stop_reading true: never reads stdin at all
  wrap           true: a launcher process that forks the real agent, which then holds stdin and stdout
  string_ids     true: answers echo the id as a string · record  path: every received line is appended there

Steps are objects; their first key is the verb. Strings may hold {prompt} {cwd} {session} {last} {pid}.
  talk     {"text": s} {"thought": s} {"echo": true} {"plan": [s | {content, priority, status}]}
           {"tool_call": {toolCallId?, title?, kind?, status?, …}} {"tool_update": {toolCallId?, status?, …}}
           {"update": raw update, "session"?: id} {"commands": [names]} {"usage": {used, size}}
           {"flood": N, "text"?: s}   N numbered agent_message_chunk "s0".."sN-1", pre-encoded
  ask      {"read": path, "line"?, "limit"?} {"write": path, "content": s}
           {"permission": {toolCall fields…}, "options"?: [kinds | raw options], "meta"?: {},
            "then"?: [step], "else"?: [step]}
           {"terminal": [argv…], "cwd"?, "env"?, "limit"?, "wait"?: true, "output"?: true, "release"?: true}
           {"request": method, "params": {}, "async"?: true, "id"?: any} {"notify": method, "params": {}}
           The answer is in {last}: file content, terminal output, the chosen option id or "cancelled", or JSON text;
           an error becomes "error CODE: message" (``then``/``else``: was something allowed?).
           {"mcp": method, "params"?: {}, "server"?: 0}   a request to a server of session/new, started on first
           use; {last} is its answer as JSON; "pad": [name, n] makes an argument of n letters.
           Methods of ours: "list_ids" (names of tools), "notes" (notifications), "close"
           {"mcp_program": argv}   runs a program with the session's servers as JSON on its input; {last}: its output
  end      {"stop": reason} {"result": any} {"error": {code, message}} {"never": true}   (default stop end_turn)
           {"exit": code} {"die": signal number} {"close_stdout": true} {"close_stdin": true} {"stop_reading": true}
  wait     {"wait_file": path} {"touch": path, "content"?: s} {"wait_cancel": true} {"sleep": seconds}
  wire     {"raw": s} exact text, no newline added · {"line": s} text plus newline · {"hex": s} exact bytes
           {"huge": bytes} one message chunk of that size · {"endless": bytes} bytes with no newline
           {"stderr": s} {"stderr_flood": bytes} {"cut": [sizes], "message": {}} one message written in pieces
           {"respond": {}} a JSON-RPC message as given (jsonrpc is added)
  process  {"spawn": argv | "sleep", "hold_stdout"?: true, "new_session"?: true, "clean_env"?: true,
            "ignore_term"?: true, "pid_file"?: path}
           {"daemonise": pid file}   a child that forks twice into a session of its own and sleeps
  repeat   {"repeat": N, "steps": [step, …]}
  lives    {"first_time": path, "then": [step, …], "else": [step, …]}  by whether this path is made now or was there:
           what a process that was started again does otherwise than the one before it
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

POLL = 0.005
NEVER = object()


def mcp_pipe():
    import importlib.util

    spec = importlib.util.spec_from_file_location("mcp_pipe", Path(__file__).with_name("mcp_pipe.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Cancelled(Exception):
    """The turn was cancelled while a step waited."""


class Answer(Exception):
    """A step decided how the running request is answered."""

    def __init__(self, message):
        self.message = message


class Turn:
    """One prompt in work."""

    def __init__(self, session, text, cwd):
        self.session, self.text, self.cwd = session, text, cwd
        self.last = ""
        self.cancelled = threading.Event()


class FakeAgent:
    def __init__(self, script):
        self.script = script
        self.out_lock = threading.Lock()
        self.turn_locks = {}
        self.turns = {}
        self.cwds = {}
        self.servers = []
        self.pipes = {}
        self.sessions = 0
        self.prompts = 0
        self.next_id = 0
        self.pending = {}
        self.stop_reading = bool(script.get("stop_reading"))
        self.options = script.get("config_options")
        self.mode = script.get("current_mode") or (script.get("modes") or [""])[0]
        self.model = script.get("current_model") or (script.get("models") or [""])[0]
        self.record = (
            os.open(script["record"], os.O_WRONLY | os.O_CREAT | os.O_APPEND) if "record" in script else None
        )

    # ---- wire -------------------------------------------------------------------------------------------------
    def write(self, data):
        with self.out_lock:
            view = memoryview(data)
            while view:
                view = view[os.write(1, view) :]

    def send(self, message):
        self.write(
            json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
        )

    def update(self, session, update):
        self.send({"method": "session/update", "params": {"sessionId": session, "update": update}})

    def answer(self, request_id, message):
        if self.script.get("string_ids"):
            request_id = str(request_id)
        self.send({"id": request_id, **message})

    def request(self, turn, method, params, request_id=None, wait=True):
        with self.out_lock:
            self.next_id += 1
            number = self.next_id if request_id is None else request_id
            box = self.pending[json.dumps(number)] = {"event": threading.Event()}
        self.send({"id": number, "method": method, "params": params})
        if not wait:
            return {}
        while not box["event"].wait(POLL):
            self.check(turn)
        return box["message"]

    def check(self, turn):
        if turn is not None and turn.cancelled.is_set() and self.script.get("cancel") != "ignore":
            raise Cancelled

    # ---- loop -------------------------------------------------------------------------------------------------
    def run(self):
        for name in self.script.get("deaf", []):
            if name != "eof":
                signal.signal({"term": signal.SIGTERM, "int": signal.SIGINT}[name], signal.SIG_IGN)
        if self.script.get("wrap"):
            child = os.fork()
            if child:
                os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF)
        self.steps(Turn("", "", str(Path.cwd())), self.script.get("start", []))
        while True:
            while self.stop_reading:
                time.sleep(POLL)
            line = sys.stdin.buffer.readline()
            if not line:
                break
            if self.record is not None:
                os.write(self.record, line)
            self.receive(json.loads(line))
        while "eof" in self.script.get("deaf", []):
            time.sleep(0.05)
        os._exit(0)

    def receive(self, message):
        if "method" not in message:
            box = self.pending.pop(json.dumps(message.get("id")), None)
            if box:
                box["message"] = message
                box["event"].set()
            return
        method, params = message["method"], message.get("params") or {}
        if method == "session/prompt":
            text = "\n".join(b.get("text", "") for b in params.get("prompt", []) if b.get("type") == "text")
            session = params.get("sessionId", "")
            turn = Turn(session, text, self.cwds.get(session, ""))
            # Known before the next message is read, so that a cancel right behind the prompt finds it.
            self.turns.setdefault(session, []).append(turn)
            threading.Thread(target=self.prompt, args=(message["id"], turn), daemon=True).start()
            return
        try:
            turn = Turn(params.get("sessionId", ""), "", params.get("cwd", ""))
            self.steps(turn, self.script.get("on", {}).get(method, []))
            answer = {"result": self.result(method, params)} if "id" in message else None
        except Answer as decided:
            answer = decided.message
        if method == "session/cancel":
            for turn in list(self.turns.get(params.get("sessionId"), [])):
                turn.cancelled.set()
        if answer is not None and answer is not NEVER and "id" in message:
            self.answer(message["id"], answer)
        if method == "session/load" and answer is not NEVER:
            for update in self.script.get("replay_after", []):
                time.sleep(self.script.get("replay_pause", 0))
                self.update(params["sessionId"], update)

    def result(self, method, params):
        handler = getattr(self, "do_" + method.replace("/", "_"), None)
        if handler is None:
            raise Answer({"error": {"code": -32601, "message": f"Method not found: {method}"}})
        return handler(params)

    def do_initialize(self, params):
        capabilities = {"loadSession": True, "promptCapabilities": {"image": True, "embeddedContext": True}}
        capabilities.update(self.script.get("capabilities", {}))
        return {
            "protocolVersion": self.script.get("protocol_version", 1),
            "agentCapabilities": capabilities,
            "agentInfo": self.script.get("agent_info", {"name": "fake-agent", "version": "1.0.0"}),
            "authMethods": self.script.get("auth_methods", []),
        }

    def do_authenticate(self, params):
        return {}

    def do_session_new(self, params):
        self.sessions += 1
        base = self.script.get("session_id", "fake-1")
        session = base if self.sessions == 1 else f"{base.rsplit('-', 1)[0]}-{self.sessions}"
        self.cwds[session] = params.get("cwd", "")
        self.servers, self.pipes = params.get("mcpServers") or [], {}
        return {"sessionId": session, **self.options_body()}

    def do_session_load(self, params):
        if self.script.get("load_error"):
            raise Answer({"error": self.script["load_error"]})
        self.cwds[params["sessionId"]] = params.get("cwd", "")
        self.servers, self.pipes = params.get("mcpServers") or [], {}
        for update in self.script.get("replay", []):
            self.update(params["sessionId"], update)
        return self.script["load_result"] if "load_result" in self.script else self.options_body()

    def do_session_resume(self, params):
        self.cwds[params["sessionId"]] = params.get("cwd", "")
        return self.options_body()

    def do_session_close(self, params):
        return {}

    def do_session_cancel(self, params):
        return {}

    def do_session_set_mode(self, params):
        self.mode = params["modeId"]
        return {}

    def do_session_set_model(self, params):
        self.model = params["modelId"]
        return {}

    def do_session_set_config_option(self, params):
        option_id, value = params["configId"], params["value"]
        found = [o for o in self.options or [] if o["id"] == option_id]
        offered = [v["value"] for o in found for v in o.get("options", [])]
        if not found or (offered and value not in offered):
            raise Answer({"error": {"code": -32602, "message": f"no such option or value: {option_id} {value}"}})
        rule = self.script.get("config_rules", {}).get(option_id, {}).get(str(value))
        self.options = rule or [{**o, "currentValue": value} if o["id"] == option_id else o for o in self.options]
        return {"configOptions": self.options}

    def options_body(self):
        body = {}
        if self.script.get("modes"):
            modes = [{"id": m, "name": m.title()} for m in self.script["modes"]]
            body["modes"] = {"availableModes": modes, "currentModeId": self.mode}
        if self.script.get("models"):
            models = [{"modelId": m, "name": m} for m in self.script["models"]]
            body["models"] = {"availableModels": models, "currentModelId": self.model}
        if self.options is not None:
            body["configOptions"] = self.options
        return body

    # ---- turns ------------------------------------------------------------------------------------------------
    def prompt(self, request_id, turn):
        busy = self.script.get("busy", "queue")
        with self.out_lock:
            lock = self.turn_locks.setdefault(turn.session, threading.Lock())
        locked = busy != "parallel" and lock.acquire(blocking=False)
        try:
            if not locked and busy == "refuse":
                self.answer(request_id, {"error": {"code": -32600, "message": "a prompt is already running"}})
                return
            if not locked and busy == "never":
                return
            if not locked and busy == "cancel_first":
                for other in self.turns[turn.session]:
                    if other is not turn:
                        other.cancelled.set()
            if not locked and busy != "parallel":
                locked = lock.acquire()
            answer = self.turn_answer(turn)
        finally:
            self.turns[turn.session].remove(turn)
            if locked:
                lock.release()
        if answer is not NEVER:
            self.answer(request_id, answer)
            self.quiet_steps(turn, self.script.get("late", []))

    def turn_answer(self, turn):
        try:
            self.steps(turn, self.script.get("on", {}).get("session/prompt", []))
            self.steps(turn, self.prompt_steps(turn))
        except Answer as decided:
            return decided.message
        except Cancelled:
            pass
        cancel = self.script.get("cancel", "honour")
        if turn.cancelled.is_set() and cancel != "ignore":
            self.quiet_steps(turn, self.script.get("after_cancel", []))
            if cancel == "error":
                return {"error": {"code": -32603, "message": "the turn was aborted"}}
            if cancel == "never":
                return NEVER
            return {"result": {"stopReason": "end_turn" if cancel == "end_turn" else "cancelled"}}
        return {"result": {"stopReason": "end_turn"}}

    def quiet_steps(self, turn, steps):
        turn.cancelled.clear()
        try:
            self.steps(turn, steps)
        except Answer:
            pass

    def prompt_steps(self, turn):
        directives = [line for line in turn.text.splitlines() if line.startswith("!steps ")]
        if directives:
            return json.loads(directives[-1].removeprefix("!steps "))
        prompts = self.script.get("prompts") or [[{"echo": True}]]
        self.prompts += 1
        return prompts[min(self.prompts, len(prompts)) - 1]

    def steps(self, turn, steps):
        for step in steps:
            self.check(turn)
            step = self.fill(turn, step)
            verb = next(iter(step))
            getattr(self, "step_" + verb)(turn, step[verb], step)

    def fill(self, turn, value):
        if isinstance(value, str):
            facts = {"prompt": turn.text, "cwd": turn.cwd, "session": turn.session, "last": turn.last}
            for name, fact in {**facts, "pid": str(os.getpid())}.items():
                value = value.replace("{" + name + "}", fact)
            return value
        if isinstance(value, list):
            return [self.fill(turn, v) for v in value]
        if isinstance(value, dict):
            # Nested steps are filled when they run: {last} changes on the way.
            return {k: v if k in ("steps", "then", "else") else self.fill(turn, v) for k, v in value.items()}
        return value

    # ---- steps: talk --------------------------------------------------------------------------------------------
    def chunk(self, turn, kind, text):
        self.update(turn.session, {"sessionUpdate": kind, "content": {"type": "text", "text": text}})

    def step_text(self, turn, text, step):
        self.chunk(turn, "agent_message_chunk", text)

    def step_thought(self, turn, text, step):
        self.chunk(turn, "agent_thought_chunk", text)

    def step_echo(self, turn, value, step):
        self.chunk(turn, "agent_message_chunk", turn.text)

    def step_plan(self, turn, entries, step):
        shape = {"priority": "medium", "status": "pending"}
        entries = [{**shape, "content": e} if isinstance(e, str) else {**shape, **e} for e in entries]
        self.update(turn.session, {"sessionUpdate": "plan", "entries": entries})

    def step_tool_call(self, turn, fields, step):
        base = {
            "sessionUpdate": "tool_call",
            "toolCallId": "call-1",
            "title": "A tool",
            "kind": "other",
            "status": "pending",
        }
        self.update(turn.session, {**base, **fields})

    def step_tool_update(self, turn, fields, step):
        base = {"sessionUpdate": "tool_call_update", "toolCallId": "call-1", "status": "completed"}
        self.update(turn.session, {**base, **fields})

    def step_update(self, turn, update, step):
        self.update(step.get("session", turn.session), update)

    def step_commands(self, turn, names, step):
        commands = [{"name": n, "description": n} for n in names]
        self.update(turn.session, {"sessionUpdate": "available_commands_update", "availableCommands": commands})

    def step_usage(self, turn, usage, step):
        self.update(turn.session, {"sessionUpdate": "usage_update", **usage})

    def step_flood(self, turn, count, step):
        update = {
            "sessionUpdate": "agent_message_chunk",
            "content": {"type": "text", "text": step.get("text", "") + "@@"},
        }
        params = {"sessionId": turn.session, "update": update}
        line = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}).encode() + b"\n"
        head, tail = line.split(b"@@")
        for start in range(0, count, 2000):
            self.check(turn)
            self.write(b"".join(b"%s%d%s" % (head, i, tail) for i in range(start, min(start + 2000, count))))

    # ---- steps: ask ---------------------------------------------------------------------------------------------
    def ask(self, turn, method, params, read):
        message = self.request(turn, method, params)
        if message.get("error") is not None:
            turn.last = f"error {message['error'].get('code')}: {message['error'].get('message')}"
            return False
        turn.last = str(read(message.get("result") or {}))
        return True

    def step_read(self, turn, path, step):
        params = {"sessionId": turn.session, "path": path}
        params.update({k: step[k] for k in ("line", "limit") if k in step})
        self.ask(turn, "fs/read_text_file", params, lambda r: r.get("content"))

    def step_write(self, turn, path, step):
        params = {"sessionId": turn.session, "path": path, "content": step.get("content", "")}
        self.ask(turn, "fs/write_text_file", params, lambda r: "written")

    def step_permission(self, turn, tool_call, step):
        kinds = step.get("options", ["allow_once", "allow_always", "reject_once", "reject_always"])
        options = [{"optionId": f"opt-{k}", "name": k, "kind": k} if isinstance(k, str) else k for k in kinds]
        params = {"sessionId": turn.session, "options": options, "toolCall": {"toolCallId": "call-1", **tool_call}}
        if "meta" in step:
            params["_meta"] = step["meta"]
        allowed = self.ask(turn, "session/request_permission", params, lambda r: self.choice(r))
        kind = next((o.get("kind", "") for o in options if o.get("optionId") == turn.last), "")
        self.steps(turn, step.get("then" if allowed and kind.startswith("allow") else "else", []))

    def choice(self, result):
        outcome = result.get("outcome", {})
        return outcome.get("optionId") if outcome.get("outcome") == "selected" else outcome.get("outcome")

    def step_terminal(self, turn, argv, step):
        base = {"sessionId": turn.session}
        params = {**base, "command": argv[0], "args": argv[1:]}
        params.update({"cwd": step["cwd"]} if "cwd" in step else {})
        params.update({"outputByteLimit": step["limit"]} if "limit" in step else {})
        params.update({"env": [{"name": k, "value": v} for k, v in step.get("env", {}).items()]})
        if not self.ask(turn, "terminal/create", params, lambda r: r["terminalId"]):
            return
        base["terminalId"] = turn.last
        if step.get("wait", True):
            self.ask(turn, "terminal/wait_for_exit", base, lambda r: r.get("exitCode"))
        if step.get("output", True):
            self.ask(turn, "terminal/output", base, lambda r: r.get("output"))
        output = turn.last
        if step.get("release", True):
            self.ask(turn, "terminal/release", base, lambda r: "")
        turn.last = output

    def step_mcp(self, turn, method, step):
        number = step.get("server", 0)
        if number not in self.pipes:
            self.pipes[number] = mcp_pipe().McpPipe(self.servers[number])
            opened = self.pipes[number].open()
            if "error" in opened:
                turn.last = json.dumps(opened)
                return
        pipe = self.pipes[number]
        if method == "close":
            del self.pipes[number]
            answer = pipe.close()
        elif method == "notes":
            pipe.request("ping", {})
            answer = pipe.notes
        elif method == "list_ids":
            answer = pipe.request("tools/list", {})
            answer = [tool["name"] for tool in answer["result"]["tools"]] if "result" in answer else answer
        else:
            params = step.get("params", {})
            if "pad" in step:
                params["arguments"][step["pad"][0]] = "x" * step["pad"][1]
            answer = pipe.request(method, params)
        turn.last = json.dumps(answer)

    def step_mcp_program(self, turn, argv, step):
        done = subprocess.run(argv, input=json.dumps(self.servers), capture_output=True, text=True, check=False)
        turn.last = done.stdout or f"exit {done.returncode}: {done.stderr[-2000:]}"

    def step_request(self, turn, method, step):
        params = step.get("params", {})
        if step.get("async"):
            self.request(turn, method, params, step.get("id"), wait=False)
            return
        message = self.request(turn, method, params, step.get("id"))
        error = message.get("error")
        turn.last = (
            f"error {error.get('code')}: {error.get('message')}" if error else json.dumps(message.get("result"))
        )

    def step_notify(self, turn, method, step):
        self.send({"method": method, "params": step.get("params", {})})

    # ---- steps: end and wait ------------------------------------------------------------------------------------
    def step_stop(self, turn, reason, step):
        raise Answer({"result": {"stopReason": reason}})

    def step_result(self, turn, value, step):
        raise Answer({"result": value})

    def step_error(self, turn, error, step):
        raise Answer({"error": {"code": -32603, "message": "failed", **error}})

    def step_never(self, turn, value, step):
        raise Answer(NEVER)

    def step_exit(self, turn, code, step):
        os._exit(code)

    def step_die(self, turn, number, step):
        os.kill(os.getpid(), number)
        time.sleep(60)

    def step_close_stdout(self, turn, value, step):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def step_close_stdin(self, turn, value, step):
        self.stop_reading = True
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)

    def step_stop_reading(self, turn, value, step):
        self.stop_reading = bool(value)

    def step_wait_file(self, turn, path, step):
        while not Path(path).exists():
            self.check(turn)
            time.sleep(POLL)

    def step_touch(self, turn, path, step):
        part = Path(path + ".part")
        part.write_text(step.get("content", ""))
        part.rename(path)

    def step_wait_cancel(self, turn, value, step):
        while not turn.cancelled.wait(POLL):
            pass

    def step_sleep(self, turn, seconds, step):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.check(turn)
            time.sleep(min(POLL, max(0.0, end - time.monotonic())))

    def step_repeat(self, turn, count, step):
        for _ in range(count):
            self.steps(turn, step["steps"])

    def step_first_time(self, turn, path, step):
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            self.steps(turn, step.get("else", []))
        else:
            self.steps(turn, step.get("then", []))

    # ---- steps: wire and processes ------------------------------------------------------------------------------
    def step_raw(self, turn, text, step):
        self.write(text.encode("utf-8", "surrogatepass"))

    def step_line(self, turn, text, step):
        self.write(text.encode("utf-8", "surrogatepass") + b"\n")

    def step_hex(self, turn, text, step):
        self.write(bytes.fromhex(text))

    def step_huge(self, turn, size, step):
        self.chunk(turn, "agent_message_chunk", "x" * size)

    def step_endless(self, turn, size, step):
        block = b"x" * 65536
        for _ in range(size // len(block)):
            self.write(block)

    def step_stderr(self, turn, text, step):
        os.write(2, text.encode())

    def step_stderr_flood(self, turn, size, step):
        for _ in range(size // 1024):
            os.write(2, b"e" * 1023 + b"\n")

    def step_cut(self, turn, sizes, step):
        data = json.dumps({"jsonrpc": "2.0", **step["message"]}, ensure_ascii=False).encode() + b"\n"
        for size in sizes:
            self.write(data[:size])
            data = data[size:]
            time.sleep(POLL)
        self.write(data)

    def step_respond(self, turn, message, step):
        self.send(message)

    def step_spawn(self, turn, argv, step):
        if argv == "sleep":
            ignore = "signal.signal(signal.SIGTERM, signal.SIG_IGN);" if step.get("ignore_term") else ""
            argv = [
                sys.executable,
                "-I",
                "-S",
                "-c",
                f"import signal, time, sys;{ignore}print(flush=True);time.sleep(600)",
            ]
        stdout = None if step.get("hold_stdout") else subprocess.PIPE
        child = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=None if step.get("hold_stdout") else subprocess.DEVNULL,
            start_new_session=bool(step.get("new_session")),
            env={"PATH": os.environ.get("PATH", "")} if step.get("clean_env") else None,
        )
        if child.stdout is not None:
            child.stdout.readline()
        turn.last = str(child.pid)
        if "pid_file" in step:
            self.step_touch(turn, step["pid_file"], {"content": turn.last})

    def step_daemonise(self, turn, path, step):
        code = (
            "import os, sys, time\n"
            "if os.fork(): os._exit(0)\n"
            "os.setsid()\n"
            "if os.fork(): os._exit(0)\n"
            "os.setsid()\n"
            "open(sys.argv[1] + '.part', 'w').write(str(os.getpid()))\n"
            "os.rename(sys.argv[1] + '.part', sys.argv[1])\n"
            "time.sleep(600)\n"
        )
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run([sys.executable, "-I", "-S", "-c", code, path], check=True, **quiet)
        self.step_wait_file(turn, path, {})


def main():
    source = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("FAKE_AGENT_SCRIPT", "{}")
    text = source if source.lstrip().startswith("{") else Path(source).read_text()
    FakeAgent(json.loads(text)).run()


if __name__ == "__main__":
    main()
