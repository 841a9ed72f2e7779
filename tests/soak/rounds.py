"""Rounds of random SIGKILL under load: an agent, one of its children, or the daemon dies while every session works.

After each round the books must balance: every event a client was shown is stored, in its order; every turn has ended
exactly once, and with success only where its agent came to the end; no process is left that belongs to nobody.
"""

import json
import os
import random
import signal
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compozy.client import ApiError
from compozy.model.errors import LocalError
from tests.kit.daemons import wait_until
from tests.kit.leftovers import living_with
from tests.kit.sessions import World

LAST = "END"
# A turn takes about a quarter of a second, so that most kills hit it.
STEPS: list[dict[str, object]] = [
    {"spawn": "sleep", "new_session": True},
    {"tool_call": {"toolCallId": "t", "title": "dig"}},
    {"repeat": 6, "steps": [{"flood": 25, "text": "n"}, {"sleep": 0.03}]},
    {"tool_update": {"toolCallId": "t", "status": "completed"}},
    {"text": LAST},
]
_ENDS = ("done", "error")


@dataclass
class Counts:
    """What a run saw; `faults` must stay empty."""

    rounds: int = 0
    turns: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    recovered: int = 0
    acknowledged: int = 0
    lost: int = 0
    orphans: int = 0
    wrong_states: int = 0
    replaced: int = 0
    faults: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Return the summary for a person."""
        kills = ", ".join(f"{count} × {name}" for name, count in sorted(self.kills.items()))
        ends = ", ".join(f"{count} {name}" for name, count in sorted(self.ends.items()))
        return [
            f"{self.rounds} rounds of random SIGKILL: {kills}",
            f"{self.turns} turns ended: {ends}; {self.recovered} restarts of agents succeeded",
            f"{self.acknowledged} events acknowledged to clients, {self.lost} lost",
            f"{self.orphans} orphans, {self.wrong_states} wrong final states",
        ]


class Watcher(threading.Thread):
    """A client that prompts one session and notes the texts it was shown."""

    def __init__(self, world: World, session: dict[str, Any], number: int) -> None:
        super().__init__(daemon=True)
        self.world, self.session, self.number = world, session, number
        self.shown: list[str] = []
        self.turn_id = ""

    def run(self) -> None:
        body = {"message": "go", "message_id": f"m-{self.number}", "idempotency_key": f"k-{self.number}"}
        try:
            with (
                self.world.daemon.client() as client,
                client.stream("POST", self.world.path(self.session, "/prompt"), body=body) as stream,
            ):
                for event in stream:
                    if event is None or event.data == "[DONE]":
                        continue
                    frame = json.loads(event.data)
                    if frame["type"] == "start":
                        self.turn_id = frame["messageId"]
                    elif frame["type"] == "text-delta":
                        self.shown.append(frame["delta"])
        except (ApiError, LocalError, OSError, ValueError):
            # The daemon was killed under it, or refused because it was: what was shown until then counts.
            pass


class Soak:
    """One home, its daemon and a number of sessions that work at once."""

    def __init__(self, folder: Path, *, seed: int, sessions: int) -> None:
        self.random = random.Random(seed)
        self.counts = Counts()
        self.world = World(folder).start()
        self.world.agent("digger", {"prompts": [STEPS]})
        self.sessions = [self.world.create("digger") for _ in range(sessions)]
        self._prompts = 0

    def end(self) -> None:
        """Stop everything."""
        self.world.end()

    def round(self) -> None:
        """Let every session work, kill something in the middle, and check the books."""
        self.counts.rounds += 1
        watchers = [self._prompt(session) for session in self.sessions]
        time.sleep(self.random.uniform(0.0, 0.45))
        victim = self.random.choices(("agent", "agent's child", "daemon"), (5, 2, 3))[0]
        self.counts.kills[victim] += 1
        if victim == "daemon":
            self._kill_daemon()
        else:
            self._kill_process(leader=victim == "agent")
        for watcher in watchers:
            watcher.join(60)
            if watcher.is_alive():
                self._fault("wrong_states", f"the turn of {watcher.session['id']} did not end")
        if victim != "daemon":
            self._settle()
        for watcher in watchers:
            self._check_session(watcher, victim)
        self._check_processes()
        self._replace_history()

    def _prompt(self, session: dict[str, Any]) -> Watcher:
        self._prompts += 1
        watcher = Watcher(self.world, session, self._prompts)
        watcher.start()
        return watcher

    def _kill_daemon(self) -> None:
        self.world.daemon.kill()
        self.world.end()
        self.world.start()

    def _kill_process(self, *, leader: bool) -> None:
        rows = self.world.client.request("GET", "/api/daemon/processes").json()["processes"]
        fitting = [row["pid"] for row in rows if row["is_leader"] == leader]
        if fitting:
            try:
                os.kill(self.random.choice(fitting), signal.SIGKILL)
            except ProcessLookupError:
                pass

    def _settle(self) -> None:
        def rests() -> bool:
            found = [self.world.refresh(session) for session in self.sessions]
            busy = ("binding", "recovering", "reconfiguring")
            return all("activity" not in one and one["runtime"]["status"] not in busy for one in found)

        wait_until(rests, "every session rests", 60)

    # --- the books

    def _fault(self, kind: str, text: str) -> None:
        setattr(self.counts, kind, getattr(self.counts, kind) + 1)
        self.counts.faults.append(f"round {self.counts.rounds}: {text}")

    def _check_session(self, watcher: Watcher, victim: str) -> None:
        session = watcher.session
        if not watcher.turn_id:
            # The prompt was not accepted before the daemon died: nothing was promised.
            return
        self.counts.turns += 1
        events = self.world.events(session, turn_id=watcher.turn_id)
        texts = [event["content"]["text"] for event in events if event["type"] == "agent_message"]
        self.counts.acknowledged += len(watcher.shown)
        if texts[: len(watcher.shown)] != watcher.shown:
            self._fault("lost", f"{session['id']}: what was shown is not what is stored")
        ends = [event["content"] for event in events if event["type"] in _ENDS]
        self.counts.recovered += sum(event["type"] == "runtime_recovery_succeeded" for event in events)
        if len(ends) != 1:
            self._fault("wrong_states", f"{session['id']}: {len(ends)} ends of one turn")
            return
        self.counts.ends[ends[0]["stop_reason"]] += 1
        self._check_end(session, victim, ends[0], texts)
        opened = {e["content"]["tool_call_id"] for e in events if e["type"] == "tool_call"}
        closed = {e["content"]["tool_call_id"] for e in events if e["type"] == "tool_result"}
        if opened - closed:
            self._fault("wrong_states", f"{session['id']}: a tool call was left open")

    def _check_end(self, session: dict[str, Any], victim: str, end: dict[str, Any], texts: list[str]) -> None:
        now = self.world.refresh(session)
        is_whole = bool(texts) and texts[-1] == LAST
        if end["stop_reason"] == "end_turn":
            if not is_whole:
                self._fault("wrong_states", f"{session['id']}: success without the agent's last word")
        elif victim != "daemon" or end["stop_reason"] != "interrupted":
            self._fault("wrong_states", f"{session['id']}: a {victim} was killed and the turn ended {end}")
        state = (now["state"], now.get("stop_reason"))
        allowed = {("stopped", "agent_crashed")} | ({("active", None)} if victim != "daemon" else set())
        if state not in allowed:
            self._fault("wrong_states", f"{session['id']}: {state} after a {victim} was killed")

    def _check_processes(self) -> None:
        listed = self.world.client.request("GET", "/api/daemon/processes").json()["processes"]
        known = {row["pid"] for row in listed} | {self.world.daemon.pid}
        home = f"COMPOZY_HOME={self.world.daemon.home.root}\0"
        strangers = [line for line in living_with(home) if int(line.split()[0]) not in known]
        for line in strangers:
            if Path(f"/proc/{line.split()[0]}").exists():
                self._fault("orphans", f"nobody owns {line}")
        stopped = {s["id"] for s in self.sessions if self.world.refresh(s)["state"] == "stopped"}
        for row in listed:
            if row["session_id"] in stopped:
                self._fault("orphans", f"a stopped session still has {row['name']} {row['pid']}")

    def _replace_history(self) -> None:
        """An agent that was killed while idle leaves a session that takes no more prompts."""
        for index, session in enumerate(self.sessions):
            if not self.world.refresh(session)["attachable"]:
                self.counts.replaced += 1
                self.sessions[index] = self.world.create("digger")
