"""The portal in a real browser, over a real demo: what a tenant's people do, and how every page looks."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import aio_pika
import httpx
import pytest

from scripts.local_services import chromium
from scripts.services import Services
from tests.e2e.test_demo import Place
from tests.support import browser
from tests.support.visitor import Visitor

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
_RECOVERED_SECONDS = 120.0  #: a replay yields to live messages, and a busy machine delays those
#: The first link to the history of a market.
_PRICES = "document.querySelector(`main a[href*='/markets/']`).getAttribute('href')"
#: Pages of one thing: on which page the first link that matches leads to one.
DETAILS = (
    ("/portal/envelopes?message=odds_change", "main tbody a[href^='/portal/envelopes/']"),
    ("/portal/envelopes?message=bet_settlement", "main tbody a[href^='/portal/envelopes/']"),
    ("/portal/settlements?result=won", "main tbody a[href^='/portal/settlements/']"),
    ("/portal/recoveries", "main tbody a[href^='/portal/recoveries/']"),
    ("/portal/settlements?result=won", "main a[href*='/markets/']"),
    ("/portal/offer", "main tbody a[href$='/markets']"),
)
Task = Callable[[Visitor, dict[str, Any]], Awaitable[None]]


@pytest.fixture(scope="module")
def demo(services: Services, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What clients need to know of a demo that runs."""
    browser.require()
    place = Place(services, tmp_path_factory.mktemp("portal") / "var")
    try:
        yield place.start()
    finally:
        place.run("--stop")


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


@asynccontextmanager
async def signed_in(demo: dict[str, Any]) -> AsyncIterator[Visitor]:
    """The owner of tenant `acme`, at their first page."""
    owner = demo["tenants"][0]["users"][0]
    async with listening(demo), chromium.opened(f"{demo['portal_url']}/sign-in") as page:
        visitor = Visitor(page, demo["base_url"])
        await page.set_window(1440, 900)
        await visitor.sign_in(owner["email"], owner["password"])
        yield visitor
        assert page.errors == []


async def give_a_match_back(visitor: Visitor, demo: dict[str, Any]) -> None:
    await visitor.open("/portal/offer?list=upcoming")
    await visitor.page.value("document.querySelector('main [name=match]').click()")
    await visitor.press("Give the checked ones back")
    await visitor.open("/portal/offer?list=upcoming")
    assert "given back" in await visitor.text("main tbody tr")
    await visitor.page.value("document.querySelector('main [name=match]').click()")
    await visitor.press("Book the checked ones")


async def see_the_delivery_move(visitor: Visitor, demo: dict[str, Any]) -> None:
    """Nothing but the stream takes the mark away again."""
    await visitor.open("/portal/feed")
    assert "Connected" in await visitor.text("#delivery")
    await visitor.page.value("(() => { document.querySelector('#delivery td').textContent = 'mark'; })()")
    await visitor.page.until("!document.querySelector('#delivery').innerText.includes('mark')")
    assert "Connected" in await visitor.text("#delivery")


async def recover_from_an_envelope(visitor: Visitor, demo: dict[str, Any]) -> None:
    await visitor.open("/portal/envelopes?message=odds_change")
    seq = (await visitor.text("main tbody th")).strip()
    await visitor.open(f"/portal/envelopes/{seq}")
    assert "<odds_change " in await visitor.text("main pre")
    await visitor.press("Recover from here")
    path = await visitor.page.value("location.pathname")
    assert "/portal/recoveries/" in path, await visitor.text()
    deadline = asyncio.get_running_loop().time() + _RECOVERED_SECONDS
    while "completed" not in (seen := await visitor.text("#progress")):
        assert asyncio.get_running_loop().time() < deadline, seen
        await visitor.open(path)


async def see_a_recovery_move(visitor: Visitor, demo: dict[str, Any]) -> None:
    await visitor.open("/portal/recoveries")
    await visitor.fill("node_id", "5", "main form[action='/portal/recoveries']")
    await visitor.press("Recover")
    ended = "document.querySelector('#progress').innerText.includes('completed')"
    await visitor.page.until(ended, _RECOVERED_SECONDS)


async def invite(visitor: Visitor, demo: dict[str, Any]) -> None:
    await visitor.open("/portal/people")
    invitation = "main form[action='/portal/people']"
    await visitor.fill("name", "Rita <script>alert(1)</script>", invitation)
    await visitor.fill("email", f"rita-{secrets.token_hex(4)}@acme.example", invitation)
    await visitor.press("Invite")
    assert "/portal/link/" in await visitor.text(".secret")


async def change_a_role_and_end_access(visitor: Visitor, demo: dict[str, Any]) -> None:
    """Of somebody who was just invited."""
    await invite(visitor, demo)
    await visitor.open("/portal/people")
    rows = "[...document.querySelectorAll('main tbody tr')]"
    last = f"{rows}.filter((each) => each.innerText.includes('rita-')).at(-1)"
    for end, button in (("role", "Set"), ("end", "End access")):
        action = await visitor.page.value(
            f"{last}.querySelector(`form[action$='/{end}']`).getAttribute('action')"
        )
        form = f"main form[action='{action.removeprefix(demo['base_url'])}']"
        if end == "role":
            await visitor.fill("role", "trader", form)
        await visitor.press(button, form)
        assert await visitor.text(".done"), end
        await visitor.open("/portal/people")
    assert "ended" in await visitor.page.value(f"{last}.innerText")


async def check_the_book(visitor: Visitor, demo: dict[str, Any]) -> None:
    """An empty book lacks everything; each kind of difference is explained."""
    await visitor.open("/portal/selfcheck")
    await visitor.fill("digest", '{"complete": true, "matches": []}', "main form")
    await visitor.press("Check")
    assert "missing" in (await visitor.text("main section")).lower()


async def follow_a_settlement(visitor: Visitor, demo: dict[str, Any]) -> None:
    """From the list to what an entry rests on, and to the history of its market."""
    await visitor.open("/portal/settlements?result=won")
    links = "[...document.querySelectorAll('main tbody th a')].map((each) => each.getAttribute('href'))"
    entries = await visitor.page.value(links)
    prices = await visitor.page.value(_PRICES)
    for entry in entries:  # some rest on the end of a map alone
        await visitor.open(entry)
        if await visitor.page.value("document.querySelectorAll('.timeline li').length"):
            break
    else:
        raise AssertionError("no settlement names a kill or a round")
    await visitor.open(prices)
    assert "settled" in await visitor.text("main tbody")


async def see_the_plot(visitor: Visitor, demo: dict[str, Any]) -> None:
    await visitor.open("/portal/settlements?result=won")
    await visitor.open(await visitor.page.value(_PRICES))
    await visitor.page.until("!!document.querySelector('.plot canvas')")
    assert await visitor.violations() == []
    assert await visitor.size() < PAGE_BYTES


async def end_other_sessions(visitor: Visitor, demo: dict[str, Any]) -> None:
    await visitor.open("/portal/account")
    await visitor.press("End all others")
    assert "ended" in await visitor.text(".done")


async def make_a_key(visitor: Visitor) -> tuple[str, str]:
    """A key's label, and the key."""
    await visitor.open("/portal/keys")
    form, label = "main form[action='/portal/keys']", f"browser {secrets.token_hex(4)}"
    await visitor.fill("label", label, form)
    await visitor.page.value(f"document.querySelector(`{form} [name=bundle]`).click()")
    await visitor.press("Make a key")
    return label, await visitor.text(".secret")


async def rotate_a_key(visitor: Visitor, demo: dict[str, Any]) -> None:
    """The key that the page shows is valid, and the one that it replaces no more."""
    label, old = await make_a_key(visitor)
    await visitor.open("/portal/keys")
    form = await visitor.page.value(
        f"[...document.querySelectorAll('main tbody tr')].find((each) => each.innerText.includes('{label}'))"
        ".querySelector(`form[action$='/rotate']`).getAttribute('action')"
    )
    await visitor.press("Rotate this key now", f"main form[action='{form}']")
    new = await visitor.text(".secret")
    async with httpx.AsyncClient(base_url=demo["base_url"]) as client:
        for key, status in ((old, 403), (new, 200)):
            response = await client.get("/cs2/v1/matches", headers={"X-API-Key": key})
            assert response.status_code == status, response.text


async def check_the_credentials(visitor: Visitor, demo: dict[str, Any]) -> None:
    """What is pasted may be the whole URL; a wrong password is refused in the broker's own words."""
    for secret, outcome in ((demo["tenants"][0]["amqp_url"], "done"), ("wrong", "problem")):
        await visitor.open("/portal/amqp")
        await visitor.fill("password", secret)
        await visitor.press("Test now")
        assert await visitor.page.value(f"!!document.querySelector('#result .{outcome}')"), secret[:4]


async def switch_a_market_type(visitor: Visitor, demo: dict[str, Any]) -> None:
    await visitor.open("/portal/market-types")
    box = "document.querySelector('main [name=type][value=\"13\"]')"
    for button, state in (("Switch the checked ones off", "off"), ("Switch the checked ones on", "on")):
        await visitor.page.value(f"{box}.click()")
        await visitor.press(button)
        assert (await visitor.page.value(f"{box}.closest('tr').cells[3].innerText")).strip() == state


TASKS: tuple[Task, ...] = (
    give_a_match_back,
    rotate_a_key,
    check_the_credentials,
    recover_from_an_envelope,
    switch_a_market_type,
)
MOVING: tuple[Task, ...] = (see_the_delivery_move, see_a_recovery_move, see_the_plot)
WITHOUT_SCRIPTS: tuple[Task, ...] = (
    *TASKS,
    change_a_role_and_end_access,
    check_the_book,
    follow_a_settlement,
    end_other_sessions,
)


@pytest.mark.timeout(400)
def test_what_a_tenants_people_do(demo: dict[str, Any]) -> None:
    async def tasks() -> None:
        async with signed_in(demo) as visitor:
            for task in (*TASKS, *MOVING):
                await task(visitor, demo)

    asyncio.run(tasks())


@pytest.mark.long
@pytest.mark.timeout(200)
def test_a_keyboard_is_enough(demo: dict[str, Any]) -> None:
    owner = demo["tenants"][1]["users"][0]

    async def by_keyboard() -> None:
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
            await visitor.tab_to("header form[action='/portal/sign-out'] button")
            await visitor.enter()
            assert await page.value("location.pathname") == "/portal/sign-in"

    asyncio.run(by_keyboard())


@pytest.mark.long
@pytest.mark.timeout(400)
@pytest.mark.parametrize("width", [1440, 360])
def test_what_changes_something_works_without_scripts(demo: dict[str, Any], width: int) -> None:
    async def tasks() -> None:
        async with signed_in(demo) as visitor:
            await visitor.scripts(enabled=False)
            await visitor.page.set_window(width, 800)
            for task in WITHOUT_SCRIPTS:
                await task(visitor, demo)

    asyncio.run(tasks())


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("language", ["English", "Русский"])
def test_every_page_fits_is_small_and_accessible(demo: dict[str, Any], language: str) -> None:
    async def pages() -> None:
        async with signed_in(demo) as visitor:
            await see_a_recovery_move(visitor, demo)
            details = [await visitor.link(*where) for where in DETAILS]
            await visitor.press(language, "header")
            for path in (*PAGES, *details):
                for width, dark in ((1440, False), (1440, True), (360, False), (360, True)):
                    await visitor.page.set_window(width, 800, dark=dark)
                    await visitor.open(path)
                    where = f"{path} at {width}, dark: {dark}"
                    assert await visitor.too_wide(width, dark=dark) == [], where
                    assert await visitor.violations() == [], where
                    assert await visitor.size() < PAGE_BYTES, where

    asyncio.run(pages())
