"""Shutting a former holder out of the broker."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from unittest.mock import Mock

import aio_pika
import msgspec
import pytest

from app.amqp.connection import BrokerError, ConfirmListener, PublisherConnection, connect
from app.amqp.frames import AmqpMessage, marshal
from app.broker import broker_users
from app.broker.address import Address, parse
from app.broker.management import Management
from scripts.services import Services

EXCHANGE = "oddsfeed"


@pytest.fixture
async def vhost(management: Management) -> AsyncIterator[str]:
    vhost = f"t{secrets.token_hex(5)}"
    await management.put_vhost(vhost)
    await management.set_permissions(vhost, management.user, configure=".*", write=".*", read=".*")
    yield vhost
    await management.delete_vhost(vhost)


async def created(management: Management, services: Services, vhost: str) -> tuple[str, Address]:
    holder = secrets.token_hex(4)
    password = await broker_users.create_publisher_user(management, holder)
    await broker_users.permit_publisher(management, holder, vhost, EXCHANGE)
    user = broker_users.publisher_user(holder)
    return holder, msgspec.structs.replace(parse(services.rabbitmq_url), user=user, password=password)


async def test_an_expelled_holder_is_disconnected_and_stays_refused(
    management: Management, services: Services, vhost: str
) -> None:
    holder, address = await created(management, services, vhost)
    connection = await connect(address, vhost, "test", EXCHANGE, Mock(ConfirmListener))
    await broker_users.expel_publisher(management, holder)
    assert "taken over" in await asyncio.wait_for(connection.ended, 60)
    with pytest.raises(BrokerError, match="ACCESS_REFUSED - Login"):
        await connect(address, vhost, "test", EXCHANGE, Mock(ConfirmListener))


async def test_a_deleted_user_is_disconnected(management: Management, services: Services, vhost: str) -> None:
    """So a connection that was being opened while the holder was expelled ends, too."""
    holder, address = await created(management, services, vhost)
    connection = await connect(address, vhost, "test", EXCHANGE, Mock(ConfirmListener))
    await management.delete_user(broker_users.publisher_user(holder))
    assert "user" in await asyncio.wait_for(connection.ended, 60)


async def test_what_is_written_after_the_expulsion_reaches_no_queue(
    management: Management, services: Services, vhost: str
) -> None:
    """The client does not read what the broker says, as a stopped process does not, and then writes."""
    holder, address = await created(management, services, vhost)
    connection: PublisherConnection = await connect(address, vhost, "test", EXCHANGE, Mock(ConfirmListener))
    async with await aio_pika.connect(parse(services.rabbitmq_url).url(vhost)) as watcher:
        channel = await watcher.channel()
        queue = await channel.declare_queue(exclusive=True)
        await queue.bind(EXCHANGE, "#")
        frames = marshal(AmqpMessage(EXCHANGE, "a.b", b"<stray/>", "mf-1", 0, {}))
        connection.publish(frames)
        assert connection._transport
        connection._transport.pause_reading()
        await broker_users.expel_publisher(management, holder)
        connection.publish(frames)
        ours = await channel.get_exchange(EXCHANGE)
        await ours.publish(aio_pika.Message(b"<last/>"), "a.b")
        bodies = [(await queue.get()).body]
        while bodies[-1] != b"<last/>":
            bodies.append((await queue.get()).body)
        assert bodies == [b"<stray/>", b"<last/>"]
    connection.abort("enough")
