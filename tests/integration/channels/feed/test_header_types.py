"""Integers in AMQP headers are of signed types only, in every message: many clients read no others."""

import asyncio
from typing import Any
from uuid import UUID

import pytest
from lxml import etree

from app.amqp.connection import connect
from app.amqp.envelope import EnvelopeRenderer, MatchMessage
from app.amqp.frames import AmqpMessage, marshal
from app.amqp.publishers import FeedPublishers
from app.amqp.tenant_channels import LiveDelay, TenantChannels
from app.broker.address import parse
from app.domain.recovery import RecoveryJob, RecoveryKind, RecoveryRequest, RecoveryState
from app.ingest.batches import Batch
from app.recovery.runner import RecoveryPublisher
from tests.faults.rig import Rig, consuming, until
from tests.integration.channels.feed.conftest import tapped
from tests.support.queues import private_vhost, queues_of

NUMBERS = (0, 2**15, 2**16, 2**31, 2**32, 2**53)
SIGNED = {0: "b", 2**15: "I", 2**16: "I", 2**31: "l", 2**32: "l", 2**53: "l"}


def signed(value: tuple[str, bytes]) -> int:
    kind, data = value
    assert kind in "bsIl", f"{kind} is not a signed type"
    return int.from_bytes(data, signed=True)


class Listener:
    def __init__(self) -> None:
        self.tag = 0

    def confirmed(self, tag: int, multiple: bool) -> None:
        self.tag = tag

    def rejected(self, tag: int, multiple: bool) -> None:
        raise AssertionError("refused")

    def unblocked(self) -> None:
        pass


def message(number: int) -> AmqpMessage:
    headers: dict[str, int | str] = dict.fromkeys(("x-seq", "x-prev-seq", "x-arrived-at"), number)
    return AmqpMessage("oddsfeed", "hi.-.live.odds_change.2.od:match.1.-", b"<a/>", "mf-1", 0, headers)


async def test_live_messages(rig: Rig) -> None:
    tenant, url = await rig.tenant()
    listener = Listener()
    async with tapped(rig) as tap, consuming(url, rig.settings.exchange) as consumer:
        address = parse(rig.settings.rabbitmq_url)
        connection = await connect(address, tenant.slug, "test", rig.settings.exchange, listener)
        for number in NUMBERS:
            connection.publish(marshal(message(number)))
        await until("confirmed", lambda: listener.tag == len(NUMBERS))
        await connection.close()
        await until("received", lambda: len(consumer.got) == len(NUMBERS))
    sent = list(tap.headers())
    assert [{name: signed(value) for name, value in each.items()} for each in sent] == [
        message(number).headers for number in NUMBERS
    ]
    assert [each["x-seq"][0] for each in sent] == [SIGNED[number] for number in NUMBERS]
    assert [got.seq for got in consumer.got] == list(NUMBERS)


async def test_replayed_messages_and_their_end(rig: Rig) -> None:
    tenant, url = await rig.tenant()
    request = RecoveryRequest(kind=RecoveryKind.REST_FULL, after=0, request_id="1", node_id=None)
    job = RecoveryJob(1, tenant.id, request, 1, RecoveryState.RUNNING, 0, attempts=1)
    async with tapped(rig) as tap, consuming(url, rig.settings.exchange):
        address = parse(rig.settings.rabbitmq_url)
        connection = await connect(address, tenant.slug, "test", rig.settings.exchange, Listener())
        channels = await TenantChannels.open(
            connection, LiveDelay(list), may_publish=lambda: True, may_replay=lambda: True
        )
        renderer = EnvelopeRenderer(rig.settings.exchange, rig.settings.producer_id)
        feed = FeedPublishers(rig.settings.exchange)
        publisher = RecoveryPublisher(channels.replayed, job, renderer, feed)
        await publisher.publish([MatchMessage("odds_change", 1, 0, number) for number in NUMBERS])
        await publisher.publish_end(0)
        await connection.close()
    sent = [{name: signed(value) for name, value in each.items()} for each in tap.headers()]
    common = {"timestamp_in_ms": 0, "recovery": 1}
    assert sent == [*(common | {"x-seq": number} for number in NUMBERS), common]


async def test_headers_of_the_feed(rig: Rig, feed: Any) -> None:
    """Each has the timestamp of its XML; `alive` has nothing else."""
    _, url = await rig.tenant()
    async with tapped(rig) as tap, consuming(url, rig.settings.exchange) as consumer, feed():
        await until("alive", lambda: consumer.alives)
        await rig.write_changes(await rig.match())
        await until("published", lambda: consumer.live)
    sent = [{name: signed(value) for name, value in each.items()} for each in tap.headers()]
    (live,) = [each for each in sent if len(each) > 1]
    timestamp = int(etree.fromstring(consumer.live[0].body).get("timestamp", 0))
    assert live == {"timestamp_in_ms": timestamp, "x-seq": consumer.live[0].seq, "x-prev-seq": 0}
    assert [set(each) for each in sent if each is not live] == [{"timestamp_in_ms"}] * (len(sent) - 1)


@pytest.mark.parametrize("number", NUMBERS)
async def test_log_batches(rig: Rig, number: int) -> None:
    batch = Batch(
        id="1", match_id=UUID(int=1), number=number, arrived_at=number, body=b"x", begin=number, end=number
    )
    async with tapped(rig) as tap, private_vhost(rig.settings) as private, queues_of(private) as queues:
        async with asyncio.timeout(60):
            await queues.ready()
        await queues.publish(batch)
    [sent] = [each for each in tap.headers() if each]
    numbers = ("number", "arrived_at", "begin", "end")
    assert {name: signed(sent[name]) for name in numbers} == dict.fromkeys(numbers, number)
