"""Removes what tenants have at the broker and may not have, and alerts operators."""

import asyncio
from collections.abc import Callable, Collection, Mapping

from app.broker import violations
from app.broker.management import Management
from app.broker.management_api import Inventory
from app.broker.permissions import tenant_user
from app.broker.violations import TenantLimits, Violation
from app.kit.clock import Clock, system_clock
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.kit.metrics import feed_violations
from app.store import alerts
from app.store.alerts import AlertKind, AlertSubject
from app.store.connections import Store

_CHECK_SECONDS = 5.0
_CALM_MILLIS = 600_000  #: an alert ends so long after the last violation
log = get_logger(__name__)


class Enforcement:
    """Checks the tenants that `tenants` returns at each check, by vhost: those of this process."""

    def __init__(
        self,
        store: Store,
        management: Management,
        exchange: str,
        tenants: Callable[[], Mapping[str, str]],
        limits: TenantLimits,
        clock: Clock = system_clock,
    ) -> None:
        self._store, self._management, self._exchange = store, management, exchange
        self._tenants, self._limits, self._clock = tenants, limits, clock
        self._before = Inventory()
        self._since = clock()
        self._seen: dict[AlertSubject, int] = {}

    async def run(self) -> None:
        """Check every few seconds, until cancelled."""
        while True:
            try:
                await self.check()
            except Unavailable as error:
                log.warning("checking what tenants have at the broker failed", error=error.detail)
            await asyncio.sleep(_CHECK_SECONDS)

    async def check(self) -> list[Violation]:
        """Check once, and remove what is found; the violations. What cannot be removed now is found again by
        the next check, and keeps nothing else from being removed. Raises `Unavailable`."""
        tenants = self._tenants()
        now, before = await self._management.inventory(), self._before
        self._before = now
        own_user = self._management.user
        found = violations.find_violations(now, before, tenants, self._exchange, own_user, self._limits)
        for violation in found:
            slug = tenants[violation.vhost]
            log.error("a tenant has what it may not have", tenant=slug, detail=violation.detail)
            feed_violations.labels(slug, violation.rule).inc()
            clients = violations.client_connections(now, violation.vhost, own_user)
            try:
                await self._remove(
                    violation, {tenant_user(violation.vhost), *(each.user for each in clients)}
                )
            except Unavailable as error:
                log.warning("what a tenant may not have was not removed", tenant=slug, error=error.detail)
        await self._alert(found, tenants)
        return found

    async def _remove(self, violation: Violation, users: Collection[str]) -> None:
        """Connections go first: an exclusive queue can be deleted by its own connection only, and goes with
        it."""
        for user in users:
            await self._management.ensure_disconnected(user, f"not allowed: {violation.detail}")
        if violation.queue:
            await self._management.delete_queue(violation.vhost, violation.queue)
        if violation.exchange:
            await self._management.delete_exchange(violation.vhost, violation.exchange)

    async def _alert(self, found: list[Violation], tenants: Mapping[str, str]) -> None:
        """Begin an alert for each rule that a tenant breaks, and end it when it has not for some time."""
        now = self._clock()
        async with self._store.transaction() as tx:
            for violation in found:
                slug = tenants[violation.vhost]
                about = AlertSubject(AlertKind.TENANT_RIGHTS, tenant=slug, subject=violation.rule)
                self._seen[about] = now
                await alerts.begin(tx, about, violation.detail, now)
            for alert in await alerts.listing(tx, kinds=[AlertKind.TENANT_RIGHTS], ended=False):
                last = self._seen.get(alert.about, self._since)
                if alert.tenant in tenants.values() and now - last > _CALM_MILLIS:
                    await alerts.end(tx, alert.about, now)
