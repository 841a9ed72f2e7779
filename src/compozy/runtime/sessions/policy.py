"""The permission modes as one pure table (contract §5.5), and what a person's answer allows afterwards.

A mode says what happens without a person. An answer of a person is worth more than the mode: who allowed a tool
call has allowed the write or the command that this tool call makes through us, and nothing else. Which mode is in
force is decided in `mode.py`.
"""

import os
from collections.abc import Sequence
from typing import Literal

from compozy.acp.contract import PermissionOption, PermissionRequest
from compozy.model.permission import Judgement, Layer, Operation, Verdict
from compozy.runtime.sessions.containment import OutsideRoots, Roots

Decision = Literal["allow-once", "allow-always", "reject-once", "reject-always"]
DECISIONS: tuple[str, ...] = ("allow-once", "allow-always", "reject-once", "reject-always")

_EXECUTE_KINDS = frozenset({"execute"})
# For each decision the option kinds that carry it, best first (contract §5.5, option picking).
_OPTION_KINDS = {
    "allow-once": ("allow_once", "allow_always"),
    "allow-always": ("allow_always", "allow_once"),
    "reject-once": ("reject_once", "reject_always"),
    "reject-always": ("reject_always", "reject_once"),
}


def judge(mode: str, operation: Operation, kind: str, locations: Sequence[str], roots: Roots) -> Judgement:
    """Say what happens without a person: containment first, then the mode's row of the table.

    Args:
        kind: the tool call's kind; it counts for `ask` only.
        locations: the paths it names; one outside of the roots is refused in every mode.
    """
    for location in locations:
        try:
            roots.resolve(location)
        except OutsideRoots as error:
            outside = Layer(name="containment", result="reject-once", detail=str(error))
            return Judgement(verdict="reject-once", layers=(outside,))
    inside = "every path lies below a root" if locations else "no path is named"
    verdict = _mode_verdict(mode, operation, kind)
    return Judgement(
        verdict=verdict,
        layers=(
            Layer(name="containment", result="passes", detail=inside),
            Layer(name="mode", result=verdict, detail=_mode_reason(mode, operation, kind, verdict)),
        ),
    )


def _mode_verdict(mode: str, operation: Operation, kind: str) -> Verdict:
    if mode == "approve-all":
        return "allow-once"
    if mode == "deny-all":
        return "reject-once"
    if operation == "ask":
        return "allow-once" if kind == "read" else "ask"
    return "allow-once" if operation == "read" else "reject-once"


def _mode_reason(mode: str, operation: Operation, kind: str, verdict: Verdict) -> str:
    named = kind or "a tool of no named kind"
    what = {
        "ask": f"{named}, which the agent asks about",
        "read": "reading through the daemon",
        "write": "writing through the daemon",
        "execute": "running a command through the daemon",
    }[operation]
    does = {"allow-once": "allows", "reject-once": "refuses", "ask": "asks a person about"}[verdict]
    unless = " unless a person allowed the tool call before"
    is_bare = verdict == "reject-once" and mode == "approve-reads"
    return f"mode {mode} {does} {what}{unless if is_bare else ''}"


def pick_option(options: Sequence[PermissionOption], decision: str) -> str | None:
    """Return the id of the option that carries the decision, None when nothing fits (outcome `cancelled`)."""
    for kind in _OPTION_KINDS[decision]:
        for option in options:
            if option.kind == kind:
                return option.option_id
    return None


def offered(options: Sequence[PermissionOption]) -> tuple[str, ...]:
    """Return the decisions a person may take: those whose own kind the agent offers."""
    kinds = {option.kind for option in options}
    return tuple(decision for decision in DECISIONS if decision.replace("-", "_") in kinds)


class Grants:
    """What persons allowed in this session beyond its mode.

    An allow-once lasts until the turn ends: writes to the named locations, one write anywhere below the roots when
    the request named none, one command for a request of kind `execute`. An allow-always lasts as long as the
    session's process and covers every later write, or command, of the same sort.
    """

    def __init__(self, roots: Roots) -> None:
        self._roots = roots
        self._paths: set[str] = set()
        self._writes = 0
        self._commands = 0
        self._all_writes = False
        self._all_commands = False

    def add(self, request: PermissionRequest, decision: str) -> None:
        """Remember a person's answer."""
        if not decision.startswith("allow"):
            return
        always = decision == "allow-always"
        if request.kind in _EXECUTE_KINDS:
            self._all_commands |= always
            self._commands += 1
        elif request.kind != "read":
            self._all_writes |= always
            for location in request.locations:
                self._paths.add(str(self._resolved(location)))
            if not request.locations:
                self._writes += 1

    def _resolved(self, location: str) -> str:
        try:
            return os.fspath(self._roots.resolve(location))
        except OutsideRoots:
            return ""

    def allow_write(self, real_path: str) -> bool:
        """Whether a write to that real path was allowed; a nameless allowance is used up by it."""
        if self._all_writes or real_path in self._paths:
            return True
        if self._writes > 0:
            self._writes -= 1
            # The same tool call may write its file more than once.
            self._paths.add(real_path)
            return True
        return False

    def allow_command(self) -> bool:
        """Whether a command was allowed; a single allowance is used up by it."""
        if self._all_commands:
            return True
        if self._commands > 0:
            self._commands -= 1
            return True
        return False

    def end_turn(self) -> None:
        """Forget what was allowed for this turn only."""
        self._paths.clear()
        self._writes = self._commands = 0
