"""The client package: cut off again and again, it ends with the open markets that the store has."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from matchfeed_client import Book, Client, ClientError, Rest, State
from matchfeed_client import messages as m

from app.domain.match import Status
from app.domain.tenant import Tenant
from app.store.connections import Store
from tests.faults.keys import issue
from tests.faults.rig import Rig
from tests.integration.channels.feed.test_consistency import Open, truth
from tests.support.eventually import eventually
from tests.support.life import Life
from tests.support.meanwhile import meanwhile
from tests.support.story import Story, offer
from tests.support.web import serving


def shown(book: Book) -> Open:
    """What the client would offer or show as suspended, as `truth` has it."""
    found: Open = {}
    for match, offers in book.offers.items():
        for key, each in offers.items():
            if each.state is not State.CLOSED:
                value = str(each.odds) if each.odds else each.state.value
                found.setdefault(match, {})[str(key.market), key.specifiers] = value
    return found


@asynccontextmanager
async def rest(rig: Rig, tenant: Tenant) -> AsyncIterator[Rest]:
    """The tenant's REST API, without a network."""
    async with serving(rig.settings) as web:
        issued = await issue(rig, tenant.slug)
        transport: httpx.AsyncBaseTransport = web._transport
        yield Rest("http://matchfeed.test", issued.raw, transport)


async def consume(client: Client, kinds: set[type]) -> None:
    async for update in client:
        kinds.add(type(update.message))


@pytest.mark.long
async def test_cut_off_at_random_it_ends_with_what_is_stored(rig: Rig, store: Store, tmp_path: Path) -> None:
    tenant, url = await rig.tenant()
    life, kinds, saved = Life(Story(store), 1), set[type](), tmp_path / "book.json"
    await rig.feed()
    async with rest(rig, tenant) as api:

        async def session(steps: int) -> None:
            """Connected while the matches change, then cut off; the book is on disk."""
            client = Client(url, "", "", exchange=rig.settings.exchange, rest=api, saved=saved)
            async with meanwhile(consume(client, kinds)):
                await life.step(steps)
            client._save(at_once=True)

        for _ in range(2):
            await session(life.random.randrange(20, 60))
            await life.step(life.random.randrange(10, 30))
        client = Client(url, "", "", exchange=rig.settings.exchange, rest=api, saved=saved)
        async with meanwhile(consume(client, kinds)) as [task]:
            await life.step(20)
            expected = await truth(store, life.matches)

            def seen() -> Open:
                return {} if client.book.recovery or client.book.due or task.done() else shown(client.book)

            await eventually(seen, lambda found: found == expected)
            comparison = await client.compare()
            assert (comparison.count, comparison.differences) == (0, ())
            assert comparison.markets == sum(map(len, expected.values()))
    assert {m.OddsChange, m.SnapshotComplete} <= kinds


async def test_a_refused_login_ends_the_iteration_with_what_to_do(rig: Rig) -> None:
    tenant, url = await rig.tenant()
    wrong = httpx.URL(url).copy_with(password="of-another")
    async with rest(rig, tenant) as api:
        client = Client(str(wrong), "", "", exchange=rig.settings.exchange, rest=api)
        with pytest.raises(ClientError, match="credentials"):
            await consume(client, set())


async def test_a_refused_key_ends_the_iteration_with_what_to_do(rig: Rig) -> None:
    tenant, url = await rig.tenant()
    await rig.feed()
    async with serving(rig.settings) as web:
        api = Rest("http://matchfeed.test", "mfk_unknown", web._transport)
        client = Client(url, "", "", exchange=rig.settings.exchange, rest=api)
        with pytest.raises(ClientError, match="key"):
            await consume(client, set())


async def test_the_book_is_complete_once_the_recovery_is(rig: Rig, store: Store, story: Story) -> None:
    """A program may leave its loop there, and go on later."""
    tenant, url = await rig.tenant()
    match = await story.match(offer(1), status=Status.UPCOMING)
    await rig.feed()
    async with (
        rest(rig, tenant) as api,
        Client(url, "", "", exchange=rig.settings.exchange, rest=api) as client,
    ):
        async for update in client:
            if isinstance(update.message, m.SnapshotComplete):
                break
        assert shown(client.book) == await truth(store, [match])


async def test_who_leaves_the_loop_leaves_no_connection_behind(rig: Rig) -> None:
    """A program that ended then, with a connection open, could wait for it for ever."""
    tenant, url = await rig.tenant()
    await rig.feed()
    async with rest(rig, tenant) as api:
        async with Client(url, "", "", exchange=rig.settings.exchange, rest=api) as client:
            async for update in client:
                if isinstance(update.message, m.SnapshotComplete):
                    break
        left = [str(task.get_coro()) for task in asyncio.all_tasks() if not task.done()]
        assert not [
            each for each in left if "aiormq" in each or "matchfeed_client" in each or "Client." in each
        ]


def test_a_file_that_holds_no_book_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "book.json"
    path.write_text("[]")
    with pytest.raises(ClientError, match="holds no book"):
        Client("amqp://nowhere", "http://nowhere", "key", saved=path)
