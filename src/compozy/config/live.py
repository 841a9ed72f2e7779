"""Taking over changed settings while the daemon runs (contract §2.1): roles, models, MCP servers, disabled skills.

A new provider is taken over too: nobody uses it yet. Everybody in the daemon holds one `Config`. This is the only
place that changes it after the start, one whole value at a time, from the thread of the event loop; every other
change waits for the next start.
"""

import msgspec

from compozy.config.config import Config
from compozy.config.effective import effective_table, flatten
from compozy.config.keys import Key, lifecycle_of
from compozy.model.provider import Provider

_MODEL_FIELDS = ("default_model", "curated", "reasoning_apply", "discovery")


def differing_keys(config: Config, fresh: Config) -> tuple[Key, ...]:
    """Return every key whose value differs."""
    old, new = dict(flatten(effective_table(config))), dict(flatten(effective_table(fresh)))
    return tuple(key for key in {**old, **new} if old.get(key) != new.get(key))


def take_over(config: Config, fresh: Config) -> tuple[tuple[Key, ...], tuple[Key, ...]]:
    """Put what may change while the daemon runs into `config`; return what did, and what waits for a restart."""
    differing = differing_keys(config, fresh)
    added = {name: row for name, row in fresh.providers.items() if name not in config.providers}
    live = tuple(
        key for key in differing if lifecycle_of(key) == "live" or (key[:1] == ("providers",) and key[1] in added)
    )
    if live:
        skills = msgspec.structs.replace(config.skills, disabled_skills=fresh.skills.disabled_skills)
        providers = {name: _with_models(row, fresh.providers.get(name)) for name, row in config.providers.items()}
        providers |= added
        changed = {"roles": fresh.roles, "skills": skills, "providers": providers, "mcp_servers": fresh.mcp_servers}
        changed["models_dev"] = fresh.models_dev
        for name, value in changed.items():
            msgspec.structs.force_setattr(config, name, value)
    waiting = differing_keys(config, fresh)
    return tuple(key for key in live if key not in waiting), waiting


def _with_models(row: Provider, fresh: Provider | None) -> Provider:
    if fresh is None:
        return row
    return msgspec.structs.replace(row, **{name: getattr(fresh, name) for name in _MODEL_FIELDS})
