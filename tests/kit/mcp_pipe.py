"""The MCP side of the scripted agent: starts one stdio server and talks to it, with the standard library alone."""

import json
import os
import subprocess
import threading


class McpPipe:
    """One running server; requests one after another, notifications kept."""

    def __init__(self, server):
        env = {**os.environ, **{pair["name"]: pair["value"] for pair in server["env"]}}
        self.process = subprocess.Popen(
            [server["command"], *server["args"]], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.count = 0
        self.lock = threading.Lock()
        self.notes = []

    def open(self):
        client = {"name": "fake-agent", "version": "1"}
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
        answer = self.request("initialize", hello)
        if "result" in answer:
            self.send({"method": "notifications/initialized"})
        return answer

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method, params):
        with self.lock:
            self.count += 1
            try:
                self.send({"id": self.count, "method": method, "params": params})
            except OSError:
                return self.gone()
            while line := self.process.stdout.readline():
                message = json.loads(line)
                if message.get("id") == self.count:
                    return {key: message[key] for key in ("result", "error") if key in message}
                self.notes.append(message.get("method"))
            return self.gone()

    def gone(self):
        return {"error": {"code": -1, "message": f"the server exited with code {self.process.wait(30)}"}}

    def close(self):
        self.process.stdin.close()
        return self.process.wait(30)
