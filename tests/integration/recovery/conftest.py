"""A tenant, the service that accepts its recoveries, and what they replay."""

from uuid import uuid4

import pytest

from app.amqp.envelope import MatchMessage
from app.domain.match import Match
from app.domain.recovery import RecoveryJob, RecoveryKind, RecoveryRequest, RecoveryState
from app.domain.tenant import Tenant
from app.recovery.plan import RecoveryPlan
from app.recovery.request import RecoveryService
from app.store import tenants
from app.store.connections import Store
from tests.integration.recovery.jobs import Jobs
from tests.support.recoveries import service


class Replay:
    """What recoveries of a tenant replay, in order."""

    def __init__(self, store: Store, tenant: Tenant) -> None:
        self._store, self._tenant = store, tenant

    def plan(
        self, kind: RecoveryKind = RecoveryKind.REST_FULL, after: int = 0, match: Match | None = None
    ) -> RecoveryPlan:
        request = RecoveryRequest(kind, "7", after, None, match.id if match else None)
        job = RecoveryJob(1, self._tenant.id, request, 1, RecoveryState.RUNNING, 0)
        return RecoveryPlan(self._store, job)

    async def __call__(
        self,
        kind: RecoveryKind = RecoveryKind.REST_FULL,
        after: int = 0,
        match: Match | None = None,
        *,
        now: int = 0,
    ) -> list[MatchMessage]:
        plan = self.plan(kind, after, match)
        return [message for step in await plan.steps() for message in await plan.messages(step, now)]


@pytest.fixture
def recoveries(store: Store) -> RecoveryService:
    return service(store)


@pytest.fixture
def replay(store: Store, tenant: Tenant) -> Replay:
    return Replay(store, tenant)


@pytest.fixture
async def jobs(store: Store, tenant: Tenant) -> Jobs:
    """The tenant's jobs, with a holder that may take them."""
    jobs = Jobs(store, tenant.id)
    await jobs.lease()
    return jobs


@pytest.fixture
async def tenant(store: Store) -> Tenant:
    """A tenant with a vhost (that is: the store says so)."""
    return await create_tenant(store, "acme")


async def create_tenant(store: Store, slug: str) -> Tenant:
    tenant = Tenant(uuid4(), slug, slug.title(), amqp=True)
    async with store.transaction() as tx:
        await tenants.insert(tx, tenant, 0)
    return tenant
