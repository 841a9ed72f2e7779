"""The catalog of models: rows of several sources merged by priority (contract §3.6, shape ModelRow).

config 120 > provider_live 110 > models_dev 50 > builtin 10. Pure: it is handed providers, what was heard from them,
and what models.dev says. A row that only files or models.dev know is `unknown`; one the provider listed is available,
and one it no longer lists is not.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from compozy.config.builtin_providers import BUILTIN_PROVIDERS
from compozy.model.provider import CuratedModel, Provider
from compozy.model.provider_answers import ModelCost, ModelRow, ModelSource, ModelSourceStatus

PRIORITIES: dict[str, int] = {"config": 120, "provider_live": 110, "models_dev": 50, "builtin": 10}
_TEXT = ("display_name", "default_reasoning_effort", "release_date")
_NUMBERS = ("context_window", "max_input_tokens", "max_output_tokens", "supports_tools", "supports_reasoning")
_COSTS = ("input", "output", "cache_read", "cache_write", "reasoning")


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """When a source was asked, when it last answered, and its last error; an empty `asked_at` means never."""

    asked_at: str = ""
    answered_at: str = ""
    error: str = ""

    @property
    def is_stale(self) -> bool:
        return bool(self.error)


@dataclass(frozen=True, kw_only=True)
class Heard(_Asked):
    """What a provider's own list said."""

    models: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Listed(_Asked):
    """What models.dev says about one provider."""

    models: tuple[CuratedModel, ...] = ()


# Kinds of sources of which nobody here decided what is worth showing.
_UNCHOSEN = ("provider_live", "models_dev")
NOTHING = Listed()


class _Source(NamedTuple):
    kind: str
    row: CuratedModel


def model_rows(
    provider: Provider, heard: Heard | None, listed: Listed = NOTHING, *, view: str = "curated", source: str = ""
) -> list[ModelRow]:
    """Return the models of one provider; view `curated` leaves out hidden ones and what only lists name."""
    found: dict[str, list[_Source]] = {}
    for one in _sources(provider, heard, listed):
        found.setdefault(one.row.id, []).append(one)
    rows = []
    for model, sources in found.items():
        if source and source not in [one.kind for one in sources]:
            continue
        row = _row(provider, model, sorted(sources, key=lambda one: -PRIORITIES[one.kind]), heard, listed)
        if view == "all" or (row.curated and not row.hidden):
            rows.append(row)
    return rows


def _sources(provider: Provider, heard: Heard | None, listed: Listed) -> Iterator[_Source]:
    known = BUILTIN_PROVIDERS.get(provider.id)
    builtin = known.curated if known is not None else ()
    if provider.curated != builtin:
        yield from (_Source("config", row) for row in provider.curated)
    if provider.default_model and provider.default_model not in [row.id for row in provider.curated]:
        yield _Source("config", CuratedModel(id=provider.default_model))
    if heard is not None:
        yield from (_Source("provider_live", CuratedModel(id=name)) for name in heard.models)
    yield from (_Source("models_dev", row) for row in listed.models)
    yield from (_Source("builtin", row) for row in builtin)


def _row(provider: Provider, model: str, sources: list[_Source], heard: Heard | None, listed: Listed) -> ModelRow:
    rows = [one.row for one in sources]
    curated = [one.row for one in sources if one.kind not in _UNCHOSEN]
    best = curated[0] if curated else rows[0]
    facts: dict[str, object] = {}
    for name in (*_TEXT, *_NUMBERS, "reasoning_efforts"):
        value = next((given for one in rows if (given := getattr(one, name)) not in ("", None, ())), None)
        if value is not None:
            facts[name] = value
    # All prices of one model from one place: those of two places do not add up to a bill.
    priced = next((row for row in rows if row.cost_input_per_million is not None), best)
    costs = {f"{name}_per_million": getattr(priced, f"cost_{name}_per_million") for name in _COSTS}
    state, available = _availability(model, heard)
    return msgspec.structs.replace(
        ModelRow(
            provider_id=provider.id,
            model_id=model,
            curated=bool(curated),
            featured=best.featured,
            hidden=best.hidden,
            deprecated=best.deprecated,
            availability_state=state,
            available=available,
            stale=heard is not None and heard.is_stale and model in heard.models,
            reasoning_source="catalog",
            sources=tuple(_source(one, heard, listed) for one in sources),
            cost=ModelCost(**costs) if any(cost is not None for cost in costs.values()) else None,
            refreshed_at=heard.answered_at if heard is not None else "",
            last_error=heard.error if heard is not None else "",
        ),
        **facts,
    )


def _availability(model: str, heard: Heard | None) -> tuple[str, bool | None]:
    if heard is None or not heard.answered_at:
        return "unknown", None
    is_listed = model in heard.models
    age = "stale" if heard.is_stale else "live"
    return f"{'available' if is_listed else 'unavailable'}_{age}", is_listed


def _told(kind: str, heard: Heard | None, listed: Listed) -> Heard | Listed | None:
    """Return what is known about the last question to a source, None for files."""
    if kind == "provider_live":
        return heard
    return listed if kind == "models_dev" and listed.asked_at else None


def _source(one: _Source, heard: Heard | None, listed: Listed) -> ModelSource:
    told = _told(one.kind, heard, listed)
    return ModelSource(
        source_id=one.kind,
        source_kind=one.kind,
        priority=PRIORITIES[one.kind],
        stale=told is not None and told.is_stale,
        refreshed_at=told.answered_at if told is not None else "",
        last_error=told.error if told is not None else "",
    )


def source_states(
    provider: Provider, heard: Heard | None, listed: Listed = NOTHING, *, can_ask: bool, has_list: bool = False
) -> list[ModelSourceStatus]:
    """Return the state of every source of a provider; `has_list` says whether models.dev is configured."""
    counts = dict.fromkeys(PRIORITIES, 0)
    for one in _sources(provider, heard, listed):
        counts[one.kind] += 1
    states = []
    for kind, priority in PRIORITIES.items():
        is_live = kind in _UNCHOSEN
        told = _told(kind, heard, listed)
        if (kind == "provider_live" and not can_ask) or (kind == "models_dev" and not has_list and told is None):
            continue
        failed = told is not None and bool(told.error)
        states.append(
            ModelSourceStatus(
                provider_id=provider.id,
                source_id=kind,
                source_kind=kind,
                priority=priority,
                row_count=counts[kind],
                refresh_state=("failed" if failed else "succeeded" if told else "never") if is_live else "static",
                stale=failed,
                last_refresh=told.asked_at if told is not None else "",
                last_success=told.answered_at if told is not None else "",
                last_error=told.error if told is not None else "",
            )
        )
    return states
