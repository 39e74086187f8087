"""A FastStream connection that is abandoned leaves nothing behind: neither on the broker nor in our loop."""

import asyncio
import gc
from collections.abc import Awaitable, Callable

import pytest
from aio_pika.connection import Connection
from faststream.rabbit import RabbitBroker

from app.amqp import broker_lifecycle
from app.broker.address import parse
from tests.faults.rig import Rig
from tests.support.eventually import eventually
from tests.support.ports import spare

pytestmark = pytest.mark.anyio


def returning() -> set[asyncio.Task[object]]:
    """Those that bring a connection back by itself; other tests of this loop may have left some."""
    return {task for task in asyncio.all_tasks() if "connection_factory" in str(task.get_coro())}


async def none_left(rig: Rig, slug: str, before: set[asyncio.Task[object]]) -> bool:
    return returning() <= before and await rig.management.connections(slug) == []


async def given_up_while_it_is_made(broker: RabbitBroker, url: str) -> None:
    before = returning()
    task = asyncio.create_task(broker_lifecycle.connect(broker, url))
    async with asyncio.timeout(10):
        while not returning() - before:  # it is under way
            await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def ended(broker: RabbitBroker, url: str) -> None:
    before = returning()
    await broker_lifecycle.connect(broker, url)
    assert returning() - before, "what is looked for can be seen"
    await broker_lifecycle.close(broker)


@pytest.mark.parametrize("fate", [given_up_while_it_is_made, ended])
async def test_nothing_stays_behind(rig: Rig, fate: Callable[[RabbitBroker, str], Awaitable[None]]) -> None:
    before = returning()
    tenant, _ = await rig.tenant()
    url = parse(rig.settings.rabbitmq_url).url(tenant.slug)
    await fate(RabbitBroker(url, logger=None), url)
    await eventually(lambda: none_left(rig, rig.slugs[0], before), seconds=30)


async def test_a_broker_whose_user_was_deleted_does_not_reconnect(rig: Rig) -> None:
    tenant, url = await rig.tenant()
    before = returning()
    broker = RabbitBroker(url, logger=None)
    await broker_lifecycle.connect(broker, url)
    user = f"op-{tenant.slug}"
    await rig.management.delete_user(user)
    await rig.management.close_user_connections(user, "test")
    await broker_lifecycle.close(broker)
    await eventually(lambda: none_left(rig, tenant.slug, before), seconds=30)


async def test_a_broker_that_cannot_connect_is_closed() -> None:
    [port] = spare(1)
    url = f"amqp://guest:guest@127.0.0.1:{port}/"
    with pytest.raises(broker_lifecycle.FAILURES) as refusal:  # its traceback keeps what was made
        await broker_lifecycle.connect(RabbitBroker(url, logger=None), url)
    # The type is tested, not the object: some of these are proxies of what is gone, and raise when tested.
    alive = [each for each in gc.get_objects() if issubclass(type(each), Connection)]
    made = [each for each in alive if each.url.port == port]
    assert made and all(each.is_closed for each in made), refusal
