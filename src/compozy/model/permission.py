"""How a permission was decided: the mode in force with its sources, and the layers of one judgement (contract §5.5).

Records only. The mode is derived in `runtime/sessions/mode.py`, judgements are made in `runtime/sessions/policy.py`.
"""

from typing import Literal

from compozy.model.record import Record

Verdict = Literal["allow-once", "reject-once", "ask"]
Operation = Literal["ask", "read", "write", "execute"]
"""What the agent does: asks for permission, or reads, writes or runs something through the daemon."""
ModeSource = Literal["agent", "settings", "trust", "request", "parent"]


class ModeStep(Record, frozen=True, kw_only=True):
    """One source that had a say: the mode it named, and what that did to the mode in force."""

    source: ModeSource
    mode: str
    effect: Literal["sets", "narrows", "keeps"]
    note: str


class ModeDerivation(Record, frozen=True, kw_only=True):
    """The mode in force, the source that decided it, and every source that was heard, in order."""

    mode: str
    source: ModeSource
    steps: tuple[ModeStep, ...]


class Layer(Record, frozen=True, kw_only=True):
    """One layer of a judgement: `passes` hands on to the next, anything else is the verdict."""

    name: Literal["containment", "mode"]
    result: Literal["passes", "allow-once", "reject-once", "ask"]
    detail: str


class Judgement(Record, frozen=True, kw_only=True):
    """What the layers say together; the last one decided."""

    verdict: Verdict
    layers: tuple[Layer, ...]

    @property
    def reason(self) -> str:
        """The sentence of the layer that decided."""
        return self.layers[-1].detail


class OtherMode(Record, frozen=True, kw_only=True):
    """What another mode would say to the same question."""

    mode: str
    verdict: Verdict


class PermissionExplanation(Record, frozen=True, kw_only=True):
    """What would happen if an agent did something, layer by layer, and what would change that.

    `roots` are the folders it may touch, the first one is where relative paths begin. `answer_seconds` and
    `default_decision` count where a person is asked.
    """

    agent: str
    tool: str
    operation: Operation
    kind: str
    paths: tuple[str, ...]
    verdict: Verdict
    reason: str
    mode: ModeDerivation
    roots: tuple[str, ...]
    layers: tuple[Layer, ...]
    other_modes: tuple[OtherMode, ...]
    changes: tuple[str, ...]
    session_id: str = ""
    workspace_id: str = ""
    definition_path: str = ""
    answer_seconds: int = 0
    default_decision: str = ""
