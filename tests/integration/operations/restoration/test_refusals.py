"""Nothing is changed while something is wrong."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace

from app.access.admin import BrokerConfig
from app.broker import provisioning
from app.broker.address import parse
from app.broker.broker_users import create_publisher_user, permit_publisher, publisher_user
from app.broker.connection import open_connection
from app.kit.clock import system_clock
from app.kit.errors import Conflict
from app.operations.restoration import checks
from app.settings import Settings
from app.store.connections import AUTHORISATION_SESSION_NAME, Store, open_store
from app.store.transaction import Tx
from tests.integration.operations.restoration.conftest import PutInOrder, Urls
from tests.support import world
from tests.support.eventually import eventually, succeeds
from tests.support.stored import head
from tests.support.story import Story


class OneTransaction(Store):
    """A store whose every snapshot is this transaction."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Tx]:
        yield self._tx


async def refused(put_in_order: PutInOrder, store: Store, match: str, **given: object) -> None:
    before = await head(store)
    with pytest.raises(Conflict, match=match):
        await put_in_order(**given)
    assert await head(store) == before


async def test_a_process_on_the_database(store: Store, database_url: str, put_in_order: PutInOrder) -> None:
    async with await open_store(database_url, 1):
        await refused(put_in_order, store, "session on the database")
    async with await open_store(database_url, 1, session_name=AUTHORISATION_SESSION_NAME):
        await put_in_order()


async def test_a_process_that_connects_a_moment_later(
    store: Store, database_url: str, put_in_order: PutInOrder
) -> None:
    async def connect() -> None:
        await asyncio.sleep(0.3)  # a process tries again after a pause
        async with await open_store(database_url, 1):
            await released.wait()

    released = asyncio.Event()
    task = asyncio.create_task(connect())
    try:
        await refused(put_in_order, store, "session on the database", idle_seconds=20)
    finally:
        released.set()
        await task


@pytest.mark.usefixtures("url")
async def test_a_feed_process_on_the_broker(
    store: Store, put_in_order: PutInOrder, slug: str, settings: Settings, broker: BrokerConfig, urls: Urls
) -> None:
    """It lost the database, and still publishes what it has."""
    password = await create_publisher_user(broker.management, slug)
    await permit_publisher(broker.management, slug, slug, settings.exchange)
    own = parse(settings.rabbitmq_url)
    url = replace(own, user=publisher_user(slug), password=password).url(slug)
    async with open_connection(url, 10):
        await eventually(
            broker.management.user_connections,
            lambda found: any(each.user == publisher_user(slug) and each.vhost for each in found),
        )
        await refused(put_in_order, store, publisher_user(slug))
    await eventually(lambda: broker.management.connection_count(publisher_user(slug)), lambda left: not left)
    await eventually(lambda: succeeds(put_in_order(), Conflict))  # the broker lists it for a moment
    assert await broker.management.credentials(publisher_user(slug)) is None
    assert await provisioning.has_client_exchanges(
        broker.management, await broker.management.exchanges(), slug, settings.exchange
    )
    assert not urls


@pytest.mark.parametrize("ahead", [-60_000, 60_000])
async def test_a_clock_that_differs_from_the_databases(
    store: Store, put_in_order: PutInOrder, ahead: int
) -> None:
    await refused(put_in_order, store, "clock", clock=lambda: system_clock() + ahead)


async def test_timestamps_of_the_future(store: Store, story: Story, put_in_order: PutInOrder) -> None:
    await story.match(last_stamp=system_clock() + 3_600_000)
    await refused(put_in_order, store, "timestamps up to")


async def test_an_older_schema(store: Store, put_in_order: PutInOrder) -> None:
    async with store.transaction() as tx:
        await tx.execute("DELETE FROM migration WHERE name = (SELECT max(name) FROM migration)")
    await refused(put_in_order, store, "lacks 1 migration: run `matchfeed migrate`")


DAMAGE = {
    "a ledger entry is missing": "DELETE FROM ledger_entry WHERE id = (SELECT max(id) FROM ledger_entry)",
    "a change is missing": "DELETE FROM change WHERE seq = (SELECT max(seq) FROM change WHERE message <> '')",
    "an envelope is missing": """
DELETE FROM change WHERE envelope_seq = (SELECT max(prev_seq) FROM change WHERE message <> '')""",
    "a match is missing": "DELETE FROM match WHERE status = 'finished'",
    "markets are missing": "DELETE FROM market",
    "a match is older than the log": "UPDATE match SET last_seq = last_seq - 1 WHERE status = 'live'",
    "facts are missing": "DELETE FROM timeline_event",
    "a result differs": """
UPDATE round SET body = replace(body::text, '"winner":"home"', '"winner":"away"')::json""",
}


async def test_a_damaged_database(store: Store, put_in_order: PutInOrder) -> None:
    """Each damage alone is found, and the undamaged database is sound."""
    await world.made(store)
    assert not (await checks.audit(store)).wrong
    found = {}
    for what, damage in DAMAGE.items():
        async with store.dry_run() as tx:
            await tx.execute(damage)
            found[what] = (await checks.audit(OneTransaction(tx))).wrong
    assert {what for what, wrong in found.items() if not wrong} == set()
    async with store.transaction() as tx:
        await tx.execute(DAMAGE["facts are missing"])
    await refused(put_in_order, store, "not sound, and nothing was changed")
    assert (await put_in_order(despite_differences=True)).audit.wrong
