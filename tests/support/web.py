"""The web application in this process, and keys to call it with."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx

from app.access import admin
from app.access.api_keys import KeyProperties
from app.kit.clock import Clock, system_clock
from app.settings import Settings
from app.store.connections import Store
from tests.support.applications import application

Headers = dict[str, str]
IssueKey = Callable[..., Awaitable[str]]


@asynccontextmanager
async def serving(
    settings: Settings, clock: Clock = system_clock, *, address: str = "127.0.0.1"
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the application, which is started before and stopped after; its requests come from
    `address`."""
    with application(settings, clock) as app:
        called: Any = app
        transport = httpx.ASGITransport(called, raise_app_exceptions=False, client=(address, 4711))
        async with (
            app.lifespan(),
            httpx.AsyncClient(transport=transport, base_url="http://matchfeed.test") as client,
        ):
            yield client


@asynccontextmanager
async def processes(settings: Settings, count: int) -> AsyncIterator[list[httpx.AsyncClient]]:
    """Clients of applications that share nothing but their servers, each with its own memory."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(serving(settings)) for _ in range(count)]


async def data(client: httpx.AsyncClient, path: str, headers: Headers) -> Any:
    """What a successful request returns below `data`."""
    answer = await client.get(path, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


async def answers(client: httpx.AsyncClient) -> bool:
    """Whether the client's web process is there; it needs a key for this."""
    try:
        return (await client.get("/v1/alive")).status_code == 401
    except httpx.TransportError:
        return False


def issuing(store: Store, secret: str) -> IssueKey:
    """A function that issues a key with the given properties to tenant `acme`, or to another `slug`, which
    receives `probabilities` from then on if they are wanted."""

    async def issue(slug: str = "acme", *, probabilities: bool = False, **properties: Any) -> str:
        by: dict[str, Any] = {"by": "tester", "now": 1}
        async with store.transaction() as tx:
            await admin.create_tenant(tx, slug, slug.title(), **by)
            if probabilities:
                await admin.set_probabilities(tx, slug, True, **by)
            issued = await admin.issue_key(tx, slug, KeyProperties(**properties), secret=secret, **by)
        return issued.raw

    return issue
