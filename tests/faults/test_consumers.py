"""A consumer that is slow, and one that stops: the others do not notice; it is notified of what it lost."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from aio_pika.abc import AbstractIncomingMessage

from app.broker import provisioning
from app.broker.connection import open_connection
from app.store import cursors
from tests.faults import fold
from tests.faults.rig import Consumer, Rig, consuming, until
from tests.support.life import Life, Living
from tests.support.recoveries import ended, recover
from tests.support.story import Story

SHORT = 40  #: messages that a tenant's queue may hold here


class Stoppable(Consumer):
    """Takes a message each `pause` seconds, or none while it is stopped."""

    def __init__(self, url: str, exchange: str) -> None:
        super().__init__(url, exchange)
        self.pause = 0.0
        self.going = asyncio.Event()

    async def take(self, message: AbstractIncomingMessage) -> None:
        await self.going.wait()
        await asyncio.sleep(self.pause)
        await super().take(message)
        await message.ack()


@asynccontextmanager
async def acknowledging(consumer: Stoppable) -> AsyncIterator[Stoppable]:
    """Consumes one message after another, each acknowledged before the next is sent."""
    async with open_connection(consumer.url, 5) as connection:
        channel = await connection.channel()
        await channel.set_qos(1)
        queue = await channel.declare_queue(exclusive=True)
        await queue.bind(consumer.exchange, "#")
        await queue.consume(consumer.take)
        yield consumer


async def shorten(rig: Rig, slug: str) -> None:
    """Let the tenant's queues hold little, so that little is enough to overflow them."""
    limits = provisioning.QUEUE_LIMITS | {"max-length": SHORT}
    await rig.management.put_policy(slug, "tenant-queues", limits, "^(?!lost$)")


@pytest.mark.parametrize("pause", [0.0, 0.02])
async def test_it_is_notified_of_its_loss_and_recovers_it(rig: Rig, pause: float) -> None:
    """It stops (and is slow when it goes on); the other tenant has everything meanwhile."""
    async with AsyncExitStack() as stack:
        tenant, url = await rig.tenant()
        _, other_url = await rig.tenant()
        await shorten(rig, tenant.slug)
        exchange = rig.settings.exchange
        stopped = await stack.enter_async_context(acknowledging(Stoppable(url, exchange)))
        other = await stack.enter_async_context(consuming(other_url, exchange))
        stopped.going.set()
        await rig.feed(ALIVE_SECONDS="1")
        await until("alive", lambda: stopped.alives and other.alives)
        living = Living(Life(Story(rig.store), 5), pause=0.005)
        await living.more(20)
        before = stopped.downs, other.downs
        stopped.going.clear()
        await living.more(4 * SHORT)
        await living.end()
        everything = await fold.everything(rig.store)
        await until("the other has all", lambda: other.seqs == everything)

        async def noticed() -> bool:
            async with rig.store.autocommit() as tx:
                return any(each.dropped for each in await cursors.statuses(tx))

        await until("the losses are counted", noticed)
        stopped.pause = pause
        stopped.going.set()
        await until("it is notified", lambda: stopped.downs > before[0])
        assert stopped.seqs < everything
        await ended(rig.store, await recover(rig.store, tenant, "8", after=1))
        await until("complete", lambda: any(".snapshot_complete." in each.key for each in stopped.replayed))
        ledger = await fold.ledger_of(rig.store)
        fold.check(other, ledger)
        assert stopped.downs - before[0] in (1, 2), "when it begins, unless that was lost too, and at its end"
        assert other.downs == before[1]
        recovered = fold.folded_with_replay(stopped.got)
        assert {key: state for key, state in ledger.items() if state != "pending"} == {
            key: state for key, state in recovered.items() if state != "pending"
        }
