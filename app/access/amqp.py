"""Keeping the broker in step: a tenant that is revoked is let in no more, and one taken back is again.

Whoever changes a tenant changes its row only. The row says what was decided and what the broker was told
last; where the two differ, the processes that run `keep` (every feed and web process) tell the broker, woken
by the change's signal and trying again while the broker is away. Telling it twice does no harm. So a
revocation outlives any outage, and any process may end at any moment.
"""

import asyncio

from app.broker import door
from app.broker.management import Management
from app.domain.tenant import Tenant
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.kit.patience import wait
from app.store import signals, tenants
from app.store.connections import Store

_LOOK_SECONDS = 5.0
_RETRY_SECONDS = 0.5
log = get_logger(__name__)


async def keep(store: Store, management: Management) -> None:
    """Tell the broker whom to let in, whenever that changes, until cancelled."""
    changed = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_hear(store, changed))
        while True:
            changed.clear()
            settled = await _settle_all(store, management)
            await wait(changed, _LOOK_SECONDS if settled else _RETRY_SECONDS)


async def settle(store: Store, management: Management, tenant: Tenant) -> None:
    """Tell the broker about one tenant. Raises `Unavailable`."""
    if tenant.active:
        await door.reopen(management, tenant.slug)
    else:
        await door.shut(management, tenant.slug)
    async with store.transaction() as tx:
        await tenants.set_admitted(tx, tenant.id, tenant.active)
    log.info("the broker was told", tenant=tenant.slug, admitted=tenant.active)


async def _settle_all(store: Store, management: Management) -> bool:
    """Tell the broker all that it has not been told; whether that worked."""
    try:
        async with store.reading() as tx:
            pending = await tenants.unsettled(tx)
    except Unavailable as error:
        log.warning("admission to the broker cannot be looked up", error=error.detail)
        return False
    return all([await _settled(store, management, tenant) for tenant in pending])


async def _settled(store: Store, management: Management, tenant: Tenant) -> bool:
    try:
        await settle(store, management, tenant)
    except Unavailable as error:
        log.warning("the broker could not be told", tenant=tenant.slug, error=error.detail)
        return False
    return True


async def _hear(store: Store, changed: asyncio.Event) -> None:
    async for _ in signals.listen(store, signals.TENANTS):
        changed.set()
