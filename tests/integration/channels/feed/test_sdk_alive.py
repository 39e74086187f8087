"""`alive` for SDKs: soon after they have bound their queues, and notices when all of them are bound."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aio_pika
import pytest

from app.amqp import loss_notice, relay
from app.amqp.loss_notice import TenantBindings
from app.amqp.tenant_publisher import TenantPublisher
from app.broker.management import ExchangeBinding
from app.broker.permissions import tenant_user
from app.channels.feed.session import FeedSession
from tests.faults.rig import Consumer, Rig, consume, consuming, until
from tests.integration.channels.feed.conftest import Running
from tests.integration.channels.feed.test_unbound_losses import SDK_EXCHANGE, passed_over
from tests.support.clocks import ManualTime

HOUR = 3600.0


def of_sdks(bindings: TenantBindings) -> list[ExchangeBinding]:
    return [each for each in bindings.current if each.source == SDK_EXCHANGE]


async def published_to(session: FeedSession) -> list[TenantPublisher]:
    """The publishers of a session that has connected to its tenants."""
    publishers = session.relay.publishers
    await until("it publishes", lambda: any(each.healthy for each in publishers.values()))
    return list(publishers.values())


@asynccontextmanager
async def sdk(url: str) -> AsyncIterator[tuple[Consumer, Consumer]]:
    """A client's queue of everything, and the one of `alive` that it obeys, bound after it."""
    session, hidden = Consumer(url, SDK_EXCHANGE), Consumer(url, SDK_EXCHANGE)
    async with await aio_pika.connect(url) as connection:
        channel = await connection.channel()
        for consumer, keys in (
            (session, ("*.*.*.*.*.*.*.-.#", "-.-.-.alive.#")),
            (hidden, ("-.-.-.alive.#",)),
        ):
            await consume(channel, SDK_EXCHANGE, consumer.take, *keys)
        yield session, hidden


async def test_an_sdk_need_not_wait_for_the_next_interval(
    rig: Rig, feed: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, url = await rig.tenant()
    async with consuming(url, rig.settings.exchange) as other, feed(alive_seconds=HOUR) as session:
        [publisher] = await published_to(session)
        bindings = publisher.notice.bindings
        await until("the first alive", lambda: bindings.known and other.alives)
        assert bindings.alive_wait is None, "others wait for the next interval"
        monkeypatch.setattr(loss_notice, "time", clock := ManualTime())
        async with sdk(url) as (_, hidden):
            await until("both queues are known", lambda: len(of_sdks(bindings)) == 3)
            assert (len(other.alives), len(hidden.alives)) == (1, 0), (
                "not before both had the time to be bound"
            )
            clock.now += 1.0
            await until("alive", lambda: hidden.alives)
            assert hidden.downs == 0
            await until("no further one is due", lambda: bindings.alive_wait is None)
        assert (len(other.alives), len(hidden.alives)) == (2, 1), "one for both of the SDK's queues"


@pytest.mark.parametrize("numbered", [False, True])
async def test_a_notice_waits_for_the_queue_that_obeys_it(
    rig: Rig, feed: Running, monkeypatch: pytest.MonkeyPatch, numbered: bool
) -> None:
    """Also where clients have the name of the vhost built in, with the tenant's number."""
    monkeypatch.setattr(relay, "DETECTION_MILLIS", 0)
    tenant, url = await rig.tenant(numbered=numbered)
    match = await rig.match()
    async with feed(alive_seconds=HOUR) as session:
        async with sdk(url) as (first, hidden):
            [publisher] = await published_to(session)
            await until("alive", lambda: hidden.alives)
            [seq] = await rig.write_changes(match)
            await until("published", lambda: seq in first.seqs)
            await rig.management.ensure_disconnected(tenant_user(tenant.vhost), "cut")
        await until("seen", lambda: not publisher.notice.bindings.routes_live)
        missed = set(await rig.write_changes(match, 3))
        await passed_over(rig, tenant.slug, max(missed))
        async with sdk(url) as (second, hidden):
            await until("notified", lambda: hidden.downs)
            await until("and again alive", lambda: len(hidden.alives) > 1)
            assert (second.downs, hidden.downs) == (1, 1)
            assert b'subscribed="0"' in second.got[0].body
