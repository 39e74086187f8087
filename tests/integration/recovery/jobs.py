"""The recovery jobs of a tenant: requested, taken by a feed process, and ended."""

from uuid import UUID

from app.domain.recovery import RecoveryInFlight, RecoveryJob, RecoveryKind, RecoveryRequest, RecoveryState
from app.store import cursors, recovery_jobs
from app.store.connections import Store

HOLDER = "feed-1"
_MATCH = UUID(int=7)


def request(request_id: str = "7", node_id: str | None = None, after: int = 0) -> RecoveryRequest:
    return RecoveryRequest(RecoveryKind.REST_FULL, request_id, after, node_id)


def event(
    request_id: str = "", node_id: str | None = None, kind: RecoveryKind = RecoveryKind.EVENT_ODDS
) -> RecoveryRequest:
    return RecoveryRequest(kind, request_id, node_id=node_id, match_id=_MATCH)


class Jobs:
    """Each call in a transaction of its own."""

    def __init__(self, store: Store, tenant_id: UUID) -> None:
        self.store, self.tenant_id = store, tenant_id

    async def lease(self, holder: str = HOLDER) -> None:
        """Make `holder` the one who serves every tenant."""
        async with self.store.transaction() as tx:
            await cursors.create_missing(tx)
            await tx.execute("UPDATE tenant_cursor SET holder = NULL")
            await cursors.acquire(tx, holder, 10, 60_000)

    async def accept(self, what: RecoveryRequest, lifetime: int = 60_000) -> RecoveryJob | RecoveryInFlight:
        async with self.store.transaction() as tx:
            return await recovery_jobs.accept(tx, self.tenant_id, what, 1_000, lifetime, by="tester")

    async def accepted(self, what: RecoveryRequest, lifetime: int = 60_000) -> RecoveryJob:
        job = await self.accept(what, lifetime)
        assert isinstance(job, RecoveryJob)
        return job

    async def refused_for(self, what: RecoveryRequest) -> RecoveryInFlight:
        """The recovery for which this request is refused."""
        busy = await self.accept(what)
        assert isinstance(busy, RecoveryInFlight)
        return busy

    async def queue(self, what: RecoveryRequest) -> RecoveryJob | None:
        async with self.store.transaction() as tx:
            return await recovery_jobs.queue(tx, self.tenant_id, what, 1_000, by="tester")

    async def queued(self, what: RecoveryRequest) -> RecoveryJob:
        job = await self.queue(what)
        assert job
        return job

    async def take(self, *running: int, holder: str = HOLDER) -> RecoveryJob | None:
        """The next job for a holder that runs those."""
        async with self.store.transaction() as tx:
            return await recovery_jobs.claim(tx, holder, [self.tenant_id], running, 2_000)

    async def taken(self, *running: int, holder: str = HOLDER) -> RecoveryJob:
        job = await self.take(*running, holder=holder)
        assert job
        return job

    async def complete(self, job: RecoveryJob) -> bool:
        async with self.store.transaction() as tx:
            return await recovery_jobs.complete(tx, job, 3_000)

    async def fail(self, job: RecoveryJob, pause: int = 0, *, excused: bool = False) -> RecoveryState:
        async with self.store.transaction() as tx:
            return await recovery_jobs.fail(tx, job, "the reason", pause, 3_000, excused=excused)

    async def run_one_at_a_time(self) -> list[int]:
        """The ids of all jobs in the order in which they are run; fails if two run at a time."""
        ran = []
        while job := await self.take():
            assert await self.take(job.id) is None, "one at a time"
            ran.append(job.id)
            assert await self.complete(job)
        return ran
