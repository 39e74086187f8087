"""Several nodes of a broker: the next one is used when one refuses, is cut off, or goes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from unittest.mock import Mock
from uuid import UUID

import msgspec
import pytest

from app.amqp.connection import BrokerError, ConfirmListener, connect
from app.broker.address import Address, Node, parse
from app.broker.connection import reachable
from app.broker.login_check import client_session
from app.broker.management import Management
from app.ingest.batches import Batch
from app.ingest.queues import PARTITIONS
from app.kit.errors import Unavailable
from app.settings import Settings
from tests.support.eventually import eventually, succeeds
from tests.support.queues import queues_of, taking
from tests.support.route import Route

REFUSES = Node("127.0.0.1", 1)


@asynccontextmanager
async def routes(settings: Settings) -> AsyncIterator[tuple[Settings, Route, Route]]:
    """Two ways to one broker, which stand for two of its nodes, and settings that list them."""
    address = parse(settings.rabbitmq_url)
    (node,) = address.nodes
    async with Route(node.host, node.port).open() as one, Route(node.host, node.port).open() as other:
        login = f"amqp://{address.user}:{address.password}"
        url = f"{login}@127.0.0.1:{one.port},127.0.0.1:{other.port}"
        yield msgspec.structs.replace(settings, rabbitmq_url=url), one, other


def with_first(settings: Settings, node: Node) -> Address:
    address = parse(settings.rabbitmq_url)
    return msgspec.structs.replace(address, nodes=(node, *address.nodes))


async def test_a_publishers_connection_passes_over_a_node_that_refuses(private: Settings) -> None:
    for _ in range(8):  # the order is random
        address = with_first(private, REFUSES)
        connection = await connect(
            address, private.rabbitmq_internal_vhost, "test", "feed", Mock(ConfirmListener)
        )
        await connection.close()


async def test_a_publishers_connection_fails_when_every_node_refuses() -> None:
    address = Address((REFUSES, Node("127.0.0.1", 2)), "guest", "guest")
    with pytest.raises((OSError, BrokerError)):
        await connect(address, "/", "test", "feed", Mock(ConfirmListener))


async def test_a_client_session_passes_over_a_node_that_refuses(private: Settings) -> None:
    address = with_first(private, REFUSES)
    async with client_session(address) as session:
        await session.log_in(address, private.rabbitmq_internal_vhost)


async def test_the_management_api_is_called_at_the_node_that_answers(settings: Settings) -> None:
    several = settings.rabbitmq_api_url.replace("@", "@127.0.0.1:1,127.0.0.1:2,")
    async with Management(several) as management:
        await management.check()
        assert "/" in await management.vhosts()


async def test_the_management_api_is_unavailable_when_no_node_answers() -> None:
    async with Management("http://guest:guest@127.0.0.1:1,127.0.0.1:2") as management:
        with pytest.raises(Unavailable, match="does not answer"):
            await management.check()


async def test_a_node_that_was_cut_off_is_passed_over(private: Settings) -> None:
    async with routes(private) as (several, one, _):
        await one.cut_off()
        urls = parse(several.rabbitmq_url).urls(private.rabbitmq_internal_vhost)
        assert await reachable(urls, 0.5) == urls[1]


def batch(place: int) -> Batch:
    number = place % PARTITIONS
    return Batch(id=str(place), match_id=UUID(int=number), number=number, arrived_at=place, body=b"-")


async def test_the_internal_queues_move_to_the_node_that_is_left(private: Settings) -> None:
    """Publisher and consumer, twice: from the first node to the second, and back."""
    async with routes(private) as (several, one, other):
        consuming, seen = taking(several)
        async with queues_of(several) as publishing, consuming:
            for place, (gone, left) in enumerate([(one, other), (other, one)]):
                await publishing.ready()
                await consuming.ready()
                await left.restore()
                taken = left.taken
                await gone.cut()
                sent = batch(place)
                await eventually(lambda sent=sent: succeeds(publishing.publish(sent), Unavailable))
                await eventually(lambda sent=sent: sent.id in [each.id for each in seen])
                assert left.taken > taken


async def test_quorum_queues_are_declared_and_handled_in_order(private: Settings) -> None:
    quorum = msgspec.structs.replace(private, ingest_queue_type="quorum")
    consuming, seen = taking(quorum)
    async with queues_of(quorum) as publishing:
        await publishing.ready()
        for place in range(4 * PARTITIONS):
            await publishing.publish(batch(place))
        async with consuming:
            await eventually(lambda: len(seen), lambda count: count == 4 * PARTITIONS)
    for number in range(PARTITIONS):
        assert [each.arrived_at // PARTITIONS for each in seen if each.number == number] == [0, 1, 2, 3]
