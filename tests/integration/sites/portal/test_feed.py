"""How delivery stands: what the page shows, and the stream that moves it."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any
from uuid import UUID

import httpx
import pytest

from app.access.admin import BrokerConfig
from app.broker.connection import open_connection
from app.broker.management import Management, QueueCounts
from app.domain.recovery import RecoveryJob, RecoveryKind, RecoveryRequest
from app.domain.tenant import Role
from app.settings import Settings
from app.sites.pages.event_streams import PER_SESSION
from app.sites.portal.dependencies import PortalDependencies
from app.store import cursors, delivery_minutes, recovery_jobs, tenants
from app.store.connections import Store
from app.store.delivery_minutes import MINUTE_MILLIS, DeliveryMinute
from tests.integration.sites.portal.conftest import SignIn
from tests.support.event_stream import EventStream
from tests.support.portal import Person, dependencies_of
from tests.support.story import Story, offer
from tests.support.tenants import give_vhost
from tests.support.web import Headers, serving

EVENTS = "/portal/feed/events"


def portal_of(client: httpx.AsyncClient) -> PortalDependencies:
    found: PortalDependencies = dependencies_of(client, "portal")
    return found


@pytest.fixture
async def quick(client: httpx.AsyncClient) -> PortalDependencies:
    """The portal's dependencies, with streams that look for changes all the time, and share no read with what
    a test has requested before."""
    portal = portal_of(client)
    portal.delivery.seconds, portal.streams.seconds = 0, 0.01
    return portal


async def published_to(store: Store, slug: str) -> UUID:
    """Give the tenant a vhost, as far as the store knows."""
    tenant = await give_vhost(store, slug)
    async with store.transaction() as tx:
        await cursors.create_missing(tx)
    return tenant.id


async def test_the_page_says_that_there_is_no_vhost(sign_in: SignIn) -> None:
    person = await sign_in(Role.READER)
    page = await person.get("/portal/feed")
    assert page.status_code == 200 and "no vhost yet" in page.text


async def test_the_page_shows_lag_rate_losses_and_its_own_queues(
    sign_in: SignIn,
    store: Store,
    story: Story,
    broker: BrokerConfig,
    slug: str,
    quick: PortalDependencies,
) -> None:
    person = await sign_in(Role.READER, slug)
    url = await broker.provision(slug)
    tenant_id = await published_to(store, slug)
    kept, given_back = await story.match(), await story.match()
    async with store.transaction() as tx:
        await tenants.unbook(tx, tenant_id, given_back.id)
    for _ in range(3):
        await story.offer(kept, offer(1))
    await story.offer(given_back, offer(1))
    async with store.transaction() as tx:
        await tx.execute("UPDATE tenant_cursor SET dropped = 17, notice_pending = true, bound_queues = '[]'")
    async with open_connection(url, 5) as connection:
        channel = await connection.channel()
        queue = await channel.declare_queue(f"{slug}.own", exclusive=True)
        page = await person.get("/portal/feed")
    assert f"<code>{queue.name}</code>" in page.text and page.text.count("<code>") == 1
    assert "No process publishes to you" in page.text
    assert ">17<" in page.text and "None of your queues receives" in page.text
    assert "missed messages" in page.text
    assert "0.05/s" in page.text, "three envelopes in the last minute"
    assert 'class="number">4<' in page.text, "four are not published yet"


async def test_the_stream_shows_what_changes(
    sign_in: SignIn, store: Store, story: Story, quick: PortalDependencies
) -> None:
    person = await sign_in(Role.READER)
    await published_to(store, "acme")
    match = await story.match()
    async with EventStream(person.client, EVENTS) as stream:
        assert stream.status == 200
        assert "not published to you yet" in await stream.next()
        await story.offer(match, offer(1))
        while 'class="number">1<' not in await stream.next():
            pass


async def test_the_stream_ends_with_the_session(person: Person, quick: PortalDependencies) -> None:
    async with EventStream(person.client, EVENTS) as stream:
        assert (await stream.next()).startswith("data: ")
        assert (await person.post("/portal/sign-out")).status_code == 303
        await stream.until_ended()
        assert await stream.next() == ""


@pytest.mark.parametrize(
    "ending",
    [
        "UPDATE tenant SET active = false",
        "UPDATE portal_session SET last_seen_at = last_seen_at - 9 * 3600000",
    ],
)
async def test_the_stream_ends_with_the_tenant_and_with_a_session_that_is_not_used(
    person: Person, store: Store, quick: PortalDependencies, ending: str
) -> None:
    """An open stream is no use of the session: a browser that somebody left must be signed out in the end."""
    async with EventStream(person.client, EVENTS) as stream:
        await stream.next()
        async with store.transaction() as tx:
            await tx.execute(ending)
        await stream.until_ended()


async def test_a_client_without_a_session_is_told_to_connect_no_more(client: httpx.AsyncClient) -> None:
    """htmx would try again for ever after a redirect or an error."""
    response = await client.get(EVENTS)
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.text == "event: ended\ndata:\n\n"


async def test_a_session_has_a_few_streams_only_and_leaving_ends_one(
    sign_in: SignIn, quick: PortalDependencies
) -> None:
    person, other = await sign_in(), await sign_in(Role.READER)
    async with AsyncExitStack() as stack:
        streams = [
            await stack.enter_async_context(EventStream(person.client, EVENTS)) for _ in range(PER_SESSION)
        ]
        assert {(await each.next())[:5] for each in streams} == {"data:"}
        refused = await person.get(EVENTS)
        assert refused.status_code == 429 and "data" not in refused.text
        async with EventStream(other.client, EVENTS) as stream:
            assert stream.status == 200
        await streams[0].leave()
        async with EventStream(person.client, EVENTS) as stream:
            assert stream.status == 200


async def test_however_many_watch_there_is_one_read(
    person: Person, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant_id = await published_to(store, "acme")
    reader = portal_of(person.client).delivery
    reader._shared.clear()  # signing in leads to a page that has read it
    reads: list[UUID] = []
    read = reader._read

    async def counting(asked: UUID) -> Any:
        reads.append(asked)
        return await read(asked)

    monkeypatch.setattr(reader, "_read", counting)
    pages = await asyncio.gather(*(person.client.get("/portal/feed") for _ in range(5)))
    assert {each.status_code for each in pages} == {200}
    assert reads == [tenant_id]


async def test_the_application_stops_no_earlier_than_a_read_that_nobody_waits_for(
    basic: Headers, store: Store, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request to the broker that connects while its client is closed leaves a socket open."""
    tenant_id = await published_to(store, "acme")
    begun, ended = asyncio.Event(), asyncio.Event()

    async def slow(management: Management, vhost: str = "") -> list[QueueCounts]:
        begun.set()
        try:
            await asyncio.Event().wait()
            return []
        finally:
            assert not management._api._http.is_closed
            ended.set()

    monkeypatch.setattr(Management, "queues", slow)
    async with serving(settings) as client:
        watching = asyncio.create_task(portal_of(client).delivery.latest(tenant_id))
        await begun.wait()
        watching.cancel()
        await asyncio.wait([watching])
        assert not ended.is_set(), "others may wait for it"
    assert ended.is_set()


async def test_the_plots_show_the_last_hour_of_the_own_tenant(sign_in: SignIn, store: Store) -> None:
    """Minutes of all leases added up, none of another tenant's, and the recoveries of the hour."""
    person, other = await sign_in(Role.READER), await sign_in(Role.READER, "other")
    portal = portal_of(person.client)
    ours, theirs = await published_to(store, "acme"), await published_to(store, "other")
    now = portal.clock()
    until = now // MINUTE_MILLIS * MINUTE_MILLIS
    minute = until - 10 * MINUTE_MILLIS
    samples = [
        DeliveryMinute(ours, minute, 1, published=5, lag=400, dropped=2),
        DeliveryMinute(ours, minute, 2, published=7, lag=900, notices=1),
        DeliveryMinute(ours, until, 2, published=1),
        DeliveryMinute(ours, until - 61 * MINUTE_MILLIS, 1, published=1),
        DeliveryMinute(theirs, minute, 1, published=1_000),
    ]
    async with store.transaction() as tx:
        await delivery_minutes.save(tx, samples)
        request = RecoveryRequest(RecoveryKind.FACADE_FULL, "17", 0)
        job = await recovery_jobs.accept(tx, ours, request, now, by="test")
    assert isinstance(job, RecoveryJob)
    found = (await person.get("/portal/feed/history.json")).json()
    assert (found["since"], found["until"]) == (until - 60 * MINUTE_MILLIS, until)
    assert found["minutes"] == [[minute, 12, 900, 2, 1]]
    assert found["recoveries"] == [[now, None, "17", job.id, "scheduled", 0, 0]]
    others = (await other.get("/portal/feed/history.json")).json()
    assert (others["minutes"], others["recoveries"]) == ([[minute, 1_000, 0, 0, 0]], [])
    portal.delivery._shared.clear()
    for path in ("/portal", "/portal/feed"):
        page = (await person.get(path)).text
        assert '<td class="number">12</td><td class="number">0.9</td>' in page, "without scripts, too"
        assert f'href="/portal/recoveries/{job.id}"' in page and "loss notices: 1" in page
        assert "no process published to you" in page and ">1000<" not in page


async def test_the_overview_moves(sign_in: SignIn, store: Store, quick: PortalDependencies) -> None:
    person = await sign_in(Role.READER)
    tenant_id = await published_to(store, "acme")
    async with EventStream(person.client, "/portal/events") as stream:
        assert "No process publishes to you" in await stream.next()
        minute = quick.clock() // MINUTE_MILLIS * MINUTE_MILLIS - MINUTE_MILLIS
        async with store.transaction() as tx:
            await delivery_minutes.save(tx, [DeliveryMinute(tenant_id, minute, 1, dropped=4)])
        while '<dd class="bad">4</dd>' not in await stream.next():
            pass
