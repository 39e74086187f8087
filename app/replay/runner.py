"""Runs the replays of the tenants that this process holds, beside the relay and the recoveries.

A replay is published over the tenant's connection, on the channel of recoveries, which yields to live
messages. What has been published is recorded each second at most: a run that breaks off (the broker is away,
the tenant goes to another process, the process dies) is continued from there. A replay that its tenant has
stopped ends within a second.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from uuid import UUID

from app.amqp.connection import BrokerError
from app.amqp.frames import AmqpMessage
from app.amqp.publishers import FeedPublishers
from app.amqp.replay import ReplayRenderer
from app.amqp.tenant_channels import TenantChannels
from app.broker.permissions import REPLAY_EXCHANGE
from app.domain.replay import ReplayJob, ReplayState
from app.kit import metrics
from app.kit.background import retry_while_unavailable, wait_for_event
from app.kit.clock import Clock, system_clock
from app.kit.logging import get_logger
from app.replay.accidents import Accidents
from app.replay.timeline import Entry, NotReplayable, ReplayTimeline
from app.store import notifications, replay_jobs
from app.store.changes import ChangeRow
from app.store.connections import Store

_POLL_SECONDS = 1.0
_REPLAYS = 16  #: that run at once in this process
_WINDOW = 32  #: messages that are rendered before they are confirmed
_RECORD_SECONDS = 1.0
_LATE_SECONDS = 1.0  #: a replay that is later than this is not hurried
_RETRY_MILLIS = 2_000
log = get_logger(__name__)
for _state in ReplayState:  # exposed as 0 from the start
    metrics.replays.labels(_state.value)


class BrokerUnavailable(Exception):
    """The broker accepts nothing now, or not from us: the replay is continued later."""


class Superseded(Exception):
    """The replay was stopped, or another process runs it."""


class Pace:
    """When messages are due, by a monotonic `now` (s)."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._began = now()

    def seconds_until(self, due: float) -> float:
        """How long it is until `due` (ms since the beginning); what is late begins now."""
        left = self._began + due / 1000 - self._now()
        if left < -_LATE_SECONDS:
            self._began -= left
        return left


class ReplayRunner:
    """Runs replays for ever, with `run`. `reachable` returns the tenants whose vhost accepts messages from us
    now, with their slugs; `channels` a tenant's channels, None while it has no connection; `is_leased`
    whether we certainly still hold a tenant; `pause` waits so many seconds, by the monotonic clock `now`."""

    def __init__(
        self,
        store: Store,
        holder: str,
        product: int,
        feed: FeedPublishers,
        *,
        reachable: Callable[[], dict[UUID, str]],
        channels: Callable[[UUID], TenantChannels | None],
        is_leased: Callable[[UUID], bool],
        clock: Clock = system_clock,
        now: Callable[[], float] = time.monotonic,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._store, self._holder, self._product, self._feed = store, holder, product, feed
        self._reachable, self._channels, self._is_leased = reachable, channels, is_leased
        self._clock, self._now, self._pause = clock, now, pause
        self._wake = asyncio.Event()
        self._running: dict[int, tuple[ReplayJob, asyncio.Task[None]]] = {}

    async def run(self) -> None:
        """Claim and run replays until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(notifications.set_at_each(self._store, replay_jobs.CHANNEL, self._wake))
            while True:
                self._wake.clear()
                await retry_while_unavailable("looking for stopped replays", self._cancel_stopped)
                while job := await retry_while_unavailable("claiming a replay", self._claim):
                    self._running[job.id] = job, group.create_task(self._run(job))
                await wait_for_event(self._wake, _POLL_SECONDS)

    async def _cancel_stopped(self) -> None:
        if not self._running:
            return
        async with self._store.autocommit() as tx:
            present = await replay_jobs.running(tx, list(self._running))
        for job, task in list(self._running.values()):
            if present.get(job.id) != job.attempts:
                task.cancel()

    async def _claim(self) -> ReplayJob | None:
        free = list(self._reachable())
        if not free or len(self._running) >= _REPLAYS:
            return None
        async with self._store.transaction() as tx:
            return await replay_jobs.claim(tx, self._holder, free, list(self._running), self._clock())

    async def _run(self, job: ReplayJob) -> None:
        """One run of a replay, to whatever end."""
        slug = self._reachable().get(job.tenant_id, "")
        bound = log.bind(tenant=slug, replay=job.id, node=job.node or "-", attempt=job.attempts)
        try:
            count = await self._play(job)
            await self._end(job, ReplayState.COMPLETED, "")
            bound.info("replay completed", messages=count)
        except Superseded:
            bound.info("replay ended by others")
        except BrokerUnavailable as error:
            bound.warning("replay interrupted", error=str(error), cause=repr(error.__cause__))
            await self._postpone(job, str(error))
        except NotReplayable as error:
            bound.warning("replay failed", error=str(error))
            await self._end(job, ReplayState.FAILED, str(error))
        except Exception as error:  # whatever it is, one replay must not stop the others
            bound.error("replay failed", exc_info=error)
            await self._end(job, ReplayState.FAILED, "this replay failed within the service")
        finally:
            del self._running[job.id]
            self._wake.set()

    async def _play(self, job: ReplayJob) -> int:
        """Publish what is left; how many messages that were."""
        timeline = ReplayTimeline(self._store, job)
        await retry_while_unavailable("opening a replay", timeline.open)
        channels = self._channels(job.tenant_id)
        if channels is None:
            raise BrokerUnavailable("there is no connection to the vhost")
        await _declare_exchange(channels)
        tenant = timeline.tenant
        renderer = ReplayRenderer(self._product, job.id, job.node, tenant.offer, tenant.probabilities)
        run = _Run(job, renderer, self._clock)
        pace, recorded = Pace(self._now), self._now()
        async with aclosing(timeline.entries()) as entries:
            async for entry in entries:
                left = pace.seconds_until(entry.due)
                if run.ready and (left > 0 or len(run.ready) >= _WINDOW):
                    await self._publish(job, channels, run.take())
                    if self._now() - recorded >= _RECORD_SECONDS and not run.withholding:
                        await self._record(job, run)
                        recorded = self._now()
                    left = pace.seconds_until(entry.due)
                if left > 0:
                    await self._pause(left)
                run.add(entry)
        run.end()
        await self._publish(job, channels, run.take())
        await self._record(job, run)
        return run.count

    async def _publish(
        self, job: ReplayJob, channels: TenantChannels, messages: Sequence[AmqpMessage]
    ) -> None:
        """Publish these, in order, and wait until all are confirmed."""
        if not self._is_leased(job.tenant_id):
            raise BrokerUnavailable("another process holds the tenant")
        try:
            async with asyncio.TaskGroup() as group:
                for message in messages:
                    group.create_task(self._feed.of_replay(message, channels.replayed))
                    await asyncio.sleep(0)  # what is live is read, rendered and published in between
        except ExceptionGroup as errors:
            if errors.split(BrokerError)[1]:
                raise
            raise BrokerUnavailable("the broker did not accept a message") from errors.exceptions[0]
        metrics.replay_messages.inc(len(messages))

    async def _record(self, job: ReplayJob, run: "_Run") -> None:
        async def record() -> bool:
            async with self._store.autocommit() as tx:  # a single statement is atomic
                return await replay_jobs.progress(tx, job, run.positions, run.count)

        if not await retry_while_unavailable("recording a replay's progress", record):
            raise Superseded

    async def _end(self, job: ReplayJob, state: ReplayState, error: str) -> None:
        async def end() -> bool:
            async with self._store.autocommit() as tx:
                return await replay_jobs.end(tx, job, state, error, self._clock())

        if await retry_while_unavailable("ending a replay", end):
            metrics.replays.labels(state.value).inc()

    async def _postpone(self, job: ReplayJob, error: str) -> None:
        async def postpone() -> None:
            async with self._store.autocommit() as tx:
                await replay_jobs.postpone(tx, job, error, _RETRY_MILLIS)

        await retry_while_unavailable("postponing a replay", postpone)


class _Run:
    """What one run has rendered: `ready` to be published, `positions` and `count` of what it has come to."""

    def __init__(self, job: ReplayJob, renderer: ReplayRenderer, clock: Clock) -> None:
        self._renderer, self._clock = renderer, clock
        self._rewrites = job.options.rewrite_timestamps
        self._accidents = Accidents(job.options.accidents, self._present_odds, job.envelopes)
        self._stamps: dict[UUID, int] = {}
        self.positions, self.count = dict(job.positions), job.envelopes
        self.ready: list[AmqpMessage] = []

    @property
    def withholding(self) -> bool:
        return self._accidents.withholding

    def add(self, entry: Entry) -> None:
        """Render an envelope, unless it cannot be rendered: it was not published then, either."""
        try:
            message = self._renderer.message(entry.rows, self._stamp(entry.match_id))
        except Exception:
            log.exception("an envelope cannot be rendered and is left out", seq=entry.rows[-1].envelope_seq)
        else:
            self.ready += self._accidents.pass_on(entry.rows, message)
        self.positions[entry.match_id] = entry.rows[-1].seq
        self.count += 1

    def end(self) -> None:
        self.ready += self._accidents.end()

    def take(self) -> list[AmqpMessage]:
        taken, self.ready = self.ready, []
        return taken

    def _present_odds(self, rows: Sequence[ChangeRow]) -> AmqpMessage:
        return self._renderer.present_odds(rows, self._stamp(rows[-1].match_id))

    def _stamp(self, match_id: UUID) -> int | None:
        """The timestamp that a message of the match gets: now, and later than the one before."""
        if not self._rewrites:
            return None
        self._stamps[match_id] = max(self._clock(), self._stamps.get(match_id, 0) + 1)
        return self._stamps[match_id]


async def _declare_exchange(channels: TenantChannels) -> None:
    """A client may have deleted it; publishing to it would then end the connection."""
    try:
        await channels.queues.declare_topic_exchange(REPLAY_EXCHANGE)
    except (BrokerError, TimeoutError) as error:
        raise BrokerUnavailable(f"the exchange {REPLAY_EXCHANGE} cannot be declared") from error
