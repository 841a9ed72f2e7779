"""The catalog of models: sources by priority, availability, views (contract §3.6)."""

import msgspec

from compozy.config.builtin_providers import BUILTIN_PROVIDERS
from compozy.model.provider import CuratedModel
from compozy.model.provider_answers import ModelCost, ModelSource
from compozy.runtime.providers.catalog import Heard, model_rows, source_states

CLAUDE = BUILTIN_PROVIDERS["claude"]
ENDPOINT = BUILTIN_PROVIDERS["openai-compatible"]


def test_rows_that_only_files_know_are_unknown_and_carry_their_facts() -> None:
    rows = {row.model_id: row for row in model_rows(CLAUDE, None)}
    assert list(rows) == ["claude-fable-5", "claude-opus-4-8", "claude-sonnet-5", "claude-haiku-4-5-20251001"]
    row = rows["claude-sonnet-5"]
    assert (row.availability_state, row.available, row.stale) == ("unknown", None, False)
    assert row.cost == ModelCost(input_per_million=3, output_per_million=15)
    assert row.sources == (ModelSource(source_id="builtin", source_kind="builtin", priority=10, stale=False),)
    assert row.context_window and not rows["claude-haiku-4-5-20251001"].reasoning_efforts


def test_the_config_wins_over_the_built_in_row_and_fills_up_from_it() -> None:
    mine = CuratedModel(id="claude-sonnet-5", display_name="Mine", hidden=True)
    provider = msgspec.structs.replace(CLAUDE, curated=(mine,))
    row = next(row for row in model_rows(provider, None, view="all") if row.model_id == "claude-sonnet-5")
    assert [one.source_id for one in row.sources] == ["config", "builtin"]
    assert (row.display_name, row.hidden, row.context_window) == ("Mine", True, 1_000_000)
    assert "claude-sonnet-5" not in [row.model_id for row in model_rows(provider, None)]


def test_what_the_provider_lists_is_available_and_what_it_does_not_list_is_not() -> None:
    provider = msgspec.structs.replace(ENDPOINT, default_model="m-1")
    heard = Heard(models=("m-2", "m-3"), asked_at="t2", answered_at="t1")
    rows = {row.model_id: row for row in model_rows(provider, heard, view="all")}
    assert {name: row.availability_state for name, row in rows.items()} == {
        "m-1": "unavailable_live",
        "m-2": "available_live",
        "m-3": "available_live",
    }
    assert [row.model_id for row in model_rows(provider, heard)] == ["m-1"]
    assert [row.model_id for row in model_rows(provider, heard, view="all", source="config")] == ["m-1"]


def test_a_list_that_could_not_be_refreshed_is_kept_and_called_stale() -> None:
    heard = Heard(models=("m-2",), asked_at="t2", answered_at="t1", error="gone")
    (row,) = model_rows(ENDPOINT, heard, view="all")
    assert (row.availability_state, row.stale, row.last_error) == ("available_stale", True, "gone")
    states = {one.source_id: one for one in source_states(ENDPOINT, heard, can_ask=True)}
    assert states["provider_live"].refresh_state == "failed" and states["provider_live"].last_error == "gone"
    assert states["config"].refresh_state == "static"


def test_a_provider_that_never_answered_leaves_everything_unknown() -> None:
    provider = msgspec.structs.replace(ENDPOINT, default_model="m-1")
    (row,) = model_rows(provider, Heard(asked_at="t", error="no"))
    assert row.availability_state == "unknown"
    assert [one.source_id for one in source_states(CLAUDE, None, can_ask=False)] == ["config", "builtin"]
