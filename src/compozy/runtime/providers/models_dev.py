"""models.dev as a source of facts about models: asked only when somebody says so, kept in the home (contract §3.6).

Reads the document that https://models.dev/api.json publishes, from the address that [models_dev] names; without one
nothing is reached. What was fetched stays in force, called stale, when a later question fails. Knows no route.
"""

import json
from collections.abc import Iterator, Mapping

import msgspec

from compozy.config.home import Home
from compozy.documents.atomic import write_atomically
from compozy.documents.remote_urls import url_reason
from compozy.model.provider import CuratedModel
from compozy.model.record import Record
from compozy.model.times import now
from compozy.runtime.providers.asking import CannotAsk, fetch
from compozy.runtime.providers.catalog import Listed

SCHEMA = "compozy.models_dev.v1"
# The document has some 3 MB; a server that sends on and on is stopped here.
_MOST_BYTES = 32 << 20
_SECONDS = 30.0
_MOST_MODELS = 5_000
# Under which name models.dev has a provider of ours.
NAMES: dict[str, str] = {
    "claude": "anthropic",
    "pi": "anthropic",
    "codex": "openai",
    "gemini": "google",
    "copilot": "github-copilot",
    "opencode": "opencode",
    "openrouter": "openrouter",
    "zai": "zai",
    "moonshot": "moonshotai",
    "vercel-ai-gateway": "vercel",
    "xai": "xai",
    "minimax": "minimax",
    "mistral": "mistral",
    "groq": "groq",
    "qwen-code": "alibaba",
}


class _Kept(Record, frozen=True, kw_only=True):
    """The file in the home's cache."""

    schema: str
    address: str
    fetched_at: str
    providers: dict[str, tuple[CuratedModel, ...]]


class ModelsDev:
    """What models.dev said last. Methods block: call them in a thread."""

    def __init__(self, home: Home) -> None:
        self.path = home.root / "cache" / "models_dev.json"
        self._kept: _Kept | None = None
        self._is_read = False
        self._asked_at = ""
        self._error = ""

    def about(self, provider: str) -> Listed:
        """Return what is known about one provider of ours."""
        kept = self._read()
        fetched = kept.fetched_at if kept else ""
        return Listed(
            models=kept.providers.get(provider, ()) if kept else (),
            asked_at=self._asked_at or fetched,
            answered_at=fetched,
            error=self._error,
        )

    def refresh(self, address: str) -> str:
        """Ask once; return why there is no new answer, "" when there is one."""
        self._read()
        self._asked_at = now()
        try:
            providers = _ask(address)
        except CannotAsk as why:
            self._error = why.message
            return why.message
        self._error = ""
        self._kept = _Kept(schema=SCHEMA, address=address, fetched_at=self._asked_at, providers=providers)
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomically(self.path, msgspec.json.encode(self._kept))
        except OSError as error:
            self._error = f"cannot write {str(self.path)!r}: {error.strerror}; check the folder"
        return self._error

    def _read(self) -> _Kept | None:
        if not self._is_read:
            self._is_read = True
            try:
                kept = msgspec.json.decode(self.path.read_bytes(), type=_Kept)
            except FileNotFoundError:
                return None
            except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
                # A cache: what cannot be read is fetched again, and until then there is none.
                self._error = f"{str(self.path)!r} cannot be read; refresh it"
                return None
            self._kept = kept if kept.schema == SCHEMA else None
        return self._kept


def _ask(address: str) -> dict[str, tuple[CuratedModel, ...]]:
    reason = url_reason(address, "models_dev.url")
    if reason:
        raise CannotAsk("unknown", f"{reason}; write it like https://models.dev/api.json")
    data = fetch(address, {"Accept": "application/json"}, _SECONDS, _MOST_BYTES)
    if len(data) > _MOST_BYTES:
        raise CannotAsk(
            "unknown", f"{address} answers more than {_MOST_BYTES >> 20} MiB; it is no catalogue of models"
        )
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise CannotAsk("unknown", f"{address} answers no JSON; is it the address of an api.json?") from error
    providers = read_document(document)
    if not providers:
        raise CannotAsk("unknown", f"{address} names none of the providers known here; is it an api.json?")
    return providers


def read_document(document: object) -> dict[str, tuple[CuratedModel, ...]]:
    """Return the models of the providers that are known here, by our names; what cannot be read is left out."""
    found = {}
    for ours, theirs in NAMES.items():
        entry = document.get(theirs) if isinstance(document, dict) else None
        models = entry.get("models") if isinstance(entry, dict) else None
        rows = tuple(_rows(models)) if isinstance(models, dict) else ()
        if rows:
            found[ours] = rows
    return found


def _rows(models: Mapping[str, object]) -> Iterator[CuratedModel]:
    for name, entry in list(models.items())[:_MOST_MODELS]:
        if not isinstance(entry, dict) or not name:
            continue
        limit, cost = _table(entry, "limit"), _table(entry, "cost")
        yield CuratedModel(
            id=name,
            display_name=_text(entry, "name"),
            context_window=_whole(limit, "context"),
            max_input_tokens=_whole(limit, "input"),
            max_output_tokens=_whole(limit, "output"),
            supports_tools=_flag(entry, "tool_call"),
            supports_reasoning=_flag(entry, "reasoning"),
            cost_input_per_million=_price(cost, "input"),
            cost_output_per_million=_price(cost, "output"),
            cost_cache_read_per_million=_price(cost, "cache_read"),
            cost_cache_write_per_million=_price(cost, "cache_write"),
            cost_reasoning_per_million=_price(cost, "reasoning"),
            deprecated=entry.get("status") == "deprecated",
            release_date=_text(entry, "release_date"),
        )


def _table(entry: Mapping[str, object], name: str) -> dict[str, object]:
    value = entry.get(name)
    return value if isinstance(value, dict) else {}


def _text(entry: Mapping[str, object], name: str) -> str:
    value = entry.get(name)
    return value[:200] if isinstance(value, str) else ""


def _flag(entry: Mapping[str, object], name: str) -> bool | None:
    value = entry.get(name)
    return value if isinstance(value, bool) else None


def _whole(entry: Mapping[str, object], name: str) -> int | None:
    value = entry.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _price(entry: Mapping[str, object], name: str) -> float | None:
    value = entry.get(name)
    # Not a number and infinity are no prices.
    is_price = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1_000_000
    return float(value) if is_price and isinstance(value, int | float) else None
