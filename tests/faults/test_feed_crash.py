"""A feed process that is stopped or shut down in the middle of traffic: nothing lost, little repeated.
For kill -9 see `test_random_kills`."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from urllib.parse import urlsplit

import pytest

from app.broker.address import parse
from app.domain.match import Match
from tests.faults.rig import Consumer, Rig, consuming, until
from tests.support.route import Route

TENANTS = 3
SHORT_LEASE = "1500"


class Traffic:
    """Odds changes of two matches, without pause, until `end`."""

    def __init__(self, rig: Rig, matches: list[Match]) -> None:
        self._rig, self._matches = rig, matches
        self.seqs: list[int] = []
        self._task = asyncio.create_task(self._write())

    async def _write(self) -> None:
        while True:
            for match in self._matches:
                self.seqs += await self._rig.write_changes(match)

    async def end(self) -> set[int]:
        """The numbers of all changes written."""
        self._task.cancel()
        await asyncio.wait({self._task})
        return set(self.seqs)


@pytest.fixture
async def consumers(rig: Rig) -> AsyncIterator[list[Consumer]]:
    """Of a few tenants."""
    urls = [(await rig.tenant())[1] for _ in range(TENANTS)]
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(consuming(url, rig.settings.exchange)) for url in urls]


async def began(rig: Rig, consumers: list[Consumer]) -> Traffic:
    """Traffic that has reached every consumer."""
    await until("every tenant receives alive", lambda: all(each.alives for each in consumers))
    traffic = Traffic(rig, [await rig.match(), await rig.match()])
    await until("every tenant receives changes", lambda: all(len(each.live) > 50 for each in consumers))
    return traffic


def received_since(traffic: Traffic, consumers: list[Consumer], count: int) -> bool:
    """Whether every consumer has something that was published after the first `count` changes."""
    return all(each.seqs & set(traffic.seqs[count:]) for each in consumers)


async def finished(traffic: Traffic, consumers: list[Consumer], count: int) -> None:
    """Some more traffic, then its end: every consumer has all of it, in order, and the same when repeated."""
    await until("traffic goes on", lambda: len(traffic.seqs) > count)
    await until("the tenants receive changes again", lambda: received_since(traffic, consumers, count))
    everything = await traffic.end()
    await until("all has arrived", lambda: all(each.seqs >= everything for each in consumers))
    for each in consumers:
        each.check_identity()
        each.check_order()


async def test_a_stopped_process_is_replaced(rig: Rig, consumers: list[Consumer]) -> None:
    process = await rig.feed()
    traffic = await began(rig, consumers)
    process.pause()
    count = len(traffic.seqs) + 50
    await rig.feed()
    await until("the tenants receive changes again", lambda: received_since(traffic, consumers, count))
    before = [each.repeats for each in consumers]
    process.resume()
    await until("it has noticed", lambda: process.logged("starting a new session under another name"))
    await finished(traffic, consumers, len(traffic.seqs) + 50)
    print("repeated:", before)
    assert [each.repeats for each in consumers] == before, "the stopped process published something"
    assert all(repeats <= rig.settings.feed_window for repeats in before)


async def test_an_orderly_shutdown_repeats_nothing(rig: Rig, consumers: list[Consumer]) -> None:
    process = await rig.feed()
    traffic = await began(rig, consumers)
    assert await process.end() == 0
    count = len(traffic.seqs) + 20
    await rig.feed()
    await finished(traffic, consumers, count)
    assert [each.repeats for each in consumers] == [0] * TENANTS


async def test_a_second_process_shares_the_tenants(rig: Rig, consumers: list[Consumer]) -> None:
    first = await rig.feed()
    traffic = await began(rig, consumers)
    second = await rig.feed()
    await until("the second serves some", lambda: second.logged("serving a tenant"))
    assert first.logged("releasing a tenant to another process")
    await finished(traffic, consumers, len(traffic.seqs) + 50)
    assert [each.repeats for each in consumers] == [0] * TENANTS


async def test_a_process_without_the_broker_leaves_its_tenants_to_another(
    rig: Rig, consumers: list[Consumer]
) -> None:
    """It reaches the database, where it could renew its leases for ever."""
    broker, api = parse(rig.settings.rabbitmq_url).nodes[0], urlsplit(rig.settings.rabbitmq_api_url)
    async with AsyncExitStack() as stack:
        to_broker = await stack.enter_async_context(Route(broker.host, broker.port).open())
        to_api = await stack.enter_async_context(Route(str(api.hostname), int(api.port or 15672)).open())
        first = await rig.feed(
            FEED_LEASE_MILLIS=SHORT_LEASE,
            RABBITMQ_URL=rig.settings.rabbitmq_url.replace(f":{broker.port}", f":{to_broker.port}"),
            RABBITMQ_API_URL=rig.settings.rabbitmq_api_url.replace(f":{api.port}", f":{to_api.port}"),
        )
        traffic = await began(rig, consumers)
        second = await rig.feed(FEED_LEASE_MILLIS=SHORT_LEASE)
        await until("the second serves one", lambda: second.logged("serving a tenant"))
        await to_broker.cut()
        await to_api.cut()
        await until("the second serves all", lambda: len(second.lines("serving a tenant")) == TENANTS)
        assert first.logged("another feed process reaches the broker, this one does not")
        served = len(first.lines("serving a tenant"))
        await to_broker.restore()
        await to_api.restore()
        await until("the first serves one again", lambda: len(first.lines("serving a tenant")) > served)
        await finished(traffic, consumers, len(traffic.seqs) + 50)
        assert all(each.repeats <= 2 * rig.settings.feed_window for each in consumers)
