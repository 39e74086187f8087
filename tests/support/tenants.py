"""What happens to a tenant in a test, each in a transaction of its own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aio_pika.abc import AbstractChannel
from aio_pika.exceptions import AMQPError
from msgspec.structs import replace

from app.access import profiles
from app.access.feed_selection import set_booked, set_market_types
from app.access.profiles import ProfileDraft
from app.broker.connection import open_connection
from app.domain.match import Match
from app.domain.tenant import Tenant
from app.domain.trading_controls import MarginControl
from app.kit.clock import system_clock
from app.store import tenants
from app.store.connections import Store

ROUND_WINNER = 13  #: the type of `tests.support.story.offer`


async def switch(store: Store, on: bool, *types: int, slug: str = "acme", now: int | None = None) -> None:
    """Switch these types, or the winner of a round, for the tenant."""
    async with store.transaction() as tx:
        at = system_clock() if now is None else now
        await set_market_types(tx, slug, types or (ROUND_WINNER,), on, by="test", now=at)


async def give_profile(
    store: Store,
    margin: float | None,
    *,
    slug: str = "acme",
    name: str = "own",
    now: int | None = None,
    **fields: Any,
) -> None:
    """Publish a version of a profile with this margin and give it to the tenant; None: standard odds."""
    at = system_clock() if now is None else now
    if margin is not None:
        draft = ProfileDraft((MarginControl(margin), *fields.pop("margins", ())), **fields)
        async with store.transaction() as tx:
            await profiles.publish(tx, name, draft, by="test", now=at)
    async with store.transaction() as tx:
        wanted = None if margin is None else name
        await profiles.assign(tx, slug, wanted, by="test", now=at)


async def book(
    store: Store, match: Match, booked: bool, slug: str = "acme", *, now: int | None = None
) -> bool:
    """Book the match for the tenant, or give it back; whether that changed anything."""
    async with store.transaction() as tx:
        at = system_clock() if now is None else now
        return await set_booked(tx, slug, str(match.id), booked, by="test", now=at)


async def give_vhost(store: Store, slug: str = "acme") -> Tenant:
    """A vhost for the tenant, as far as the store knows."""
    async with store.transaction() as tx:
        tenant = replace(await tenants.by_slug(tx, slug), amqp=True)
        await tenants.save(tx, tenant)
    return tenant


@asynccontextmanager
async def channel(url: str) -> AsyncIterator[AbstractChannel]:
    """A channel of a connection of its own to the broker."""
    async with open_connection(url, 5) as connection:
        yield await connection.channel()


async def gets_in(url: str) -> bool:
    """Whether the broker lets a client in with this URL."""
    try:
        async with open_connection(url, 5):
            return True
    except (AMQPError, OSError):
        return False
