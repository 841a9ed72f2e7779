"""The table of a run: which agent in which version did what. Written to the cache, and to docs/e2e.md when asked."""

import os
import platform
import re
from pathlib import Path

import pytest

from tests.e2e.real_agents import AGENTS, CACHE, ROOT, installed

DOCUMENT = ROOT / "docs" / "e2e.md"
BEGIN, END = "<!-- outcomes: written by `make e2e RECORD=1` -->", "<!-- end of outcomes -->"
COLUMNS = {
    "test_over_the_protocol": "SDK's client",
    "test_over_our_connection": "our connection",
    "test_through_the_daemon": "through the daemon",
}
_ID = re.compile(r"tests/e2e/(?P<file>\w+)\.py::(?P<test>\w+)\[(?:asyncio-)?(?P<agent>[\w-]+?)(?:-(?:allow|deny))?\]")


class Outcomes:
    """Collects what each agent did in each file of tests."""

    def __init__(self) -> None:
        self._by_agent: dict[str, dict[str, str]] = {}

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the worst outcome."""
        match = _ID.search(report.nodeid)
        if match is None or (report.when != "call" and report.passed):
            return
        column = match["file"]
        outcomes = self._by_agent.setdefault(match["agent"], {})
        seen = [outcomes.get(column, "skipped"), report.outcome]
        # One test of a file may not apply to an agent; skipped is an agent for which none did.
        outcomes[column] = next(one for one in ("failed", "passed", "skipped") if one in seen)

    @pytest.hookimpl
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table and write it."""
        if not self._by_agent:
            return
        table = self._table()
        terminalreporter.section("real agents")
        terminalreporter.write_line(table)
        CACHE.mkdir(parents=True, exist_ok=True)
        (CACHE / "outcomes.md").write_text(table + "\n")
        if os.environ.get("COMPOZY_E2E_RECORD"):
            if set(self._by_agent) == set(AGENTS):
                _record(DOCUMENT, table)
            else:
                terminalreporter.write_line(f"{DOCUMENT.name} is unchanged: a record needs a run with every agent")

    def _table(self) -> str:
        rows = [f"| agent | version | {' | '.join(COLUMNS.values())} |", "|---|---|" + "---|" * len(COLUMNS)]
        for name in (name for name in AGENTS if name in self._by_agent):
            outcomes, record = self._by_agent[name], installed(name)
            cells = [outcomes.get(column, "not run") for column in COLUMNS]
            cells = [f"{cell}: {record.reason}" if cell == "skipped" and record.reason else cell for cell in cells]
            rows.append(f"| {name} | {record.version or '-'} | {' | '.join(cells)} |")
        where = f"Linux {platform.machine()}, Python {platform.python_version()}"
        return "\n".join([*rows, "", f"Run on {where if platform.system() == 'Linux' else platform.platform()}."])


def _record(document: Path, table: str) -> None:
    text = document.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    document.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}")
