"""The prematch schedule for requests that name no page, and keys that are ended."""

import httpx

from app.access import admin
from app.store.connections import Store
from tests.integration.facade.test_schedules import LIVE, PRE, listed, to_come, urns, write
from tests.support.eventually import eventually
from tests.support.web import Headers


async def test_a_page_has_1000_by_default(client: httpx.AsyncClient, basic: Headers, store: Store) -> None:
    found = to_come([1000 + number for number in range(1001)])
    await write(store, *found)
    first = await listed(client, PRE, basic)
    assert first == await listed(client, PRE, basic, start=0, limit=1000) == urns(*found[:1000])
    assert await listed(client, PRE, basic, start=1000) == urns(found[1000])


async def test_an_ended_key_is_refused_on_the_facade_too(
    client: httpx.AsyncClient, basic: Headers, store: Store
) -> None:
    assert await listed(client, LIVE, basic) == []
    async with store.transaction() as tx:
        (key_id,) = [row["id"] for row in await tx.fetch("SELECT id FROM api_key")]
        await admin.revoke_key(tx, key_id, by="tester", now=1)

    async def status() -> int:
        return (await client.get(LIVE, headers=basic)).status_code

    await eventually(status, lambda seen: seen == 403, 2)
