"""Taking from tenants what they have at the broker and may not have, and telling operators."""

import asyncio
from collections.abc import Callable, Collection

from app.broker import violations
from app.broker.inventory import Inventory
from app.broker.management import Management
from app.broker.permissions import tenant_user
from app.broker.violations import TenantLimits, Violation
from app.kit.clock import Clock, system_clock
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.kit.metrics import feed_offences
from app.store import alerts
from app.store.alerts import AlertKind, AlertSubject
from app.store.connections import Store

_LOOK_SECONDS = 5.0
_CALM_MILLIS = 600_000  #: an alert ends so long after the last offence
log = get_logger(__name__)


class Enforcement:
    """Looks after the tenants that `tenants` names at each look: those of this process."""

    def __init__(
        self,
        store: Store,
        management: Management,
        exchange: str,
        tenants: Callable[[], Collection[str]],
        limits: TenantLimits,
        clock: Clock = system_clock,
    ) -> None:
        self._store, self._management, self._exchange = store, management, exchange
        self._tenants, self._limits, self._clock = tenants, limits, clock
        self._before = Inventory()
        self._since = clock()
        self._seen: dict[AlertSubject, int] = {}

    async def run(self) -> None:
        """Look every few seconds, until cancelled."""
        while True:
            try:
                await self.look()
            except Unavailable as error:
                log.warning("what tenants have at the broker cannot be looked at", error=error.detail)
            await asyncio.sleep(_LOOK_SECONDS)

    async def look(self) -> list[Violation]:
        """Look once, and end what is found; the offences. Raises `Unavailable`."""
        tenants = self._tenants()
        now, before = await self._management.inventory(), self._before
        self._before = now
        found = violations.find_violations(now, before, tenants, self._exchange, self._limits)
        for offence in found:
            log.error("a tenant has what it may not have", tenant=offence.tenant, detail=offence.detail)
            feed_offences.labels(offence.tenant, offence.rule).inc()
            await self._end(offence)
        await self._alert(found, tenants)
        return found

    async def _end(self, offence: Violation) -> None:
        """Connections go first: an exclusive queue can be deleted by its own connection only, and goes with
        it."""
        await self._management.ensure_disconnected(
            tenant_user(offence.tenant), f"not allowed: {offence.detail}"
        )
        if offence.queue:
            await self._management.delete_queue(offence.tenant, offence.queue)
        if offence.exchange:
            await self._management.delete_exchange(offence.tenant, offence.exchange)

    async def _alert(self, found: list[Violation], tenants: Collection[str]) -> None:
        """Open an alert for each rule that a tenant breaks, and end it when it has not for some time."""
        now = self._clock()
        async with self._store.transaction() as tx:
            for offence in found:
                about = AlertSubject(AlertKind.TENANT_RIGHTS, tenant=offence.tenant, subject=offence.rule)
                self._seen[about] = now
                await alerts.begin(tx, about, offence.detail, now)
            for alert in await alerts.listing(tx, kinds=[AlertKind.TENANT_RIGHTS], ended=False):
                last = self._seen.get(alert.about, self._since)
                if alert.tenant in tenants and now - last > _CALM_MILLIS:
                    await alerts.end(tx, alert.about, now)
