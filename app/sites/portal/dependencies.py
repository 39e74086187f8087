"""The dependencies of the portal's handlers; and the reader of the delivery's state, which reads once for all
who watch."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any
from uuid import UUID

import msgspec
from litestar.di import NamedDependency

from app.access.admin import BrokerConfig
from app.access.grants import Grants
from app.amqp.delivery_status import TenantDelivery
from app.amqp.envelope import EnvelopeRenderer
from app.claims.request import ClaimService
from app.kit.background import leave
from app.kit.clock import Clock
from app.recovery.request import RecoveryService
from app.replay.request import ReplayService
from app.sites.pages.event_streams import OpenStreams
from app.sites.pages.sessions import People
from app.store.connections import Store
from app.store.counters import Counters

SECONDS = 2.0  #: how often pages that move by themselves show something new

Read = Callable[[UUID], Coroutine[Any, Any, TenantDelivery | None]]


class DeliveryReader:
    """Calls `read` for a tenant at most once in `seconds`, however many browsers request it; the others share
    its result, also a failure."""

    def __init__(
        self, read: Read, seconds: float = SECONDS, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._read, self._monotonic = read, monotonic
        self._shared: dict[UUID, tuple[float, asyncio.Task[TenantDelivery | None]]] = {}
        self.seconds = seconds

    async def latest(self, tenant_id: UUID) -> TenantDelivery | None:
        """The delivery as it was at most `seconds` ago; None while nothing is published to the tenant. Raises
        what `read` raises."""
        now = self._monotonic()
        self._shared = {
            each: (at, shared)
            for each, (at, shared) in self._shared.items()
            if not shared.done() or now - at < self.seconds
        }
        if tenant_id not in self._shared:
            read = asyncio.create_task(self._read(tenant_id))
            leave(read)
            self._shared[tenant_id] = now, read
        # A client that leaves must not cancel the read that others wait for.
        return await asyncio.shield(self._shared[tenant_id][1])

    async def close(self) -> None:
        """End the reads that go on for clients that have left. A request that connects while the HTTP client
        is closed leaves its socket open."""
        reads = [read for _, read in self._shared.values() if not read.done()]
        for read in reads:
            read.cancel()
        if reads:
            await asyncio.wait(reads)


class PortalDependencies(msgspec.Struct, frozen=True, kw_only=True):
    """The dependencies of the handlers. `secret` keys the hashes of keys, links and session tokens;
    `public_url` is the address of the REST service and of the portal; `renderer` makes envelopes as they were
    published."""

    store: Store
    grants: Grants
    counters: Counters
    recoveries: RecoveryService
    replays: ReplayService
    claims: ClaimService
    clock: Clock
    secret: str
    broker: BrokerConfig
    public_url: str
    renderer: EnvelopeRenderer
    delivery: DeliveryReader
    streams: OpenStreams

    @property
    def people(self) -> People:
        """Who signs in to the portal."""
        return People(
            store=self.store,
            counters=self.counters,
            clock=self.clock,
            secret=self.secret,
            secure=self.public_url.startswith("https://"),
        )


Portal = NamedDependency[PortalDependencies]  #: as handlers have them
