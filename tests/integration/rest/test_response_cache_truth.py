"""A process that caches bodies returns what one without a cache returns, at every step of a match."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from app.commands.match_commands import Cancel
from app.domain import scopes
from app.settings import Settings
from app.store.connections import Store
from tests.integration.ingest.conftest import NOW, Server
from tests.integration.rest.test_response_cache import PATHS
from tests.support import logs
from tests.support.eventually import eventually
from tests.support.matches import create_match, execute
from tests.support.tenants import book
from tests.support.web import IssueKey, serving

KEYS: tuple[dict[str, Any], ...] = (
    {"bundles": ("cs2.operator",)},
    {"bundles": ("cs2.odds.basic",), "slug": "beta"},
    {"scopes": (scopes.LIST, scopes.MARKETS)},
    {"bundles": ("cs2.scoretock",)},
)
Clients = tuple[httpx.AsyncClient, httpx.AsyncClient]


@pytest.fixture
async def clients(settings: Settings) -> AsyncIterator[Clients]:
    """One that caches bodies, and one that does not."""
    forgetful = replace(settings, response_cache_bytes=0)
    async with serving(settings) as caching, serving(forgetful) as reading:
        yield caching, reading


async def compare(clients: Clients, match_id: str, keys: list[dict[str, str]]) -> None:
    caching, reading = clients
    for path in PATHS:
        address = path.format(id=match_id)
        for key in keys:
            for accept in ("application/json", "application/xml"):
                headers = key | {"Accept": accept}
                truth = await reading.get(address, headers=headers)

                async def fetch(address: str = address, headers: dict[str, str] = headers) -> bytes:
                    return (await caching.get(address, headers=headers)).content

                await eventually(fetch, lambda body, truth=truth: body == truth.content)
                assert await fetch() == truth.content


async def test_step_by_step(clients: Clients, store: Store, issue: IssueKey) -> None:
    keys = [{"X-API-Key": await issue(**properties)} for properties in KEYS]
    match = await create_match(store, NOW, best_of=3, scheduled_at=NOW)
    server = Server(store, match)
    await compare(clients, str(match.id), keys)
    steps = [
        logs.kick_off(),
        logs.live(),
        (logs.kill(logs.CT[0], logs.T[0]),),
        logs.ct_win(1, 0),
        logs.freeze(1, 0),
        (*logs.live(), logs.kill(logs.T[1], logs.CT[2])),
    ]
    for lines in steps:
        await server.send(*lines)
        await compare(clients, str(match.id), keys)
    await book(store, match, False, "beta", now=1)
    await compare(clients, str(match.id), keys)
    await execute(store, match, Cancel(request_id="cancel"), server.now)
    await compare(clients, str(match.id), keys)
