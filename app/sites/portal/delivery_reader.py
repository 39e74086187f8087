"""How delivery to a tenant stands, read once for all who watch it."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from uuid import UUID

from app.amqp.delivery_status import TenantDelivery

SECONDS = 2.0  #: how often pages that move by themselves show something new

Read = Callable[[UUID], Awaitable[TenantDelivery | None]]


class DeliveryReader:
    """Calls `read` for a tenant at most once in `seconds`, however many browsers ask at a time; the others
    share its result, a failure too."""

    def __init__(
        self, read: Read, seconds: float = SECONDS, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._read, self._monotonic = read, monotonic
        self._shared: dict[UUID, tuple[float, asyncio.Future[TenantDelivery | None]]] = {}
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
            self._shared[tenant_id] = now, asyncio.ensure_future(self._read(tenant_id))
        # One who leaves must not cancel the read that others wait for.
        return await asyncio.shield(self._shared[tenant_id][1])
