"""Portal and board in a real browser, over a real demo: what a tenant's people do, how every page looks, and
what the board shows."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import aio_pika
import pytest

from scripts.local_services import chromium
from tests.e2e import board
from tests.e2e.test_demo import Place
from tests.support.lengths import short_then_long
from tests.support.portal_tasks import (
    FIRST_DAY,
    MOVING,
    TASKS,
    WITHOUT_SCRIPTS,
    answers,
    see_a_recovery_move,
    see_the_plot,
)
from tests.support.visitor import Visitor, visiting

#: Pages without a subject.
PAGES = (
    "/portal",
    "/portal/offer",
    "/portal/offer?list=upcoming",
    "/portal/market-types",
    "/portal/keys",
    "/portal/keys?list=ended",
    "/portal/amqp",
    "/portal/docs",
    "/portal/settlements",
    "/portal/settlements?result=void",
    "/portal/selfcheck",
    "/portal/feed",
    "/portal/envelopes",
    "/portal/recoveries",
    "/portal/people",
    "/portal/people?list=ended",
    "/portal/account",
)
PAGE_BYTES = 100_000
#: Pages of one thing: on which page the first link that matches leads to one.
DETAILS = (
    ("/portal/envelopes?message=odds_change", "main tbody a[href^='/portal/envelopes/']"),
    ("/portal/envelopes?message=bet_settlement", "main tbody a[href^='/portal/envelopes/']"),
    ("/portal/settlements?result=won", "main tbody a[href^='/portal/settlements/']"),
    ("/portal/recoveries", "main tbody a[href^='/portal/recoveries/']"),
    ("/portal/settlements?result=won", "main a[href*='/markets/']"),
    ("/portal/offer", "main tbody a[href$='/markets']"),
)
#: Windows: their width, and whether the browser prefers dark pages.
WINDOWS = ((1440, False), (1440, True), (360, False), (360, True))


@asynccontextmanager
async def listening(demo: dict[str, Any]) -> AsyncIterator[None]:
    """A client of the tenant receives everything meanwhile; without a queue a recovery fails, and says so."""
    async with await aio_pika.connect(demo["tenants"][0]["amqp_url"]) as connection:
        queue = await (await connection.channel()).declare_queue(exclusive=True)
        await queue.bind(demo["exchange"], "#")
        await queue.consume(_receive, no_ack=True)
        yield


async def _receive(_: aio_pika.abc.AbstractIncomingMessage) -> None:
    """Messages are taken off the queue, and nothing else."""


def signed_in(demo: dict[str, Any], slug: str = "acme") -> AbstractAsyncContextManager[Visitor]:
    """The owner of the tenant, at their first page."""
    owner = next(each for each in demo["tenants"] if each["slug"] == slug)["users"][0]
    return visiting(demo["base_url"], "/portal", owner["email"], owner["password"])


@pytest.mark.timeout(400)
async def test_what_a_tenants_people_do(demo: dict[str, Any]) -> None:
    async with listening(demo), signed_in(demo) as visitor:
        for task in (*TASKS, *MOVING):
            await task(visitor, demo)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "faults", short_then_long([{"drop": "recovery"}, board.FAULTS], ids=["one fault", "both"])
)
async def test_the_board(demo_place: Place, demo: dict[str, Any], faults: dict[str, str]) -> None:
    await board.look(demo_place, demo, faults)


@pytest.mark.long
@pytest.mark.timeout(200)
async def test_a_keyboard_is_enough(demo: dict[str, Any]) -> None:
    owner = demo["tenants"][1]["users"][0]
    async with chromium.opened(f"{demo['portal_url']}/sign-in") as page:
        visitor = Visitor(page, demo["base_url"])
        await page.until("document.readyState === 'complete'")
        await visitor.tab_to("[name=email]")
        await visitor.type(owner["email"])
        await visitor.tab_to("[name=password]")
        await visitor.type(owner["password"])
        await visitor.enter()
        assert await page.value("location.pathname") == "/portal"
        await visitor.tab_to("nav a[href='/portal/offer']")
        await visitor.enter()
        assert await page.value("location.pathname") == "/portal/offer"
        await visitor.tab_to("header .menu summary")
        await visitor.key("Enter", 13, "\r")
        await visitor.tab_to("header form[action='/portal/sign-out'] button")
        await visitor.enter()
        assert await page.value("location.pathname") == "/portal/sign-in"


@pytest.mark.long
@pytest.mark.timeout(400)
@pytest.mark.parametrize("width", [1440, 360])
async def test_what_changes_something_works_without_scripts(demo: dict[str, Any], width: int) -> None:
    async with listening(demo), signed_in(demo) as visitor:
        await visitor.scripts(enabled=False)
        await visitor.page.set_window(width, 800)
        for task in WITHOUT_SCRIPTS:
            await task(visitor, demo)


@pytest.mark.long
@pytest.mark.timeout(200)
@pytest.mark.parametrize("width", [1440, 360])
async def test_a_first_day_works_without_scripts(demo: dict[str, Any], width: int) -> None:
    async with signed_in(demo, "newco") as visitor:
        await visitor.scripts(enabled=False)
        await visitor.page.set_window(width, 800)
        for task in FIRST_DAY:
            await task(visitor, demo)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("language", ["English", "Русский"])
async def test_every_page_fits_is_small_and_accessible(demo: dict[str, Any], language: str) -> None:
    async with listening(demo), signed_in(demo) as visitor:
        await see_a_recovery_move(visitor, demo)
        details = [await visitor.link(*where) for where in DETAILS]
        await visitor.press(language, "header")
        for path in (*PAGES, *details):
            for width, dark in WINDOWS:
                await visitor.page.set_window(width, 800, dark=dark)
                await visitor.open(path)
                await check(visitor, f"{path} at {width}, dark: {dark}")
        await see_the_plot(visitor, demo)
        await check(visitor, "plot")


@pytest.mark.long
@pytest.mark.timeout(400)
@pytest.mark.parametrize("language", ["English", "Русский"])
async def test_pages_that_answer_a_form_fit_are_small_and_accessible(
    demo: dict[str, Any], language: str
) -> None:
    async with signed_in(demo, "beta") as visitor:  # a tenant may test six logins a minute
        await visitor.press(language, "header")
        async for name in answers(visitor):
            for width, dark in WINDOWS:
                await visitor.page.set_window(width, 800, dark=dark)
                await check(visitor, f"{name} at {width}, dark: {dark}")
        refused = visitor.page.errors  # the browser logs the refused form and the unknown page
        assert [each.partition("status of ")[2][:3] for each in refused] == ["422", "404"], refused
        refused.clear()


async def check(visitor: Visitor, where: str) -> None:
    assert await visitor.too_wide() == [], where
    assert await visitor.violations() == [], where
    assert await visitor.size() < PAGE_BYTES, where
