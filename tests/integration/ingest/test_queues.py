"""The queues between sink and worker: nothing is lost or out of order; a broker outage fails fast."""

import asyncio
from time import monotonic
from uuid import UUID

import aio_pika
import pytest
from aio_pika.abc import AbstractIncomingMessage
from msgspec.structs import replace

from app.broker.address import parse
from app.broker.management import Management
from app.ingest.batches import Batch
from app.ingest.queues import PARTITIONS
from app.kit.errors import Unavailable
from app.settings import Settings
from tests.support.eventually import eventually, succeeds
from tests.support.queues import consumer_of, queues_of, taking


def batches(count: int, number: int = 3) -> list[Batch]:
    return [
        Batch(
            id=f"{number}/{place}",
            match_id=UUID(int=number),
            number=number,
            arrived_at=place,
            body=b"%d" % place,
        )
        for place in range(count)
    ]


async def test_each_queue_is_handled_in_order_and_one_at_a_time(private: Settings) -> None:
    seen: list[Batch] = []
    busy: set[int] = set()
    clashes: list[Batch] = []

    async def handle(batch: Batch) -> None:
        if batch.number % PARTITIONS in busy:  # an error here would only bring the batch again
            clashes.append(batch)
        busy.add(batch.number % PARTITIONS)
        await asyncio.sleep(0)
        seen.append(batch)
        busy.discard(batch.number % PARTITIONS)

    sent = [batch for pair in zip(batches(60, 3), batches(60, 4), strict=True) for batch in pair]
    consuming = consumer_of(private, handle)
    async with queues_of(private) as publishing:
        await publishing.ready()
        for batch in sent:
            await publishing.publish(batch)
        async with consuming:
            await eventually(lambda: len(seen), lambda count: count == len(sent))
    assert clashes == []
    for number in (3, 4):
        assert [one for one in seen if one.number == number] == [one for one in sent if one.number == number]


async def test_a_batch_whose_handling_failed_comes_again_before_the_next(private: Settings) -> None:
    seen: list[str] = []

    async def handle(batch: Batch) -> None:
        seen.append(batch.id)
        if len(seen) < 3:
            raise Unavailable("not now")

    consuming = consumer_of(private, handle)
    async with queues_of(private) as publishing:
        await publishing.ready()
        for batch in batches(2):
            await publishing.publish(batch)
        async with consuming:
            await eventually(lambda: len(seen), lambda count: count == 4)
    assert seen == ["3/0", "3/0", "3/0", "3/1"]


async def test_a_second_worker_takes_over_what_the_first_has_not_acknowledged(private: Settings) -> None:
    received: list[AbstractIncomingMessage] = []

    async def receive(message: AbstractIncomingMessage) -> None:
        received.append(message)

    second, seen = taking(private)
    async with queues_of(private) as publishing:
        await publishing.ready()
        url = parse(private.rabbitmq_url).url(private.rabbitmq_internal_vhost)
        async with await aio_pika.connect(url) as first:
            channel = await first.channel()
            await channel.set_qos(1)
            await (await channel.get_queue("ingest.3")).consume(receive)
            async with second:
                await second.ready()
                for batch in batches(3):
                    await publishing.publish(batch)
                await eventually(lambda: len(received), lambda count: count == 1)
                assert seen == []
                await first.close()
                await eventually(lambda: len(seen), lambda count: count == 3)
    assert [batch.id for batch in seen] == ["3/0", "3/1", "3/2"]


async def test_a_long_name_of_a_server_does_not_end_the_connection(private: Settings) -> None:
    """Headers beyond a frame would make the broker close the process's connection."""
    async with queues_of(private) as publishing:
        await publishing.ready()
        for size in (140_000, 250_000):
            await publishing.publish(replace(batches(1)[0], instance="a" * size))
            assert await publishing.healthy()
            await publishing.publish(batches(1)[0])


async def test_a_batch_that_comes_while_the_process_connects_is_accepted(
    private: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.ingest.queues._PUBLISH_SECONDS", 30)  # however slow this machine is
    async with queues_of(private) as publishing:
        await publishing.publish(batches(1)[0])


async def test_the_vhost_is_made_when_it_is_missing(private: Settings, management: Management) -> None:
    await management.delete_vhost(private.rabbitmq_internal_vhost)
    async with queues_of(private) as queues:
        async with asyncio.timeout(60):
            await queues.ready()
        await queues.publish(batches(1)[0])
        assert await queues.healthy()


async def test_a_vhost_that_is_lost_and_made_again_costs_only_its_time(private: Settings) -> None:
    vhost = private.rabbitmq_internal_vhost
    consuming, seen = taking(private)
    async with queues_of(private) as queues, consuming, Management(private.rabbitmq_api_url) as management:
        await queues.ready()
        await consuming.ready()
        await management.delete_vhost(vhost)
        began = monotonic()
        with pytest.raises(Unavailable):
            await queues.publish(batches(1)[0])
        assert monotonic() - began < 2
        await management.put_vhost(vhost)
        await management.set_permissions(vhost, management.user, configure=".*", write=".*", read=".*")
        await eventually(lambda: succeeds(queues.publish(batches(1)[0]), Unavailable))
        await eventually(lambda: len(seen), seconds=60)


@pytest.mark.parametrize("url", ["amqp://guest:guest@127.0.0.1:1", "amqp://guest:guest@127.0.0.1:9"])
async def test_without_a_broker_the_refusal_comes_within_two_seconds(settings: Settings, url: str) -> None:
    away = replace(settings, rabbitmq_url=url, rabbitmq_api_url="http://guest:guest@127.0.0.1:1")
    async with queues_of(away) as queues:
        began = monotonic()
        with pytest.raises(Unavailable):
            await queues.publish(batches(1)[0])
        assert monotonic() - began < 2
        assert not await queues.healthy()


async def test_they_are_empty_once_everything_was_taken(private: Settings) -> None:
    not_connected = queues_of(private)
    assert not await not_connected.empty(), "not known is not empty"
    let_go, taken = asyncio.Event(), asyncio.Event()

    async def handle(batch: Batch) -> None:
        taken.set()
        await let_go.wait()

    consuming = consumer_of(private, handle)
    async with queues_of(private) as publishing:
        await publishing.ready()
        assert await publishing.empty()
        for batch in batches(2):
            await publishing.publish(batch)
        assert not await publishing.empty()
        async with consuming:
            await asyncio.wait_for(taken.wait(), 60)
            assert not await publishing.empty(), "one is being applied, the other waits"
            let_go.set()
            await eventually(publishing.empty, bool)
