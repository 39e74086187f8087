import asyncio
from typing import Any

import pytest
from pamqp import commands

from app.amqp import tenant_channels
from app.amqp.connection import BrokerError, ChannelClosed
from app.amqp.tenant_channels import QueueChannel
from tests.unit.amqp.brokered import Broker, went_on


async def requested(broker: Broker, work: asyncio.Task[Any]) -> int:
    """The channel of the newest request."""
    await went_on()
    assert not work.done()
    return broker.requests[-1][0]


async def test_a_queue_is_counted_and_emptied() -> None:
    broker = Broker()
    queues = QueueChannel(broker.connection)
    counting = asyncio.create_task(queues.count("lost"))
    number = await requested(broker, counting)
    assert broker.requests[-1][1].passive
    broker.send(number, commands.Queue.DeclareOk("lost", 3, 0))
    assert await counting == 3
    purging = asyncio.create_task(queues.purge("lost"))
    assert await requested(broker, purging) == number
    broker.send(number, commands.Queue.PurgeOk(2))
    assert await purging == 2


async def test_a_queue_that_is_not_there_closes_this_channel_only() -> None:
    broker = Broker()
    queues = QueueChannel(broker.connection)
    counting = asyncio.create_task(queues.count("lost"))
    number = await requested(broker, counting)
    broker.send(number, commands.Channel.Close(404, "NOT_FOUND", 50, 10))
    with pytest.raises(ChannelClosed) as refusal:
        await counting
    assert refusal.value.code == 404 and not broker.connection.ended.done()
    closes = [value for _, value in broker.requests if isinstance(value, commands.Channel.Close)]
    assert not closes, "the broker ends a connection that closes a closed channel"
    again = asyncio.create_task(queues.count("lost"))
    number = await requested(broker, again)
    broker.send(number, commands.Queue.DeclareOk("lost", 1, 0))
    assert await again == 1


async def test_a_late_answer_is_not_taken_for_that_of_the_next_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broker = Broker()
    queues = QueueChannel(broker.connection)
    with monkeypatch.context() as patch:
        patch.setattr(tenant_channels, "_ANSWER_SECONDS", 0.01)
        with pytest.raises(TimeoutError):
            await queues.count("lost")
    late = next(number for number, value in broker.requests if isinstance(value, commands.Queue.Declare))
    again = asyncio.create_task(queues.count("lost"))
    number = await requested(broker, again)
    broker.send(late, commands.Queue.DeclareOk("lost", 9, 0))
    broker.send(number, commands.Queue.DeclareOk("lost", 1, 0))
    assert await again == 1


async def test_it_fails_with_its_connection() -> None:
    broker = Broker()
    counting = asyncio.create_task(QueueChannel(broker.connection).count("lost"))
    await requested(broker, counting)
    broker.connection.abort("the broker restarts")
    with pytest.raises(BrokerError, match="restarts"):
        await counting


async def test_an_exchange_is_there_or_not() -> None:
    broker = Broker()
    queues = QueueChannel(broker.connection)
    looking = asyncio.create_task(queues.has_exchange("running"))
    number = await requested(broker, looking)
    assert broker.requests[-1][1].passive
    broker.send(number, commands.Exchange.DeclareOk())
    assert await looking
    again = asyncio.create_task(queues.has_exchange("running"))
    broker.send(await requested(broker, again), commands.Channel.Close(404, "NOT_FOUND", 40, 10))
    assert not await again
    refused = asyncio.create_task(queues.has_exchange("running"))
    broker.send(await requested(broker, refused), commands.Channel.Close(403, "ACCESS_REFUSED", 40, 10))
    with pytest.raises(ChannelClosed):
        await refused
