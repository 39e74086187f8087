"""The console in this process, and operators who have signed in to it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import httpx
import pytest

from app.domain.tenant import OperatorRole
from app.settings import Settings
from app.sites.console.site import ConsoleDependencies
from app.store.connections import Store
from tests.support import browser
from tests.support.portal import (
    PASSWORD,
    Person,
    add_operator,
    cheap_passwords,
    dependencies_of,
    some_address,
)
from tests.support.queues import private_vhost
from tests.support.visitor import Visitor, visiting
from tests.support.web import serving
from tests.support.wire import serving_http

SignIn = Callable[..., Awaitable[Person]]
__all__ = ["cheap_passwords"]  # a fixture that every test here uses


def console_of(client: httpx.AsyncClient) -> ConsoleDependencies:
    found: ConsoleDependencies = dependencies_of(client, "console")
    return found


@asynccontextmanager
async def serving_console(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """A client without a session."""
    async with serving(settings, address=some_address()) as client:
        console_of(client).live.seconds = 0.0
        yield client


@pytest.fixture
async def client(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    async with serving_console(settings) as client:
        yield client


@pytest.fixture
async def sign_in(store: Store, settings: Settings, client: httpx.AsyncClient) -> AsyncIterator[SignIn]:
    """A function that creates an operator and signs them in."""
    async with AsyncExitStack() as stack:

        async def sign_in(role: OperatorRole = OperatorRole.ADMIN) -> Person:
            email = await add_operator(store, settings, role)
            own = httpx.AsyncClient(transport=client._transport, base_url=client.base_url)
            person = Person(await stack.enter_async_context(own), email, "/console")
            assert (await person.sign_in()).status_code == 303
            return person

        yield sign_in


@pytest.fixture
async def person(sign_in: SignIn) -> Person:
    return await sign_in(OperatorRole.VIEWER)


@asynccontextmanager
async def visiting_console(store: Store, settings: Settings, role: OperatorRole) -> AsyncIterator[Visitor]:
    """An operator of that role at the live page, in a real browser."""
    browser.require()
    email = await add_operator(store, settings, role)
    async with (
        private_vhost(settings) as private,
        serving_http(private) as port,
        visiting(f"http://127.0.0.1:{port}", "/console", email, PASSWORD) as visitor,
    ):
        yield visitor
