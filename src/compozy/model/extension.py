"""An extension as the API shows it (decisions D13)."""

from compozy.model.record import Record


class ExtensionAgent(Record, frozen=True, kw_only=True):
    """One definition an extension brings."""

    name: str
    path: str
    definition_digest: str


class ExtensionView(Record, frozen=True, kw_only=True):
    """One extension as it is now; `problem` says why it cannot be used as it is."""

    name: str
    version: str
    root: str
    enabled: bool
    agents: tuple[ExtensionAgent, ...]
    problem: str = ""
