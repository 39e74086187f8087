"""A tenant, a recoveries that accepts its requests, and matches to tell about."""

from uuid import uuid4

import pytest

from app.domain.tenant import Tenant
from app.kit.clock import system_clock
from app.recovery.request import RecoveryService
from app.store import tenants
from app.store.connections import Store

WINDOW = 4320 * 60_000


@pytest.fixture
def recoveries(store: Store) -> RecoveryService:
    return RecoveryService(store, system_clock, WINDOW)


@pytest.fixture
async def tenant(store: Store) -> Tenant:
    """A tenant with a vhost (that is: the store says so)."""
    tenant = Tenant(uuid4(), "acme", "Acme", amqp=True)
    async with store.transaction() as tx:
        await tenants.insert(tx, tenant, 0)
    return tenant
