"""Where a setting comes from: the default, then each file with its line, what won and what was refused (issue 5.1).

Pure reading. What a workspace may decide is `workspace_rules.py`'s business; here its verdicts are shown.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from compozy.config.config import Config
from compozy.config.effective import effective_table, flatten, look_up, masked
from compozy.config.home import Home
from compozy.config.keys import Key, Lifecycle, join_key, lifecycle_of, meaning_of
from compozy.config.load import Layer, canonical_layer_table, load_config, read_layers
from compozy.config.providers import build_defaults
from compozy.config.trust_grants import file_trust
from compozy.model.record import Record

Standing = Literal["effective", "overridden", "refused", "merged"]


class Contribution(Record, frozen=True, kw_only=True):
    """What one place says about a key: `place` is ``file:line``, "" for the default."""

    origin: Literal["default", "home", "workspace"]
    standing: Standing
    place: str = ""
    value: object = None
    reason: str = ""


class Explanation(Record, frozen=True, kw_only=True):
    """One key: the value in force, and every place that has a say, lowest first. Values are masked."""

    key: str
    value: object
    meaning: str
    lifecycle: Lifecycle
    contributions: tuple[Contribution, ...]


def explain(home: Home, key: Key, workspace_root: Path | None = None) -> tuple[Explanation, ...]:
    """Explain one value, or every value below a table that a file says something about.

    Raises:
        ConfigError: a file cannot be used.
    """
    is_trusted = file_trust(home)
    layers = read_layers(home, workspace_root, is_trusted=is_trusted)
    config = load_config(home, workspace_root, is_trusted=is_trusted)
    effective, defaults = effective_table(config), effective_table(_defaults(home))
    return tuple(_explain_one(one, effective, defaults, layers) for one in _keys_below(key, effective, layers))


def _defaults(home: Home) -> Config:
    return Config(providers=build_defaults(home))


def _keys_below(key: Key, effective: dict[str, object], layers: list[Layer]) -> list[Key]:
    found, value = look_up(effective, key)
    if found and not (isinstance(value, dict) and value):
        return [key]
    written = [
        one
        for layer in layers
        for one, _ in flatten(canonical_layer_table(layer.source.table))
        if one[: len(key)] == key
    ]
    return list(dict.fromkeys(written)) or [key]


def _explain_one(
    key: Key, effective: dict[str, object], defaults: dict[str, object], layers: list[Layer]
) -> Explanation:
    value = look_up(effective, key)[1]
    rows = [*_default_row(key, defaults), *_file_rows(key, layers)]
    winner = max((index for index, row in enumerate(rows) if row.standing == "effective"), default=-1)
    merged = isinstance(value, list) and len(rows) > 1 and key[0] in ("mcp_servers", "hooks")
    rows = [
        row
        if row.standing == "refused" or index == winner
        else Contribution(
            origin=row.origin, place=row.place, value=row.value, standing="merged" if merged else "overridden"
        )
        for index, row in enumerate(rows)
    ]
    return Explanation(
        key=join_key(key),
        value=masked_at(key, value),
        meaning=meaning_of(key),
        lifecycle=lifecycle_of(key),
        contributions=tuple(rows),
    )


def masked_at(key: Key, value: object) -> object:
    """Mask a value as its name demands."""
    clean = masked({key[-1]: value}) if key else masked(value)
    return clean[key[-1]] if key and isinstance(clean, dict) else clean


def _default_row(key: Key, defaults: dict[str, object]) -> Iterator[Contribution]:
    found, value = look_up(defaults, key)
    if found:
        yield Contribution(origin="default", standing="effective", value=masked_at(key, value))


def _file_rows(key: Key, layers: list[Layer]) -> Iterator[Contribution]:
    for layer in layers:
        said, value = look_up(canonical_layer_table(layer.source.table), key)
        if not said:
            continue
        counts = look_up(canonical_layer_table(layer.table), key) == (True, value)
        reason = next((why for path, why in layer.refused.items() if key[: len(path)] == path), "")
        yield Contribution(
            origin=layer.origin,
            standing="effective" if counts else "refused",
            place=_place(layer, key),
            value=masked_at(key, value),
            reason="" if counts else (reason or "is not taken from this file"),
        )


def _place(layer: Layer, key: Key) -> str:
    """Return file and line, also where the file spells the provider by another of its names."""
    if key[:1] != ("providers",) or layer.source.is_written(key):
        return layer.source.place(key)
    written = layer.source.table.get("providers")
    for name in written if isinstance(written, dict) else ():
        spelled = ("providers", str(name), *key[2:])
        if canonical_layer_table({"providers": {str(name): {}}})["providers"] == {
            key[1]: {}
        } and layer.source.is_written(spelled):
            return layer.source.place(spelled)
    return layer.source.place(key)
