"""A wrong result, from the form of the portal to the book of the tenant's client: a trader claims it, an
operator upholds it, a second one consents, and the correction comes over AMQP and over HTTP."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from matchfeed_client import Changes, Rest
from msgspec.structs import replace

from app.domain.ids import match_urn
from app.domain.tenant import OperatorRole, Role
from app.kit.clock import system_clock
from app.settings import Settings
from app.store.connections import Store
from scripts.lab.person import add_user
from tests.faults.keys import issue
from tests.faults.rig import Consumer, Rig, consuming
from tests.integration.channels.feed.bettor import Key, Ledger
from tests.support import browser
from tests.support.eventually import eventually
from tests.support.meanwhile import meanwhile
from tests.support.portal import PASSWORD, add_operator, cheap_passwords
from tests.support.queues import private_vhost
from tests.support.story import Story, offer
from tests.support.trading import give
from tests.support.visitor import Visitor, visiting
from tests.support.wire import serving_http

__all__ = ["cheap_passwords"]  # a fixture that the test here uses
MARKET = offer(1)
STEPS = ["claim.opened", "claim.taken", "claim.upheld", "claim.corrected"]


@pytest.fixture
async def private(settings: Settings) -> AsyncIterator[Settings]:
    """Results older than a second need consent."""
    async with private_vhost(replace(settings, consent_seconds=1, stream_poll_all_millis=100)) as private:
        yield private


def outcome(consumer: Consumer, market: Key) -> str:
    """How the market ended in the book of a client that has applied everything that came."""
    book = Ledger()
    for got in consumer.got:
        if got.seq is not None:
            book.apply(ET.fromstring(got.body), got.seq, got.prev or 0)
    return book.ended.get(market, (0, ""))[1]


@asynccontextmanager
async def people(
    store: Store, settings: Settings, slug: str, port: int
) -> AsyncIterator[tuple[Visitor, Visitor, Visitor]]:
    """A trader of the tenant, and two operators who settle, each in a browser of their own."""
    trader = await add_user(store, settings, slug, Role.TRADER)
    sites = [("/portal", trader)]
    sites += [("/console", await add_operator(store, settings, OperatorRole.SETTLER)) for _ in range(2)]
    async with AsyncExitStack() as stack:
        first, second, third = [
            await stack.enter_async_context(visiting(f"http://127.0.0.1:{port}", site, email, PASSWORD))
            for site, email in sites
        ]
        yield first, second, third


async def fits(visitor: Visitor) -> None:
    """Check that the page can be read, and needs no scrolling sideways."""
    assert await visitor.violations() == []
    assert await visitor.too_wide() == []


async def claim_it(trader: Visitor, match: str) -> str:
    """Find the settlement, claim that it is wrong, and see what was claimed; the claim's page."""
    entry = await trader.link(f"/portal/settlements?match={match}", "main tbody th a")
    form = await trader.link(entry, "main a[href^='/portal/claims/new']")
    await trader.open(form)
    await fits(trader)
    await trader.fill("expected", "lost")
    await trader.fill("reason", "away won the round by defusal")
    await trader.fill("evidence", "VOD at 00:14:32")
    await trader.press("Claim")
    assert "The claim is made." in await trader.text()
    assert "VOD at 00:14:32" in await trader.text("#claim")
    await fits(trader)
    own: str = await trader.page.value("location.pathname")
    await trader.open("/portal/claims")
    assert "open" in await trader.text("main tbody")
    await fits(trader)
    return own


async def uphold_it(operator: Visitor, slug: str) -> str:
    """Open the claim from the list, take it, and send the command that corrects the result; the page of the
    consent that it waits for."""
    page = await operator.link("/console/claims", "main tbody th a")
    await fits(operator)
    await operator.open(page)
    assert f"{slug} says" in await operator.text() and "away won the round" in await operator.text("#claim")
    await fits(operator)
    await operator.press("Take")
    assert "You have the claim." in await operator.text()
    await operator.page.value("(() => { document.querySelector('details.command').open = true; })()")
    await fits(operator)
    shown = await give(
        operator, "uphold_claim", "Ask for consent", reason="defused in time", answer="You are right."
    )
    assert "rollback_bet_settlement" in shown and "bet_settlement" in shown
    consent: str = await operator.page.value("location.pathname")
    await operator.open(page)
    assert "upheld" in await operator.text("#claim")
    return consent


async def follow(changes: Changes, frames: list[dict[str, Any]]) -> None:
    async for frame in changes:
        frames.append(frame)


@pytest.mark.timeout(300)
async def test_from_the_form_of_the_portal_to_the_book_of_a_client(
    rig: Rig, store: Store, private: Settings
) -> None:
    browser.require()
    tenant, url = await rig.tenant()
    rival, rivals_url = await rig.tenant()
    await rig.feed()
    keys = [await issue(rig, each.slug) for each in (tenant, rival)]
    story = Story(store)
    async with (
        consuming(url, rig.settings.exchange) as consumer,
        consuming(rivals_url, rig.settings.exchange) as other,
        serving_http(private) as port,
        Rest(f"http://127.0.0.1:{port}", keys[0].raw) as own_rest,
        Rest(f"http://127.0.0.1:{port}", keys[1].raw) as rivals_rest,
    ):
        own, rivals = Changes(own_rest, wait_seconds=2), Changes(rivals_rest, wait_seconds=2)
        frames: list[dict[str, Any]] = []
        rivals_frames: list[dict[str, Any]] = []
        async with meanwhile(follow(own, frames), follow(rivals, rivals_frames)) as tasks:
            await eventually(lambda: not own.book.stale and not rivals.book.stale)
            match, _ = await story.settled()
            settled_at = system_clock()
            urn = match_urn(match.number)
            market = (urn, str(MARKET.type_id), MARKET.specifiers)
            await eventually(lambda: outcome(consumer, market) == "won")
            async with people(store, private, tenant.slug, port) as (trader, settler, second):
                page = await claim_it(trader, urn)
                await eventually(lambda: system_clock() - settled_at > 1000)
                consent = await uphold_it(settler, tenant.slug)
                await trader.open(page)
                assert "the correction waits for a second operator" in await trader.text("#claim")
                assert outcome(consumer, market) == "won", "nothing is corrected by one operator"
                await second.open(consent)
                await fits(second)
                await second.submit(f"form[action='{consent}/consent']")
                await eventually(lambda: {outcome(each, market) for each in (consumer, other)} == {"lost"})
                await trader.open(page)
                assert "You are right." in await trader.text("#claim")
                assert "corrected" in await trader.text("#claim dd")
                await fits(trader)
            await eventually(lambda: any(frame["type"] == STEPS[-1] for frame in frames))
            assert not [task.exception() for task in tasks if task.done()]
    assert [frame["type"] for frame in frames if frame["type"].startswith("claim.")] == STEPS
    results = [frame["data"]["outcome"] for frame in frames if frame["type"] == "bet_settlement"]
    assert results == ["won", None, "lost"]
    assert not [frame for frame in rivals_frames if frame["type"].startswith("claim.")]
    tags = [ET.fromstring(got.body).tag for got in consumer.got]
    assert tags.count("rollback_bet_settlement") == 1 and tags.count("bet_settlement") == 2
