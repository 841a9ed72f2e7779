"""One turn, from task to answer: list, read, rank, tell, and write a findings file after asking.

Everything it does is shown to the client as a plan and tool calls before or while it happens. It stops at once when
cancelled (`Stopped` passes through) and ends in words, not errors, when the client refuses something.
"""

import os
import time
from collections.abc import Sequence

from compozy_offline_agent import listing, report
from compozy_offline_agent.client import ALLOW_ALWAYS, ALLOW_ONCE, REJECT_ONCE, Client
from compozy_offline_agent.listing import Entry, Listing
from compozy_offline_agent.ranking import Document, Finding, rank
from compozy_offline_agent.rpc import RpcError
from compozy_offline_agent.task import Task
from compozy_offline_agent.words import parts

MAX_FILES_READ = 2_000
MAX_BYTES_READ = 16 * 1024 * 1024
READING_SECONDS = 60.0
# Files of one reading tool call: enough to keep the record short, few enough to show progress.
BATCH = 20
# A client that refuses this many files without giving one does not want to be read from.
REFUSALS_IN_A_ROW = 3
# Folders whose files answer a question about the code less often than the code itself.
_ASIDE = ("test", "vendor", "third_party", "dist", "build", "docs", "examples", "fixtures")


class Turn:
    """The work on one task. `may_write` is kept by the session: the person said "always"."""

    def __init__(self, client: Client, *, cwd: str, mode: str, is_first: bool, may_write: bool) -> None:
        self._client, self._cwd, self._mode, self._is_first = client, cwd, mode, is_first
        self.may_write = may_write
        self._plan: list[list[str]] = []
        self._calls = 0
        self._open: set[str] = set()
        self._trouble: dict[str, int] = {}
        self._was_cut = ""

    def run(self, task: Task) -> None:
        """Do the task. Raises Stopped when cancelled."""
        if self._is_first:
            self._say(report.INTRODUCTION)
        self._say(report.words_used(task))
        if task.wants_change:
            self._say(report.NO_CHANGE)
        if not task.words and not task.phrases and not task.paths:
            self._say("Name what you look for, for example: where are failed payments retried?\n")
            return
        if not self._client.supports.read:
            self._say("This client does not let me read files, so there is nothing I can do.\n")
            return
        self._start_plan(task)
        found = self._list()
        self._advance()
        documents = self._read(task, found)
        self._advance()
        findings = rank(task, documents, self._client.check)
        about = report.coverage(len(documents), len(found.files), found.skipped, self._trouble, self._was_cut)
        self._say(about)
        if found.files and not documents:
            self._say("The client let me read none of them, so I have nothing to show or to write.\n")
            self._advance()
            return
        if not findings:
            self._say(report.nothing_found(task, len(documents)))
        for piece in report.answer(findings, documents):
            self._say(piece)
        self._advance()
        if task.write_to:
            self._write(task, about, findings, documents)
            self._advance()

    def close_open_calls(self) -> None:
        """Give every tool call that is still open a final status: the turn is over."""
        for call in sorted(self._open):
            self._client.update("tool_call_update", toolCallId=call, status="failed", content=[_text("stopped")])
        self._open.clear()

    # What the client sees

    def _say(self, text: str) -> None:
        self._client.update("agent_message_chunk", content={"type": "text", "text": text})

    def _start_plan(self, task: Task) -> None:
        steps = [
            "List the files of the workspace",
            "Read them through the client",
            "Rank and explain what bears on the task",
        ]
        steps += [f"Ask, then write the findings to {task.write_to}"] if task.write_to else []
        self._plan = [[step, "pending"] for step in steps]
        self._plan[0][1] = "in_progress"
        self._show_plan()

    def _advance(self) -> None:
        """Mark the running step as done and the next one as running."""
        for step in self._plan:
            if step[1] == "in_progress":
                step[1] = "completed"
            elif step[1] == "pending":
                step[1] = "in_progress"
                break
        self._show_plan()

    def _show_plan(self) -> None:
        entries = [{"content": step, "priority": "medium", "status": status} for step, status in self._plan]
        self._client.update("plan", entries=entries)

    def _begin(self, title: str, kind: str, **fields: object) -> str:
        self._calls += 1
        call = f"call-{os.getpid():x}-{id(self) & 0xFFFFFF:x}-{self._calls}"
        self._open.add(call)
        self._client.update("tool_call", toolCallId=call, title=title, kind=kind, status="in_progress", **fields)
        return call

    def _end(self, call: str, text: str, *, is_done: bool = True, title: str = "") -> None:
        fields: dict[str, object] = {"title": title} if title else {}
        status = "completed" if is_done else "failed"
        self._client.update("tool_call_update", toolCallId=call, status=status, content=[_text(text)], **fields)
        self._open.discard(call)

    # The steps

    def _list(self) -> Listing:
        if self._mode == "full-access" and self._client.supports.terminal:
            listed = self._list_in_terminal()
            if listed is not None:
                return listed
        title = "List the workspace's files (the agent looks at the folders itself)"
        call = self._begin(title, "search", locations=[{"path": self._cwd}])
        found = listing.Walk(self._cwd, self._read_ignore, self._client.stop).run()
        self._end(call, f"{len(found.files)} files to read, {sum(found.skipped.values())} left out")
        return found

    def _list_in_terminal(self) -> Listing | None:
        """List with git or find in the client's terminal, after asking; None when that is refused or fails."""
        is_git = os.path.exists(os.path.join(self._cwd, ".git"))
        by_git = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        command = by_git if is_git else ["find", ".", "-type", "f", "-print0"]
        title = f"Run {' '.join(command)}"
        raw = {"command": command[0], "args": command[1:], "cwd": self._cwd}
        call = self._begin(title, "execute", locations=[{"path": self._cwd}], rawInput=raw)
        asked = {"toolCallId": call, "title": title, "kind": "execute", "status": "pending", "rawInput": raw}
        try:
            chosen = self._client.ask(asked, [(ALLOW_ONCE, "Run it"), (REJECT_ONCE, "Do not run it")])
            if chosen != ALLOW_ONCE:
                self._end(call, "not allowed; I look at the folders myself instead", is_done=False)
                return None
            output, whole = self._client.run(command[0], command[1:], self._cwd)
        except RpcError as error:
            self._end(
                call, f"the client refused: {error.message}; I look at the folders myself instead", is_done=False
            )
            return None
        if not whole:
            self._end(call, "it failed or printed too much; I look at the folders myself instead", is_done=False)
            return None
        found = listing.from_output(self._cwd, output, f"ran {command[0]}")
        self._end(call, f"{len(found.files)} files to read, {sum(found.skipped.values())} left out")
        return found

    def _read_ignore(self, path: str) -> str:
        try:
            return self._client.read_text(path)
        except RpcError:
            return ""

    def _read(self, task: Task, found: Listing) -> list[Document]:
        documents = [Document(attachment.name, attachment.text) for attachment in task.attachments]
        files = self._most_promising(task, found.files)
        end = time.monotonic() + READING_SECONDS
        refused = 0
        for first in range(0, len(files), BATCH):
            batch = files[first : first + BATCH]
            call = self._begin(
                _reading(batch), "read", locations=[{"path": self._absolute(entry.path)} for entry in batch]
            )
            read = 0
            for entry in batch:
                document = self._read_one(entry)
                if document is not None:
                    documents.append(document)
                    read += 1
                refused = 0 if documents else refused + 1
                if refused >= REFUSALS_IN_A_ROW:
                    self._end(call, "the client refuses to give files", is_done=False)
                    return documents
            self._end(call, f"read {read} of {len(batch)}", is_done=read > 0)
            if time.monotonic() > end:
                self._was_cut = f"{READING_SECONDS:g} seconds of reading"
                break
        return documents

    def _read_one(self, entry: Entry) -> Document | None:
        try:
            text = self._client.read_text(self._absolute(entry.path))
        except RpcError:
            self._trouble["not given by the client"] = self._trouble.get("not given by the client", 0) + 1
            return None
        if "\0" in text or text.count("\ufffd") > len(text) // 50 + 1:
            self._trouble["binary inside"] = self._trouble.get("binary inside", 0) + 1
            return None
        if report.is_findings_file(text):
            self._trouble["of my own findings"] = self._trouble.get("of my own findings", 0) + 1
            return None
        return Document(entry.path, text)

    def _most_promising(self, task: Task, files: Sequence[Entry]) -> list[Entry]:
        """Return the files in reading order, cut at the bounds: paths that match the task first, then the code."""
        stems = {word.stem for word in task.words}

        def order(entry: Entry) -> tuple[int, bool, int, str]:
            low = entry.path.lower()
            named = any(low == path or low.endswith("/" + path) for path in task.paths)
            hits = sum(1 for one in parts(entry.path.replace("/", "_").replace(".", "_")) if one in stems)
            return (-hits - 10 * named, any(part in low for part in _ASIDE), low.count("/"), entry.path)

        chosen: list[Entry] = []
        size = 0
        for entry in sorted(files, key=order):
            if len(chosen) >= MAX_FILES_READ or size + entry.size > MAX_BYTES_READ:
                self._was_cut = f"the limit of {MAX_FILES_READ} files and {MAX_BYTES_READ // 1024 // 1024} MiB"
                break
            chosen.append(entry)
            size += entry.size
        return chosen

    def _absolute(self, path: str) -> str:
        return os.path.join(self._cwd, path)

    # The findings file

    def _write(self, task: Task, about: str, findings: Sequence[Finding], documents: Sequence[Document]) -> None:
        problem = self._cannot_write(task.write_to)
        if problem:
            self._say(problem)
            return
        path = self._absolute(os.path.normpath(task.write_to))
        text = report.findings_file(task, about, findings, documents)
        old = next((document.text for document in documents if self._absolute(document.path) == path), None)
        exists = os.path.lexists(path)
        title = f"{'Replace' if exists else 'Write'} {task.write_to}"
        content = [{"type": "diff", "path": path, "oldText": old, "newText": text}]
        call = self._begin(title, "edit", locations=[{"path": path}], content=content)
        asked = {"toolCallId": call, "title": title, "kind": "edit", "status": "pending", "content": content}
        try:
            if not self.may_write and not self._may_write({**asked, "locations": [{"path": path}]}):
                self._end(call, "not allowed; nothing was written", is_done=False)
                self._say(
                    f"I was not allowed to write {task.write_to}, so I wrote nothing; the findings are above.\n"
                )
                return
            self._client.write_text(path, text)
        except RpcError as error:
            self._end(call, f"refused: {error.message}", is_done=False)
            self._say(f"The client refused to write {task.write_to} ({error.message}); the findings are above.\n")
            return
        self._end(call, f"wrote {len(text.encode())} bytes")
        self._say(f"I wrote the findings to {task.write_to}.\n")

    def _may_write(self, tool_call: dict[str, object]) -> bool:
        options = [
            (ALLOW_ONCE, "Write it"),
            (ALLOW_ALWAYS, "Write findings files in this session without asking"),
            (REJECT_ONCE, "Do not write"),
        ]
        chosen = self._client.ask(tool_call, options)
        self.may_write = chosen == ALLOW_ALWAYS
        return chosen in (ALLOW_ONCE, ALLOW_ALWAYS)

    def _cannot_write(self, target: str) -> str:
        """Return why the file cannot be written, "" when it may be asked for."""
        normal = os.path.normpath(target)
        if os.path.isabs(target) or normal.split("/")[0] in ("..", "~"):
            return f"I write inside the workspace only, so I did not write {target}; the findings are above.\n"
        if target.endswith("/") or os.path.isdir(self._absolute(normal)):
            return f"{target} is a folder, so I did not write it; name a file.\n"
        if self._mode == "read-only":
            return f"This session is read-only, so I did not ask to write {target}; the findings are above.\n"
        if not self._client.supports.write:
            return f"This client takes no files, so I did not write {target}; the findings are above.\n"
        return ""


def _reading(batch: Sequence[Entry]) -> str:
    first = report.plain(batch[0].path)
    return f"Read {first}" if len(batch) == 1 else f"Read {len(batch)} files, {first} first"


def _text(text: str) -> dict[str, object]:
    return {"type": "content", "content": {"type": "text", "text": text}}
