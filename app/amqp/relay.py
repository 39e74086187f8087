"""From the change log to every delivery: read once, share, catch up, save.

Three loops, each of which survives a database that is away: `read` brings what is new into `recent` and
pumps every delivery; `catch_up` reads a page for each tenant that has fallen out of `recent`, in turn;
`save` checkpoints every cursor that has moved, all in one statement.
"""

import asyncio
import time
from uuid import UUID

from app.amqp.envelope import Press
from app.amqp.lease import Lease
from app.amqp.loss_notice import Word
from app.amqp.recent_envelopes import Recent
from app.amqp.tenant_bindings import DOUBT_MILLIS
from app.amqp.tenant_publisher import Delivery
from app.kit.clock import Clock, system_clock
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.kit.retry import wait_for_event
from app.store import changes, cursors, notifications
from app.store.connections import Store
from app.store.cursors import Checkpoint, LeasedTenant

_POLL_SECONDS = 0.25
_PAGE = 500
_SAVE_SECONDS = 0.05
_KEPT_AT_START = 2_000  #: so far back new holders share what they read
log = get_logger(__name__)


class Relay:
    """Tells the change log to the deliveries that it has adopted. `lock` keeps two statements about the
    same leases apart; `unbooked` is every (tenant, match) that is kept back. A tenant to which something
    older than `lag_millis` would have to be told is moved to the present."""

    def __init__(
        self,
        store: Store,
        press: Press,
        lease: Lease,
        holder: str,
        window: int,
        *,
        lag_millis: int = 600_000,
        clock: Clock = system_clock,
    ) -> None:
        self.deliveries: dict[UUID, Delivery] = {}
        self.unbooked: set[tuple[UUID, UUID]] = set()
        self.lock = asyncio.Lock()
        self._store, self._press, self._lease = store, press, lease
        self._holder, self._window = holder, window
        self._lag_millis, self._clock = lag_millis, clock
        self._recent, self._whole_after = Recent(0), 0
        self._read_at = 0.0
        self._wake, self._moved, self._pressed = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._starving: asyncio.Queue[Delivery] = asyncio.Queue()
        self._queued: set[Delivery] = set()

    @property
    def age(self) -> float:
        """Seconds since the log was last read to its end."""
        return time.monotonic() - self._read_at

    async def start(self) -> None:
        """Begin a little before the present, where the log is still whole; raises `Unavailable`."""
        async with self._store.reading() as tx:
            self._whole_after = await changes.tail(tx) - 1
            self._recent = Recent(max(0, self._whole_after, await changes.head(tx) - _KEPT_AT_START))

    def adopt(self, taken: LeasedTenant, word: Word) -> Delivery:
        """A delivery for a tenant that is ours now; it publishes once it has a connection. What the log has
        forgotten is missed before the tenant is told its first word."""
        delivery = Delivery(
            taken,
            word,
            window=self._window,
            lease=self._lease,
            recent=self._recent,
            takes=self._takes,
            starved=self._starved,
            moved=self._has_moved,
            stale=self._stale,
            young=self._young,
        )
        if taken.seq < self._whole_after:
            delivery.overrun(self._whole_after)
        self.deliveries[taken.tenant_id] = delivery
        return delivery

    def drop(self, tenant_id: UUID) -> None:
        """Publish nothing more to a tenant."""
        delivery = self.deliveries.pop(tenant_id, None)
        if delivery:
            delivery.closing = True

    async def listen(self) -> None:
        """Wake the reader at each change."""
        async for _ in notifications.listen(self._store, changes.CHANNEL):
            self._wake.set()

    async def read(self) -> None:
        """Share what is new, for ever."""
        while True:
            self._wake.clear()
            try:
                while await self._read_page():
                    await asyncio.sleep(0)
                self._read_at = time.monotonic()
            except Unavailable as error:
                log.warning("the change log cannot be read", error=error.detail)
            await wait_for_event(self._wake, _POLL_SECONDS)

    async def catch_up(self) -> None:
        """Give each starving delivery its next page, for ever."""
        while True:
            delivery = await self._starving.get()
            self._queued.discard(delivery)
            if delivery.closing:
                continue
            try:
                await self._feed(delivery)
            except Unavailable as error:
                log.warning("the change log cannot be read", tenant=delivery.slug, error=error.detail)
                await asyncio.sleep(_POLL_SECONDS)
                self._starved(delivery)

    async def save(self) -> None:
        """Checkpoint moved cursors, for ever: soon, and at once when a window is half used up."""
        while True:
            await self._moved.wait()
            await wait_for_event(self._pressed, _SAVE_SECONDS)
            self._moved.clear()
            self._pressed.clear()
            try:
                await self.checkpoint()
            except Unavailable as error:
                log.warning("cursors cannot be saved", error=error.detail)
                self._moved.set()
                await asyncio.sleep(_POLL_SECONDS)

    async def checkpoint(self) -> None:
        """Save every cursor that has moved; a tenant that does not take it is no longer ours. One that is to
        be told of a loss keeps its place before that: who tells it next would not know."""
        moved = [
            delivery
            for delivery in self.deliveries.values()
            if delivery.cursor > delivery.saved and not delivery.held_back
        ]
        marks = {each.tenant_id: Checkpoint(each.epoch, each.cursor, each.word.owed) for each in moved}
        if not marks:
            return
        async with self.lock, self._store.reading() as tx:  # one statement is whole by itself
            taken = await cursors.checkpoint(tx, self._holder, marks)
        for delivery in moved:
            if delivery.tenant_id in taken:
                delivery.checkpointed(marks[delivery.tenant_id].seq)
            else:
                log.warning("another process has the tenant", tenant=delivery.slug)
                delivery.closing = True

    async def drain(self, seconds: float) -> list[UUID]:
        """Publish nothing more, wait for what is in flight, save; the tenants that may be let go of."""
        for delivery in self.deliveries.values():
            delivery.closing = True
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and any(each.unconfirmed for each in self.deliveries.values()):
            await asyncio.sleep(0.02)
        await self.checkpoint()
        return [each.tenant_id for each in self.deliveries.values() if each.quiet]

    async def _read_page(self) -> bool:
        """Read one page; whether there may be more."""
        async with self._store.reading() as tx:
            rows = await changes.read(tx, self._recent.head, _PAGE)
        if rows:
            self._recent.extend(self._press.envelopes(rows), rows[-1].seq)
            for delivery in self.deliveries.values():
                delivery.pump()
        return len(rows) >= _PAGE

    async def _feed(self, delivery: Delivery) -> None:
        after = delivery.sent
        async with self._store.reading() as tx:
            rows = await changes.read(tx, after, _PAGE)
            oldest = await changes.tail(tx)
        if oldest and after < oldest - 1:
            delivery.overrun(oldest - 1)
            after = delivery.sent
        backlog = Recent(after)
        backlog.extend(self._press.envelopes(rows), rows[-1].seq if rows else self._recent.floor)
        delivery.backlog = backlog
        delivery.pump()

    def _takes(self, tenant_id: UUID, match_id: UUID) -> bool:
        return (tenant_id, match_id) not in self.unbooked

    def _stale(self, at: int) -> bool:
        return self._clock() - at > self._lag_millis

    def _young(self, at: int) -> bool:
        return self._clock() - at < DOUBT_MILLIS

    def _starved(self, delivery: Delivery) -> None:
        if delivery not in self._queued:
            self._queued.add(delivery)
            self._starving.put_nowait(delivery)

    def _has_moved(self, delivery: Delivery) -> None:
        self._moved.set()
        if 2 * delivery.beyond >= self._window:
            self._pressed.set()
