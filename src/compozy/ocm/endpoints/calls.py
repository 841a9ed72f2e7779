"""What a call takes and gives: the task, its bounds and consents, the reply. Plain records, no behaviour (item 6)."""

from collections.abc import Callable, Mapping
from pathlib import Path

from compozy.model.record import Record

# Turns `env:NAME` or `vault:NAME` into its value, "" when it leads nowhere.
SecretResolver = Callable[[str], str]

DEFAULT_TIMEOUT = 60.0
DEFAULT_ANSWER_BYTES = 4 << 20


class Call(Record, frozen=True, kw_only=True):
    """One task for an endpoint. `arguments` are for a tool; `conversation` continues an earlier one (A2A)."""

    task: str
    context: Mapping[str, object] = {}
    history: tuple[Mapping[str, object], ...] = ()
    arguments: Mapping[str, object] | None = None
    conversation: str = ""
    request_id: str = ""


class Options(Record, frozen=True, kw_only=True):
    """Bounds and consents of the caller; `timeout` is for the whole call, in seconds.

    `credential` is a reference such as `env:NAME`; `certificate` and `certificate_key` are for `mtls`; `ca_file`
    trusts a private authority. `model` and `tool` choose where a manifest names none.
    """

    timeout: float = DEFAULT_TIMEOUT
    max_answer_bytes: int = DEFAULT_ANSWER_BYTES
    allow_plain_http: bool = False
    credential: str = ""
    certificate: Path | None = None
    certificate_key: Path | None = None
    ca_file: Path | None = None
    model: str = ""
    tool: str = ""


class Reply(Record, frozen=True, kw_only=True):
    """What came back. `success` is the endpoint's own word; `state` and `conversation` are those of an A2A task.

    `usage` counts tokens as `input`, `output`, `total`; `data` is the decoded answer where there is one.
    """

    text: str
    success: bool = True
    data: object = None
    usage: dict[str, int] = {}
    cost_usd: float | None = None
    state: str = ""
    conversation: str = ""
    attempts: int = 1
