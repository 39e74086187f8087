"""Runs the recoveries of the tenants that this process holds, beside the relay.

A job is dequeued and run step by step: read, publish, wait for the broker's confirms. The jobs of one tenant
alternate at every step, and so do the tenants at the database, so that a long replay delays neither another
tenant nor the relay. After each window of messages a recovery pauses for as long as the window took, which is
long where the processor or the broker is busy: live messages come first.

A failed run is recorded with its job, which is run again from its beginning: up to `MAX_ATTEMPTS` times, or
for as long as the job holds its slot where only the broker was unavailable. A job whose process died is run
by the next holder of the tenant. A `snapshot_complete` that no queue receives is published a few times more;
then the job fails and is not run again, because its tenant has no queue bound for it.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, ClassVar
from uuid import UUID

from app.amqp.connection import BrokerError
from app.amqp.envelope import EnvelopeRenderer, MatchMessage
from app.amqp.frames import AmqpMessage
from app.amqp.publishers import FeedPublishers
from app.amqp.tenant_channels import ConfirmedChannel, Unroutable
from app.domain.recovery import MAX_ATTEMPTS, RecoveryJob, RecoveryKind, RecoveryState
from app.kit import metrics
from app.kit.background import retry_while_unavailable, wait_for_event
from app.kit.clock import Clock, system_clock
from app.kit.logging import get_logger
from app.recovery.plan import RecoveryPlan, Step
from app.store import notifications, recovery_jobs
from app.store.connections import Store

_POLL_SECONDS = 1.0
_JOBS = 64  #: recoveries that run at once in this process
_JOBS_A_TENANT = 4
_READERS = 2  #: steps that are read from the database at once
_LONGEST_PAUSE = 0.5  #: seconds between two windows of messages
_END_PAUSES = (0.5, 1.0, 2.0)  #: seconds until an end that no queue received is published again
_UNROUTABLE = "snapshot_complete did not reach any queue: bind a key that matches it, and request it again"
_FIRST_PAUSE_MILLIS, _MAX_PAUSE_MILLIS = 500, 30_000
log = get_logger(__name__)
for _kind in RecoveryKind:  # exposed as 0 from the start
    metrics.recovery_seconds.labels(_kind.value)
for _state in RecoveryState:
    metrics.recoveries.labels(_state.value)


class RunFailed(Exception):
    """This run cannot continue; the reason is for the tenant to read. The cause is for the log."""


class BrokerUnavailable(RunFailed):
    """The broker accepts nothing now, or not from us: that is not the job's fault."""


class EndUnroutable(RunFailed):
    """No queue receives the end, though all before it was published: replaying again would not help."""


class RecoveryPublisher:
    """Publishes one run of a job, odds with `probabilities` or without, over one connection of the tenant: a
    run does not continue on another, because what it published before may have gone with the tenant's queue.
    Raises `BrokerUnavailable` when the broker does not accept a message."""

    WINDOW: ClassVar[int] = 32  #: messages that are rendered before they are confirmed

    def __init__(
        self,
        channel: ConfirmedChannel,
        job: RecoveryJob,
        renderer: EnvelopeRenderer,
        feed: FeedPublishers,
        *,
        probabilities: bool = False,
    ) -> None:
        self._channel, self._job, self._renderer, self._count = channel, job, renderer, 0
        self._feed, self._probabilities = feed, probabilities

    async def publish(self, messages: Sequence[MatchMessage]) -> None:
        """Publish these, in order, and wait until all are confirmed."""
        try:
            async with asyncio.TaskGroup() as group:
                for each in messages:
                    message = self._rendered(each)
                    if message is not None:
                        group.create_task(self._feed.replayed(each.name, message, self._channel))
                    await asyncio.sleep(0)  # what is live is read, rendered and published in between
        except ExceptionGroup as errors:
            if errors.split(BrokerError)[1]:
                raise
            raise BrokerUnavailable("the broker did not accept a message") from errors.exceptions[0]

    def _rendered(self, message: MatchMessage) -> AmqpMessage | None:
        """The message as it is replayed; None for one that cannot be rendered: it is left out, as it is live,
        so that all others are replayed."""
        request, message_id = self._job.request, self._next_id()
        try:
            return self._renderer.replayed(message, request, message_id, probabilities=self._probabilities)
        except Exception:
            log.exception(
                "a message cannot be rendered and is left out of a recovery",
                job=self._job.id,
                match=message.number,
                message=message.name,
            )
            metrics.recovery_unrendered.inc()
            return None

    async def publish_end(self, at: int) -> bool:
        """Publish `snapshot_complete`, which must reach a queue of the tenant; whether it did."""
        message = self._renderer.snapshot_complete(self._job.request, at, self._next_id())
        try:
            await self._feed.snapshot_complete(message, self._channel)
        except Unroutable:
            return False
        except BrokerError as error:
            raise BrokerUnavailable("the broker did not accept snapshot_complete") from error
        return True

    def _next_id(self) -> str:
        self._count += 1
        return f"mf-r{self._job.id}.{self._job.attempts}.{self._count}"


class RecoveryRunner:
    """Runs jobs for ever, with `run`. `reachable` returns the tenants whose vhost accepts messages from us
    now, with their slugs; `channel` a tenant's channel for what is replayed, None while it has no connection;
    `is_leased` whether we certainly still hold a tenant."""

    def __init__(
        self,
        store: Store,
        holder: str,
        renderer: EnvelopeRenderer,
        feed: FeedPublishers,
        *,
        reachable: Callable[[], dict[UUID, str]],
        channel: Callable[[UUID], ConfirmedChannel | None],
        is_leased: Callable[[UUID], bool],
        clock: Clock = system_clock,
    ) -> None:
        self._store, self._holder, self._renderer, self._feed = store, holder, renderer, feed
        self._reachable, self._channel = reachable, channel
        self._is_leased, self._clock = is_leased, clock
        self._wake = asyncio.Event()
        self._running: dict[int, UUID] = {}
        self._slugs: dict[UUID, str] = {}
        self._turns: defaultdict[UUID, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._reading = asyncio.Semaphore(_READERS)

    async def run(self) -> None:
        """Dequeue and run jobs until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(notifications.set_at_each(self._store, recovery_jobs.CHANNEL, self._wake))
            while True:
                self._wake.clear()
                while job := await retry_while_unavailable("dequeuing a recovery", self._dequeue):
                    self._running[job.id] = job.tenant_id
                    group.create_task(self._run(job, self._slugs[job.tenant_id]))
                await wait_for_event(self._wake, _POLL_SECONDS)

    def _free(self) -> list[UUID]:
        """The tenants for which one more job may run."""
        if len(self._running) >= _JOBS:
            return []
        busy = Counter(self._running.values())
        return [tenant_id for tenant_id in self._slugs if busy[tenant_id] < _JOBS_A_TENANT]

    async def _dequeue(self) -> RecoveryJob | None:
        self._slugs = self._reachable()
        free = self._free()
        if not free:
            return None
        async with self._store.transaction() as tx:
            return await recovery_jobs.claim(tx, self._holder, free, list(self._running), self._clock())

    async def _run(self, job: RecoveryJob, slug: str) -> None:
        """One run of a job, to whatever end."""
        request = job.request
        bound = log.bind(
            tenant=slug, recovery=request.request_id, node=request.node_id or "-", attempt=job.attempts
        )
        try:
            if await retry_while_unavailable("checking a recovery's slot", lambda: self._is_exhausted(job)):
                raise RunFailed(job.error or "the process that ran it died, again and again")
            count = await self._replay(job)
            done = await retry_while_unavailable("completing a recovery", lambda: self._complete(job))
            metrics.recoveries.labels(RecoveryState.COMPLETED.value).inc()
            seconds = max(0, self._clock() - job.accepted_at) / 1000
            metrics.recovery_seconds.labels(request.kind.value).observe(seconds)
            bound.info("recovery completed", kind=request.kind.value, envelopes=count, superseded=not done)
        except Exception as error:  # whatever it is, one job must not stop the others
            await self._fail(bound, job, error)
        finally:
            self._running.pop(job.id, None)
            self._wake.set()

    async def _replay(self, job: RecoveryJob) -> int:
        """Publish every step, then the end; how many messages the steps were."""
        count = 0
        plan = RecoveryPlan(self._store, job)
        steps = await retry_while_unavailable("planning a recovery", plan.steps)
        channel = self._channel(job.tenant_id)
        if channel is None:
            raise BrokerUnavailable("there is no connection to the vhost")
        publisher = RecoveryPublisher(
            channel, job, self._renderer, self._feed, probabilities=plan.probabilities
        )
        await self._record_progress(job, len(steps) + 1, 0, count)
        for number, step in enumerate(steps, 1):
            async with self._turns[job.tenant_id]:
                messages = await self._read(plan, step)
                await self._publish(publisher, job, messages)
            count += len(messages)
            metrics.recovery_envelopes.inc(len(messages))
            await self._record_progress(job, len(steps) + 1, number, count)
        await self._publish_end(publisher, job)
        return count

    async def _publish_end(self, publisher: RecoveryPublisher, job: RecoveryJob) -> None:
        """Publish `snapshot_complete`; raises `EndUnroutable` when no queue receives it, again and again."""
        for pause in (0.0, *_END_PAUSES):
            await asyncio.sleep(pause)
            self._check_lease(job)
            if await publisher.publish_end(self._clock()):
                return
        raise EndUnroutable(_UNROUTABLE)

    async def _read(self, plan: RecoveryPlan, step: Step) -> list[MatchMessage]:
        async with self._reading:
            return await retry_while_unavailable(
                "reading for a recovery", lambda: plan.messages(step, self._clock())
            )

    async def _publish(
        self, publisher: RecoveryPublisher, job: RecoveryJob, messages: list[MatchMessage]
    ) -> None:
        for start in range(0, len(messages), publisher.WINDOW):
            self._check_lease(job)
            began = monotonic()
            await publisher.publish(messages[start : start + publisher.WINDOW])
            await asyncio.sleep(min(monotonic() - began, _LONGEST_PAUSE))

    async def _record_progress(self, job: RecoveryJob, steps: int, done: int, envelopes: int) -> None:
        async def record() -> bool:
            async with self._store.autocommit() as tx:  # a single statement is atomic
                return await recovery_jobs.progress(tx, job, steps, done, envelopes)

        if not await retry_while_unavailable("recording a recovery's progress", record):
            raise RunFailed("another process runs this recovery")

    async def _complete(self, job: RecoveryJob) -> bool:
        async with self._store.transaction() as tx:
            return await recovery_jobs.complete(tx, job, self._clock())

    async def _is_exhausted(self, job: RecoveryJob) -> bool:
        """Whether the job has used up its attempts and no longer holds its slot."""
        if job.attempts <= MAX_ATTEMPTS:
            return False
        async with self._store.autocommit() as tx:
            return not await recovery_jobs.holds_slot(tx, job)

    async def _fail(self, bound: Any, job: RecoveryJob, error: Exception) -> None:
        """Record and log why a run ended; after an unexpected error only the log has the cause."""
        unexpected = not isinstance(error, RunFailed)
        why = "this run of the recovery failed within the service" if unexpected else str(error)
        excused, final = isinstance(error, BrokerUnavailable), isinstance(error, EndUnroutable)

        async def record() -> RecoveryState:
            async with self._store.transaction() as tx:
                pause, now = self._pause(job), self._clock()
                return await recovery_jobs.fail(tx, job, why, pause, now, excused=excused, final=final)

        state = await retry_while_unavailable("recording a recovery's failure", record)
        metrics.recoveries.labels(state.value).inc()
        write = bound.error if unexpected or state is RecoveryState.FAILED else bound.warning
        cause = {"exc_info": error} if unexpected else {"cause": repr(error.__cause__)}
        write("recovery failed", state=state.value, error=why, **cause)

    def _pause(self, job: RecoveryJob) -> int:
        return int(min(_MAX_PAUSE_MILLIS, _FIRST_PAUSE_MILLIS * 2 ** min(job.attempts, 10)))

    def _check_lease(self, job: RecoveryJob) -> None:
        if not self._is_leased(job.tenant_id):
            raise BrokerUnavailable("another process holds the tenant")
