"""The feed of the session list: nobody misses a change unnoticed, and nobody who stopped reading costs anything."""

import asyncio

import pytest

from compozy.runtime.sessions.catalog_feed import KEPT, CatalogFeed
from tests.kit.store_records import make_session

pytestmark = pytest.mark.anyio


async def test_changes_after_the_position_come_also_those_before_the_first_read() -> None:
    feed = CatalogFeed()
    feed.upserted(None, make_session("sess-old").session)
    position = feed.position
    feed.upserted(None, make_session("sess-1").session)
    follower = feed.follow(position)
    async with asyncio.timeout(30):
        assert [change.session_id for change in await anext(follower)] == ["sess-1"]
        feed.deleted(make_session("sess-1").session)
        assert [change.session_id for change in await anext(follower)] == ["sess-1"]
    await follower.aclose()


async def test_a_follower_who_missed_changes_is_sent_away_to_read_the_list() -> None:
    feed = CatalogFeed()
    follower = feed.follow(feed.position)
    for number in range(KEPT + 1):
        feed.upserted(None, make_session(f"sess-{number}").session)
    with pytest.raises(StopAsyncIteration):
        await anext(follower)
