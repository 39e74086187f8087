"""The portal in this process, and people who have signed in to it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import httpx
import pytest

from app.domain.tenant import Role
from app.settings import Settings
from app.store.connections import Store
from tests.support.portal import Person, add_user, cheap_passwords, some_address
from tests.support.web import serving

SignIn = Callable[..., Awaitable[Person]]
__all__ = ["cheap_passwords"]  # a fixture that every test here uses


@pytest.fixture
async def client(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """A client without a session."""
    async with serving(settings, address=some_address()) as client:
        yield client


@pytest.fixture
async def sign_in(store: Store, settings: Settings, client: httpx.AsyncClient) -> AsyncIterator[SignIn]:
    """A function that creates a user of tenant `acme`, or of another `slug`, and signs them in."""
    async with AsyncExitStack() as stack:

        async def sign_in(role: Role = Role.OWNER, slug: str = "acme") -> Person:
            email = await add_user(store, settings, slug, role)
            own = httpx.AsyncClient(transport=client._transport, base_url=client.base_url)
            person = Person(await stack.enter_async_context(own), email)
            assert (await person.sign_in()).status_code == 303
            return person

        yield sign_in


@pytest.fixture
async def person(sign_in: SignIn) -> Person:
    """The owner of tenant `acme`."""
    return await sign_in()
