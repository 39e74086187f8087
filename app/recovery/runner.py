"""Runs the recoveries of the tenants that this process tells, beside the relay.

A job is taken from the store and run step by step: read, publish, wait for the broker's confirms. The
jobs of one tenant take turns at every step, and so do the tenants at the database, so that a long replay
keeps neither another tenant nor the relay waiting. What goes wrong is written to the job, which is run
again from its beginning, as long as it has its slot where only the broker was away; a job whose process
died is taken up by whoever holds the tenant next. An end that no queue takes is published a few times more;
then the job has failed, and is not run again: its tenant has bound no key for it.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any
from uuid import UUID

from app.amqp.reconnect import Login
from app.domain.recovery import MAX_ATTEMPTS, RecoveryJob, RecoveryState
from app.kit import metrics
from app.kit.clock import Clock, system_clock
from app.kit.logging import get_logger
from app.kit.retry import retry_while_unavailable, wait_for_event
from app.recovery.letter import Letter
from app.recovery.plan import Replay, Step
from app.recovery.publisher import Away, Post, Undelivered, Unheard
from app.store import notifications, recovery_jobs
from app.store.connections import Store
from app.wire.envelopes import feed

_LOOK_SECONDS = 1.0
_JOBS = 64  #: recoveries that run at once in this process
_JOBS_A_TENANT = 4
_READERS = 2  #: steps that are read from the database at once
_END_PAUSES = (0.5, 1.0, 2.0)  #: seconds until an end that no queue took is published once more
_UNHEARD = "snapshot_complete was not taken by any queue: bind a key that brings it, and ask again"
_FIRST_PAUSE_MILLIS, _MOST_PAUSE_MILLIS = 500, 30_000
log = get_logger(__name__)


class Replayer:
    """Runs jobs for ever, with `run`. `reachable` answers the tenants whose vhost takes messages from us
    now, with their slugs; `held` whether a tenant is certainly still ours."""

    def __init__(
        self,
        store: Store,
        login: Login,
        holder: str,
        product: int,
        *,
        reachable: Callable[[], dict[UUID, str]],
        held: Callable[[UUID], bool],
        clock: Clock = system_clock,
    ) -> None:
        self._store, self._login, self._holder, self._product = store, login, holder, product
        self._reachable, self._held, self._clock = reachable, held, clock
        self._wake = asyncio.Event()
        self._running: dict[int, UUID] = {}
        self._slugs: dict[UUID, str] = {}
        self._turns: defaultdict[UUID, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._reading = asyncio.Semaphore(_READERS)

    async def run(self) -> None:
        """Take and run jobs until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._listen())
            while True:
                self._wake.clear()
                while job := await retry_while_unavailable("taking a recovery", self._take):
                    self._running[job.id] = job.tenant_id
                    group.create_task(self._serve(job, self._slugs[job.tenant_id]))
                await wait_for_event(self._wake, _LOOK_SECONDS)

    async def _listen(self) -> None:
        async for _ in notifications.listen(self._store, recovery_jobs.CHANNEL):
            self._wake.set()

    def _free(self) -> list[UUID]:
        """The tenants for which one more job may run."""
        if len(self._running) >= _JOBS:
            return []
        busy = Counter(self._running.values())
        return [tenant_id for tenant_id in self._slugs if busy[tenant_id] < _JOBS_A_TENANT]

    async def _take(self) -> RecoveryJob | None:
        self._slugs = self._reachable()
        tenants = self._free()
        if not tenants:
            return None
        async with self._store.transaction() as tx:
            return await recovery_jobs.claim(tx, self._holder, tenants, list(self._running), self._clock())

    async def _serve(self, job: RecoveryJob, slug: str) -> None:
        """One run of a job, to whatever end."""
        told = log.bind(
            tenant=slug, recovery=job.request.request_id, node=job.request.slot, attempt=job.attempts
        )
        try:
            if await retry_while_unavailable("looking at a recovery's slot", lambda: self._given_up(job)):
                raise Undelivered(job.error or "the process that ran it died, again and again")
            count = await self._replay(job, slug)
            done = await retry_while_unavailable("ending a recovery", lambda: self._complete(job))
            metrics.recoveries.labels(RecoveryState.COMPLETED.value).inc()
            told.info("recovery told", kind=job.request.kind.value, envelopes=count, ours=done)
        except Exception as error:  # whatever it is, one job must not stop the others
            await self._failed(told, job, error)
        finally:
            self._running.pop(job.id, None)
            self._wake.set()

    async def _replay(self, job: RecoveryJob, slug: str) -> int:
        """Tell everything again, and that it is complete; how many envelopes that took."""
        count = 0
        replay = Replay(self._store, job)
        async with Post(self._login, slug, job) as post:
            steps = await retry_while_unavailable("planning a recovery", replay.steps)
            await self._progress(job, len(steps) + 1, 0, count)
            for number, step in enumerate(steps, 1):
                async with self._turns[job.tenant_id]:
                    letters = await self._read(replay, step)
                    await self._publish(post, job, letters)
                count += len(letters)
                metrics.recovery_envelopes.inc(len(letters))
                await self._progress(job, len(steps) + 1, number, count)
            await self._end(post, job)
        return count

    async def _end(self, post: Post, job: RecoveryJob) -> None:
        """Publish that it is complete; raises `Unheard` when no queue takes it, again and again."""
        for pause in (0.0, *_END_PAUSES):
            await asyncio.sleep(pause)
            self._check_lease(job)
            now = self._clock()
            if await post.complete(feed.snapshot_complete(self._product, now, job.request.request_id), now):
                return
        raise Unheard(_UNHEARD)

    async def _read(self, replay: Replay, step: Step) -> list[Letter]:
        async with self._reading:
            return await retry_while_unavailable(
                "reading for a recovery", lambda: replay.letters(step, self._clock())
            )

    async def _publish(self, post: Post, job: RecoveryJob, letters: list[Letter]) -> None:
        for start in range(0, len(letters), post.WINDOW):
            self._check_lease(job)
            page = letters[start : start + post.WINDOW]
            await post.send([(each, each.body(self._product, job.request.request_id)) for each in page])

    async def _progress(self, job: RecoveryJob, steps: int, done: int, envelopes: int) -> None:
        async def keep() -> bool:
            async with self._store.reading() as tx:  # one statement is whole by itself
                return await recovery_jobs.progress(tx, job, steps, done, envelopes)

        if not await retry_while_unavailable("keeping a recovery's progress", keep):
            raise Undelivered("another process runs this recovery")

    async def _complete(self, job: RecoveryJob) -> bool:
        async with self._store.transaction() as tx:
            return await recovery_jobs.complete(tx, job, self._clock())

    async def _given_up(self, job: RecoveryJob) -> bool:
        """Whether the job has had its attempts, without an end, and its time."""
        if job.attempts <= MAX_ATTEMPTS:
            return False
        async with self._store.reading() as tx:
            return not await recovery_jobs.holds_slot(tx, job)

    async def _failed(self, told: Any, job: RecoveryJob, error: Exception) -> None:
        """Keep and say why a run ended; of what is a mistake of ours, the log alone says what it was."""
        ours = not isinstance(error, Undelivered)
        why = "this run of the recovery failed within the service" if ours else str(error)
        excused, final = isinstance(error, Away), isinstance(error, Unheard)

        async def keep() -> RecoveryState:
            async with self._store.transaction() as tx:
                pause, now = self._pause(job), self._clock()
                return await recovery_jobs.fail(tx, job, why, pause, now, excused=excused, final=final)

        state = await retry_while_unavailable("keeping a recovery's failure", keep)
        metrics.recoveries.labels(state.value).inc()
        say = told.error if ours or state is RecoveryState.FAILED else told.warning
        cause = {"exc_info": error} if ours else {"cause": repr(error.__cause__)}
        say("recovery failed", state=state.value, error=why, **cause)

    def _pause(self, job: RecoveryJob) -> int:
        return int(min(_MOST_PAUSE_MILLIS, _FIRST_PAUSE_MILLIS * 2 ** min(job.attempts, 10)))

    def _check_lease(self, job: RecoveryJob) -> None:
        if not self._held(job.tenant_id):
            raise Away("the tenant is not ours any more")
