"""A page that moves says so when it does no more: its stream of events has ended, or is silent."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from app.domain.tenant import OperatorRole, Role
from app.main import create_app
from app.settings import Settings
from app.store.connections import Store
from tests.support import browser
from tests.support.portal import PASSWORD, add_operator, add_user
from tests.support.queues import private_vhost
from tests.support.tenants import give_vhost
from tests.support.visitor import Visitor, visiting
from tests.support.wire import listening

_SECONDS = 60.0
_LOST = "!document.getElementById('connection').hidden"
Stop = Callable[[], Awaitable[None]]


@asynccontextmanager
async def at(
    path: str, email: str, settings: Settings, *, seconds: float | None = None
) -> AsyncIterator[tuple[Visitor, Stop]]:
    """A visitor at a page that moves, and what stops the service, which looks for changes every so many
    `seconds`."""
    app = create_app(settings)
    async with AsyncExitStack() as service:
        port = await service.enter_async_context(listening(app, settings))
        if seconds is not None:
            app.dependencies["console"].dependency().live.seconds = seconds
            app.dependencies["portal"].dependency().delivery.seconds = seconds
        site = f"/{path.split('/')[1]}"
        async with visiting(f"http://127.0.0.1:{port}", site, email, PASSWORD) as visitor:
            await visitor.open(path)
            yield visitor, service.aclose
            visitor.page.errors.clear()  # of the browser, about the requests that failed


@pytest.fixture(params=["/console", "/portal/feed"])
async def page(request: pytest.FixtureRequest, store: Store, settings: Settings) -> tuple[str, str]:
    """The path of a page that moves, and the address of a user who may see it."""
    path: str = request.param
    if path == "/console":
        return path, await add_operator(store, settings, OperatorRole.ADMIN)
    email = await add_user(store, settings, "acme", Role.READER)
    await give_vhost(store, "acme")
    return path, email


async def test_it_says_that_the_service_is_gone(page: tuple[str, str], settings: Settings) -> None:
    browser.require()
    async with private_vhost(settings) as private, at(*page, private) as (visitor, stop):
        await visitor.page.until(f"!({_LOST})", _SECONDS)
        await stop()
        await visitor.page.until(_LOST, _SECONDS)


async def test_it_says_that_nothing_comes_any_more(
    page: tuple[str, str], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection may be cut off without an end: then neither side hears of it."""
    browser.require()
    for module in ("console.moving_pages", "portal.delivery"):
        monkeypatch.setattr(f"app.sites.{module}.SILENT_SECONDS", 1)
    async with private_vhost(settings) as private, at(*page, private, seconds=3_600) as (visitor, _):
        await visitor.page.until(_LOST, _SECONDS)


async def test_the_finder_says_that_matches_could_not_be_read(store: Store, settings: Settings) -> None:
    """It would look as if there were none. What the page has itself is found all the same."""
    browser.require()
    email = await add_operator(store, settings, OperatorRole.ADMIN)
    async with private_vhost(settings) as private, at("/console/audit", email, private) as (visitor, stop):
        await stop()
        await visitor.key("k", 75, control=True)
        listed = "document.getElementById('finder').innerText"
        await visitor.page.until(f"{listed}.includes('could not be read')", _SECONDS)
        assert "Settlements" in await visitor.page.value(listed)
