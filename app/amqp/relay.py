"""From the change log to every tenant's publisher: read once, share, catch up, save.

Four loops, each of which survives an unavailable database: `listen` is notified of changes; `read` adds what
is new to the recent envelopes and pumps every publisher; `catch_up` reads a page for each tenant that has
fallen behind them, in turn; `save` checkpoints every cursor that has moved, all in one statement.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from uuid import UUID

from app.amqp.delivery_samples import DeliverySamples, TenantSamples
from app.amqp.envelope import EnvelopeRenderer
from app.amqp.lease import LeaseDeadline, LeaseLost
from app.amqp.loss_notice import DETECTION_MILLIS, LossNotice
from app.amqp.publishers import FeedPublishers, RecentEnvelopes
from app.amqp.tenant_channels import LiveDelay
from app.amqp.tenant_publisher import TenantPublisher
from app.domain.tenant_offer import NO_CHANGES, TenantOffer
from app.kit.background import wait_for_event
from app.kit.clock import Clock, system_clock
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.store import changes, cursors, notifications, tenants
from app.store.changes import BOOKING, SWITCH, ChangeRow
from app.store.connections import Store
from app.store.cursors import LeasedTenant
from app.store.transaction import Tx

_POLL_SECONDS = 0.25
_PAGE = 500
_SAVE_SECONDS = 0.05
#: A new session begins to read so many changes before the log's end, for tenants that are behind.
_READ_BACK = 2_000
log = get_logger(__name__)


class Relay:
    """Reads the change log for the publishers that it has. `lock` serializes statements about the same
    leases; `with_probabilities` are the tenants that receive probabilities with the odds, `with_bet_stop`
    those that receive `bet_stop`. A tenant whose next
    envelope is older than `lag_millis` is moved to the present. `samples` counts what is published."""

    def __init__(
        self,
        store: Store,
        renderer: EnvelopeRenderer,
        lease: LeaseDeadline,
        holder: str,
        window: int,
        feed: FeedPublishers,
        *,
        lag_millis: int = 600_000,
        clock: Clock = system_clock,
        samples: DeliverySamples | None = None,
    ) -> None:
        self.publishers: dict[UUID, TenantPublisher] = {}
        self.live_delay = LiveDelay(lambda: (each.waiting_since for each in self.publishers.values()))
        self.with_probabilities: set[UUID] = set()
        self.with_bet_stop: set[UUID] = set()
        self.lock = asyncio.Lock()
        self._store, self._renderer, self._lease = store, renderer, lease
        self._holder, self._window = holder, window
        self._lag_millis, self._clock = lag_millis, clock
        self._recent, self._pruned_to = RecentEnvelopes(0), 0
        self._history = 0
        self._offers: Mapping[UUID, TenantOffer] = {}
        self._last_offer_change = 0
        #: What is not published, by (tenant, match): the changes after one seq up to another.
        self._booking_gaps: Mapping[tuple[UUID, UUID], Sequence[tuple[int, int]]] = {}
        self._bookings_read = self._newest_bookings = 0
        self._feed = feed
        self._samples = samples or DeliverySamples(clock)
        self._read_at = 0.0
        self._wake, self._moved, self._save_now = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._backlog_requests: asyncio.Queue[TenantPublisher] = asyncio.Queue()
        self._queued: set[TenantPublisher] = set()

    @property
    def age(self) -> float:
        """Seconds since the log was last read to its end."""
        return time.monotonic() - self._read_at

    async def start(self) -> None:
        """Begin a little before the present, where the log is not pruned; raises `Unavailable`."""
        async with self._store.autocommit() as tx:
            self._history = tx.history
            self._pruned_to = await changes.oldest(tx) - 1
            self._recent = RecentEnvelopes(max(0, self._pruned_to, await changes.head(tx) - _READ_BACK))
            await self._read_offers(tx)

    def require_same_history(self, tx: Tx) -> None:
        """Raise `LeaseLost` when the database has failed over since `start`: our leases have ended, and what
        is cached here may contradict what the database has now."""
        if tx.history != self._history:
            raise LeaseLost("the database failed over")

    def add(self, tenant: LeasedTenant, notice: LossNotice) -> TenantPublisher:
        """A publisher for a tenant that we hold now; it publishes once it has a connection. What was pruned
        from the log counts as lost before the first envelope."""
        publisher = TenantPublisher(
            tenant,
            notice,
            window=self._window,
            lease=self._lease,
            recent=self._recent,
            is_booked=self._is_booked,
            request_backlog=self._request_backlog,
            cursor_moved=self._cursor_moved,
            is_stale=self._is_stale,
            is_young=self._is_young,
            receives_probabilities=lambda tenant_id: tenant_id in self.with_probabilities,
            receives_bet_stop=lambda tenant_id: tenant_id in self.with_bet_stop,
            live=self.live_delay,
            samples=TenantSamples(self._samples, tenant.tenant_id, tenant.epoch),
        )
        if tenant.seq < self._pruned_to:
            publisher.skip_to(self._pruned_to)
        publisher.offer = self._offers.get(tenant.tenant_id, NO_CHANGES)
        self.publishers[tenant.tenant_id] = publisher
        return publisher

    def remove(self, tenant_id: UUID) -> None:
        """Publish nothing more to a tenant."""
        publisher = self.publishers.pop(tenant_id, None)
        if publisher:
            publisher.releasing = True

    async def listen(self) -> None:
        """Wake the reader at each change."""
        await notifications.set_at_each(self._store, changes.CHANNEL, self._wake)

    async def read(self) -> None:
        """Share what is new, for ever."""
        while True:
            self._wake.clear()
            try:
                while await self._read_page():
                    await asyncio.sleep(0)
                self._read_at = time.monotonic()
            except Unavailable as error:
                log.warning("reading the change log failed", error=error.detail)
            await wait_for_event(self._wake, _POLL_SECONDS)

    async def catch_up(self) -> None:
        """Read the next page for each publisher that requests its backlog, for ever."""
        while True:
            publisher = await self._backlog_requests.get()
            self._queued.discard(publisher)
            if publisher.releasing:
                continue
            try:
                await self._read_backlog(publisher)
            except Unavailable as error:
                log.warning("reading the change log failed", tenant=publisher.slug, error=error.detail)
                await asyncio.sleep(_POLL_SECONDS)
                self._request_backlog(publisher)

    async def save(self) -> None:
        """Checkpoint moved cursors, for ever: soon, and at once when a window is half used up."""
        while True:
            await self._moved.wait()
            await wait_for_event(self._save_now, _SAVE_SECONDS)
            self._moved.clear()
            self._save_now.clear()
            try:
                await self.checkpoint()
            except Unavailable as error:
                log.warning("saving cursors failed", error=error.detail)
                self._moved.set()
                await asyncio.sleep(_POLL_SECONDS)

    async def checkpoint(self) -> None:
        """Save every cursor that has moved; a tenant whose checkpoint the store does not accept is no longer
        ours. The cursor of one that must be notified of a loss stays before that loss: the next holder would
        not know of it."""
        moved = [
            publisher
            for publisher in self.publishers.values()
            if publisher.cursor > publisher.saved and not publisher.awaits_notice
        ]
        checkpoints = {each.tenant_id: each.checkpoint for each in moved}
        if not checkpoints:
            return
        async with self.lock, self._store.autocommit() as tx:  # a single statement is atomic
            saved = await cursors.checkpoint(tx, self._holder, checkpoints)
        for publisher in moved:
            if publisher.tenant_id in saved:
                publisher.checkpointed(checkpoints[publisher.tenant_id].seq)
            else:
                log.warning("another process holds the tenant", tenant=publisher.slug)
                publisher.releasing = True

    async def wake_at(self, change: asyncio.Event) -> None:
        """Wake the publisher of every tenant's `alive` at each change of what it reports, until cancelled."""
        while True:
            await change.wait()
            change.clear()
            for publisher in self.publishers.values():
                publisher.notice.wake.set()

    async def drain(self, seconds: float) -> list[UUID]:
        """Publish nothing more, wait for outstanding confirms, save; the tenants that may be released."""
        for publisher in self.publishers.values():
            publisher.releasing = True
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and any(each.unconfirmed for each in self.publishers.values()):
            await asyncio.sleep(0.02)
        await self.checkpoint()
        return [each.tenant_id for each in self.publishers.values() if each.drained]

    async def _read_page(self) -> bool:
        """Read one page; whether there may be more."""
        async with self._store.autocommit() as tx:
            rows = await self._read_rows(tx, self._recent.head)
        if rows:
            await self._share(rows)
            for publisher in self.publishers.values():
                publisher.pump()
        return len(rows) >= _PAGE

    async def _read_rows(self, tx: Tx, after: int) -> list[ChangeRow]:
        """The next page; where offers or bookings change in it, the publishers know of that before they
        take an envelope of it."""
        self.require_same_history(tx)
        rows = await changes.read(tx, after, _PAGE)
        entities = {row.entity for row in rows}
        if SWITCH in entities:
            await self._read_offers(tx)
        if BOOKING in entities:
            await self.read_bookings(tx)
        return rows

    async def read_bookings(self, tx: Tx) -> None:
        """Read when matches were not booked. Of two reads that overlap the one that began later counts."""
        self._bookings_read += 1
        own = self._bookings_read
        found = await tenants.booking_gaps(tx)
        if own > self._newest_bookings:
            self._booking_gaps, self._newest_bookings = found, own

    async def _read_offers(self, tx: Tx) -> None:
        """Two reads may overlap: the later result has the later changes, and counts."""
        found = await tenants.offers(tx)
        newest = max((one.last_change() for one in found.values()), default=0)
        if newest >= self._last_offer_change:
            self._offers, self._last_offer_change = found, newest
            for publisher in self.publishers.values():
                publisher.offer = found.get(publisher.tenant_id, NO_CHANGES)

    async def _share(self, rows: Sequence[ChangeRow]) -> None:
        """Publish the envelopes of `rows`; one that could not be rendered is skipped."""
        for envelope in self._renderer.envelopes(rows):
            if envelope.frames:
                await self._feed.live(envelope, self._recent)
            else:
                self._recent.extend((envelope,), envelope.seq)
        self._recent.extend((), rows[-1].seq)

    async def _read_backlog(self, publisher: TenantPublisher) -> None:
        after = publisher.sent
        async with self._store.autocommit() as tx:
            rows = await self._read_rows(tx, after)
            oldest = await changes.oldest(tx)
        if oldest and after < oldest - 1:
            publisher.skip_to(oldest - 1)
            after = publisher.sent
        backlog = RecentEnvelopes(after)
        backlog.extend(self._renderer.envelopes(rows), rows[-1].seq if rows else self._recent.floor)
        publisher.backlog = backlog
        publisher.pump()

    def _is_booked(self, tenant_id: UUID, match_id: UUID, seq: int) -> bool:
        gaps = self._booking_gaps.get((tenant_id, match_id))
        return gaps is None or tenants.booked_at(gaps, seq)

    def _is_stale(self, at: int) -> bool:
        return self._clock() - at > self._lag_millis

    def _is_young(self, at: int) -> bool:
        return self._clock() - at < DETECTION_MILLIS

    def _request_backlog(self, publisher: TenantPublisher) -> None:
        if publisher not in self._queued:
            self._queued.add(publisher)
            self._backlog_requests.put_nowait(publisher)

    def _cursor_moved(self, publisher: TenantPublisher) -> None:
        self._moved.set()
        if 2 * publisher.unsaved >= self._window:
            self._save_now.set()
