"""The portal in a real browser, over a real demo: what a tenant's people do, and how every page looks."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from scripts.local_services import chromium
from scripts.local_services.processes import ServiceError
from scripts.services import Services
from tests.e2e.test_demo import Place
from tests.support.visitor import Visitor

#: Pages without a subject; each leads to those that have one.
PAGES = (
    "/portal",
    "/portal/offer",
    "/portal/offer?list=upcoming",
    "/portal/keys",
    "/portal/keys?list=ended",
    "/portal/amqp",
    "/portal/docs",
    "/portal/settlements",
    "/portal/settlements?result=void",
    "/portal/selfcheck",
    "/portal/people",
    "/portal/account",
)
PAGE_BYTES = 100_000
Task = Callable[[Visitor, dict[str, Any]], Awaitable[None]]


@pytest.fixture(scope="module")
def demo(services: Services, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What clients need to know of a demo that runs."""
    try:
        chromium.ensure_installed(print)
    except ServiceError as why:
        pytest.skip(f"needs a browser: {why}")
    place = Place(services, tmp_path_factory.mktemp("portal") / "var")
    try:
        yield place.start()
    finally:
        place.run("--stop")


@asynccontextmanager
async def signed_in(demo: dict[str, Any]) -> AsyncIterator[Visitor]:
    """The owner of tenant `acme`, at their first page."""
    owner = demo["tenants"][0]["users"][0]
    async with chromium.opened(f"{demo['portal_url']}/sign-in") as page:
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


async def invite(visitor: Visitor, demo: dict[str, Any]) -> None:
    await visitor.open("/portal/people")
    invitation = "main form[action='/portal/people']"
    await visitor.fill("name", "Rita <script>alert(1)</script>", invitation)
    await visitor.fill("email", "rita@acme.example", invitation)
    await visitor.press("Invite")
    assert "/portal/link/" in await visitor.text(".secret")


async def make_a_key(visitor: Visitor, demo: dict[str, Any]) -> None:
    await visitor.open("/portal/keys")
    form = "main form[action='/portal/keys']"
    await visitor.fill("label", "From the browser", form)
    await visitor.page.value(f"document.querySelector(`{form} [name=bundle]`).click()")
    await visitor.press("Make a key")
    assert (await visitor.text(".secret")).startswith("mfk_")


TASKS: tuple[Task, ...] = (give_a_match_back,)
WITHOUT_SCRIPTS: tuple[Task, ...] = (give_a_match_back, invite, make_a_key)


@pytest.mark.timeout(400)
def test_what_a_tenants_people_do(demo: dict[str, Any]) -> None:
    async def tasks() -> None:
        async with signed_in(demo) as visitor:
            for task in TASKS:
                await task(visitor, demo)

    asyncio.run(tasks())


@pytest.mark.long
@pytest.mark.timeout(400)
@pytest.mark.parametrize("width", [1440, 360])
def test_what_changes_something_works_without_scripts(demo: dict[str, Any], width: int) -> None:
    async def tasks() -> None:
        async with signed_in(demo) as visitor:
            await visitor.scripts(enabled=False)
            await visitor.page.set_window(width, 800)
            for task in WITHOUT_SCRIPTS if width == 1440 else TASKS:
                await task(visitor, demo)

    asyncio.run(tasks())


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("language", ["English", "Русский"])
def test_every_page_fits_is_small_and_accessible(demo: dict[str, Any], language: str) -> None:
    async def pages() -> None:
        async with signed_in(demo) as visitor:
            await visitor.press(language, "header")
            for path in PAGES:
                for width, dark in ((1440, False), (1440, True), (360, False), (360, True)):
                    await visitor.page.set_window(width, 800, dark=dark)
                    await visitor.open(path)
                    where = f"{path} at {width}, dark: {dark}"
                    assert await visitor.fits(width, dark=dark), where
                    assert await visitor.violations() == [], where
                    assert await visitor.size() < PAGE_BYTES, where

    asyncio.run(pages())
