"""Settings of the running daemon: read the files again, change them, say what is in force (contract §2.1, §12).

Knows no page and no route; shapes of answers that belong to one page are in `settings_view.py`. Writing is done by
`config.change`; one lock here keeps two clients from interleaving their changes.
"""

import asyncio
import hashlib
import json
import secrets
from collections.abc import Mapping

from msgspec.structs import replace

from compozy.config.change import change_settings
from compozy.config.config import Config
from compozy.config.effective import effective_table
from compozy.config.errors import ConfigError
from compozy.config.home import Home
from compozy.config.keys import Key, join_key, lifecycle_of
from compozy.config.live import take_over
from compozy.config.load import load_config
from compozy.model.errors import InvalidRequest
from compozy.model.settings import SettingsApply
from compozy.runtime.status import DaemonStatus


class Settings:
    """The settings of one home, as far as this process follows them."""

    def __init__(self, home: Home, config: Config, status: DaemonStatus) -> None:
        self.home = home
        self._config = config
        self._status = status
        self._generation = 1
        # Protects the order of: write the file, read it again, take it over.
        self._lock = asyncio.Lock()

    async def written(self) -> Config:
        """Return what the files say now; some of it may wait for a restart.

        Raises:
            ConfigError: they cannot be used.
        """
        return await asyncio.to_thread(load_config, self.home)

    async def reload(self) -> SettingsApply:
        """Take over what may change while the daemon runs; return `SettingsApply`.

        Raises:
            ConfigError: the files cannot be used; what is in force stays.
        """
        async with self._lock:
            return self._take_over(await self.written(), ())

    async def change(self, values: Mapping[Key, object], *, section: str) -> SettingsApply:
        """Set or remove (None) values in the home's file and take over what can be; return `SettingsApply`.

        Raises:
            InvalidRequest: the file would not be valid; nothing is written.
        """
        async with self._lock:
            try:
                await asyncio.to_thread(change_settings, self.home, values)
            except ConfigError as error:
                raise InvalidRequest(error.message, code="config_invalid", category="config") from error
            answer = self._take_over(await self.written(), tuple(values))
            return replace(answer, section=section)

    def _take_over(self, fresh: Config, changed: tuple[Key, ...]) -> SettingsApply:
        applied, waiting = take_over(self._config, fresh)
        self._status.restart_required = bool(waiting)
        if applied or changed:
            self._generation += 1
        mine = [key for key in waiting if not changed or any(key[: len(one)] == one for one in changed)]
        is_waiting = bool(mine) or any(lifecycle_of(key) != "live" for key in changed)
        return SettingsApply(
            active_config_hash=_digest(self._config),
            active_generation=self._generation,
            applied=not mine,
            apply_record_id=f"apply-{secrets.token_hex(8)}",
            lifecycle="restart-required" if is_waiting else "live",
            next_action="restart-daemon" if mine else "none",
            restart_required=bool(mine),
            scope="global",
            write_target="global-config",
            warnings=tuple(f"{join_key(key)} is taken over by the next start" for key in mine),
            waiting=tuple(join_key(key) for key in mine),
        )


def _digest(config: Config) -> str:
    text = json.dumps(effective_table(config), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
