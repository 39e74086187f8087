"""A client that behaves as the established feed's SDKs do starts, recovers, is cut off, and recovers."""

import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from app.access import admin
from app.domain.market import Market, MarketStatus
from app.domain.match import Match
from app.settings import Settings
from app.store import changes
from app.store.connections import Store
from scripts.local_services.certificates import Certificate
from tests.faults.broker import PrivateBroker
from tests.faults.keys import BY, issue
from tests.faults.rig import Rig, rigged, until
from tests.sdk_client.api import Api
from tests.sdk_client.feed import FeedClient, following
from tests.sdk_client.habits import GO_0, LINES, PATIENT, Habits
from tests.sdk_client.names import Names
from tests.support.ports import spare
from tests.support.queues import private_vhost
from tests.support.story import Story, offer
from tests.support.wire import serving_http

ALIVE_SECONDS = "10"  #: as in production: the client waits for no regular one
EVENT_RECOVERIES = ("odds", "stateful_messages")


@pytest.fixture
def certificate(broker: PrivateBroker) -> Certificate:
    """That of the broker: one for both hosts."""
    place = Path(broker.tls.ca_file).parent
    return Certificate(*(place / name for name in ("ca.pem", "server.pem", "server.key")))


@pytest.fixture
async def without_web(
    settings: Settings, store: Store, tmp_path: Path, broker: PrivateBroker, certificate: Certificate
) -> AsyncIterator[Rig]:
    """A service whose web process, over TLS, is yet to be started, and a broker that keys log in to."""
    (sdk,) = spare(1)
    ours = replace(
        broker.used_by(settings),
        sdk_port=sdk,
        sdk_public_url=f"https://127.0.0.1:{sdk}",
        sdk_certificate_file=str(certificate.certificate),
        sdk_private_key_file=str(certificate.key),
    )
    broker.admit_keys(settings)
    async with private_vhost(ours) as private, rigged(private, store, tmp_path) as rig:
        yield rig


@pytest.fixture
async def rig(without_web: Rig) -> AsyncIterator[Rig]:
    """The service, with its web process."""
    async with serving(without_web.settings):
        yield without_web


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[None]:
    """The web process."""
    async with serving_http(settings, *spare(1)):
        yield


@asynccontextmanager
async def started(
    rig: Rig, broker: PrivateBroker, key: str, *, node: int = 1, habits: Habits = PATIENT
) -> AsyncIterator[tuple[Api, FeedClient]]:
    """A client with what an SDK is configured with: two hosts, the authority, and its key."""
    trusted = ssl.create_default_context(cafile=broker.tls.ca_file)
    async with httpx.AsyncClient(base_url=rig.settings.sdk_public_url, verify=trusted) as http:
        api = Api(http, key)
        names = [Names(api, locale) for locale in ("en", "ru")]
        identity = await api.identity()
        client = FeedClient(api, broker.tls, identity, names, node=node, habits=habits)
        async with following(client):
            yield api, client
        assert (client.failed, client.unresolved) == ({}, {})


async def change(rig: Rig, match: Match, client: FeedClient) -> None:
    """Something changes, and the client receives it."""
    [seq] = await rig.write_changes(match)
    await until("the change", lambda: client.book.seqs.get(f"od:match:{match.number}") == seq)


async def test_it_starts_is_cut_off_for_four_seconds_and_recovers(rig: Rig, broker: PrivateBroker) -> None:
    tenant, _ = await rig.tenant()
    key = (await issue(rig, tenant.slug)).raw
    match = await rig.match()
    await rig.write_changes(match, 3)
    await rig.feed(ALIVE_SECONDS=ALIVE_SECONDS)
    async with started(rig, broker, key) as (api, client):
        assert await client.until("up", lambda: client.producer.up, 10) < 10
        await change(rig, match, client)
        for what in EVENT_RECOVERIES:
            await api.recover_event("live", what, f"od:match:{match.number}", 7, node_id=1)
        began = len(client.log)
        client.cut(4)
        await until("cut off", lambda: not client.connected)
        missed = await rig.write_changes(match, 3)
        await client.until("connected again", lambda: client.connected, 60)
        await client.until("recovered", lambda: client.producer.up and client.count("up", began), 60)
        assert client.count("down: alive with subscribed=0", began) == 1
        assert client.count("recovery", began) == 1
        await change(rig, match, client)
        assert client.book.open == 1 and client.book.seqs[f"od:match:{match.number}"] > max(missed)
        await client.until("named", lambda: client.named >= 4, 60)


async def test_a_key_that_is_rotated_is_replaced_without_a_pause(rig: Rig, broker: PrivateBroker) -> None:
    tenant, _ = await rig.tenant()
    old = await issue(rig, tenant.slug)
    await rig.feed(ALIVE_SECONDS=ALIVE_SECONDS)
    async with started(rig, broker, old.raw) as (_, before):
        await before.until("up", lambda: before.producer.up, 60)
        async with rig.store.transaction() as tx:
            new = await admin.rotate_key(tx, old.key.id, secret=rig.settings.secret_key, **BY)
        await before.until("the old key is out", lambda: not before.connected, 1)
        async with started(rig, broker, new.raw) as (_, after):
            await after.until("the new one is up", lambda: after.producer.up, 60)
        assert not before.connected


async def test_of_two_processes_the_one_that_was_cut_off_is_notified(rig: Rig, broker: PrivateBroker) -> None:
    tenant, _ = await rig.tenant()
    key = (await issue(rig, tenant.slug)).raw
    match = await rig.match()
    await rig.write_changes(match, 3)
    await rig.feed(ALIVE_SECONDS=ALIVE_SECONDS)
    async with started(rig, broker, key) as (_, stays), started(rig, broker, key, node=2) as (_, cut):
        for each in (stays, cut):
            await each.until("up", lambda each=each: each.producer.up, 60)
        began, of_other = len(cut.log), len(stays.log)
        cut.cut(1)
        await until("cut off", lambda: not cut.connected)
        missed = await rig.write_changes(match, 3)
        name = f"od:match:{match.number}"
        await until("the other one misses nothing", lambda: stays.book.seqs.get(name) == missed[-1])
        await cut.until("recovered", lambda: cut.count("snapshot_complete", began), 60)
        await stays.until("so has the other", lambda: stays.count("snapshot_complete", of_other), 60)
        assert cut.count("down: alive with subscribed=0", began) == 1
        assert cut.book.digest() == stays.book.digest()


@pytest.mark.parametrize("habits", LINES, ids=lambda habits: habits.name)
async def test_every_line_reads_all_that_is_sent(rig: Rig, broker: PrivateBroker, habits: Habits) -> None:
    """Favourites, certainty, the reasons of voids and `bet_stop`: live, and what a recovery replays."""
    tenant, _ = await rig.tenant(bet_stop=True)
    key, story = (await issue(rig, tenant.slug)).raw, Story(rig.store)
    match, off = await story.match(), {"status": MarketStatus.SUSPENDED}
    await rig.feed(ALIVE_SECONDS=ALIVE_SECONDS)
    lines = [over(21.5, favourite=True), over(22.5)]
    async with started(rig, broker, key, habits=habits) as (api, client):
        await client.until("up", lambda: client.producer.up, 60)
        await story.offer(match, *lines, offer(1), offer(2))
        await story.settle(match, offer(1))
        await story.void(match, offer(2))
        await client.until("all of it", lambda: client.handed_over["bet_cancel"] and client.favourites, 60)
        assert client.book.open == 2
        await story.offer(match, *(replace(line, **off) for line in lines))
        stop = "bet_stop" if habits.reads_bet_stop else "unparsable"
        await client.until("it stops", lambda: client.handed_over[stop] == 1, 60)
        number = f"od:match:{match.number}"
        async with rig.store.autocommit() as tx:
            seq = await changes.head(tx)
        await client.until("the end", lambda: client.book.seqs.get(number) == seq, 60)
        expected = client.book.digest()
        assert [market[2] for market in expected["matches"][0]["markets"]] == [-1, -1]
        replayed = client.handed_over["bet_cancel"]
        await api.recover_event("live", "stateful_messages", number, 7, node_id=1)
        await client.until("replayed", lambda: client.handed_over["bet_cancel"] > replayed, 60)
        assert client.book.digest() == expected
        await client.until("named", lambda: client.void_reasons, 60)
        assert set(client.void_reasons) == {"Not played: by the test"}
        assert client.handed_over.keys() <= {"odds_change", "bet_settlement", "bet_cancel", stop}


def over(threshold: float, **fields: Any) -> Market:
    """An open line of the rounds of a map."""
    return Market(8, f"map=1|threshold={threshold}", MarketStatus.ACTIVE, Decimal("1.9"), 0.5, **fields)


@pytest.mark.long
async def test_a_client_that_requests_each_recovery_once_recovers_when_rest_is_back(
    without_web: Rig, broker: PrivateBroker
) -> None:
    rig = without_web
    tenant, _ = await rig.tenant()
    key = (await issue(rig, tenant.slug)).raw
    match = await rig.match()
    await rig.write_changes(match, 3)
    async with AsyncExitStack() as stack:
        async with serving(rig.settings):
            await rig.feed(ALIVE_SECONDS=ALIVE_SECONDS)
            _, client = await stack.enter_async_context(started(rig, broker, key, habits=GO_0))
            await client.until("up", lambda: client.producer.up and client.named, 60)
        began = len(client.log)
        client.cut(1)
        await until("cut off", lambda: not client.connected)
        await rig.write_changes(match, 3)
        await client.until("it is notified", lambda: client.count("recovery", began) > 1, 60)
        assert client.log[-1][1].endswith("'All connection attempts failed')")
        async with serving(rig.settings):
            await client.until("up", lambda: client.producer.up, 30)
            await change(rig, match, client)
