"""One tenant's place in the log: what is published, what is confirmed, what is saved.

    saved ≤ cursor ≤ sent       (numbers of the change log)

Everything up to `sent` has been published or passed over, everything up to `cursor` confirmed too, and
`saved` is what the store would tell another process. At most `window` envelopes lie beyond `saved`.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable
from uuid import UUID

from app.amqp.connection import Connection
from app.amqp.envelope import Envelope
from app.amqp.frames import FRAME_MAX, marshal
from app.amqp.lease import Lease
from app.amqp.loss_notice import Word
from app.amqp.recent_envelopes import Recent
from app.amqp.tenant_bindings import DOUBT_MILLIS
from app.broker.management import ExchangeBinding
from app.kit.logging import get_logger
from app.kit.metrics import feed_published, feed_repeated
from app.store.cursors import LeasedTenant, TenantReport

_REFUSALS = 3  #: how often one envelope is offered to a broker that refuses it
log = get_logger(__name__)


class _Flight:
    """A published envelope: its number, and the place in the log before it."""

    __slots__ = ("before", "name", "seq")

    def __init__(self, before: int, seq: int, name: str) -> None:
        self.before = before
        self.seq = seq
        self.name = name


class Delivery:
    """Publishes to one tenant, from memory while it keeps up and from its own `backlog` while it lags.

    `starved` is called when neither holds what comes next, `moved` when the cursor may have moved;
    `takes` says whether the tenant takes a match, `stale` whether what was stamped then (ms) is too old to
    be told: such a tenant is moved to the present. While no queue of the tenant takes live messages, none is
    published; the cursor goes on behind what is `young`, for a queue may have been bound at this moment. What
    is gone by so is a gap, once a queue was bound. Nothing here waits or raises.
    """

    def __init__(
        self,
        taken: LeasedTenant,
        word: Word,
        *,
        window: int,
        lease: Lease,
        recent: Recent,
        takes: Callable[[UUID, UUID], bool],
        starved: Callable[["Delivery"], None],
        moved: Callable[["Delivery"], None],
        stale: Callable[[int], bool] = lambda _: False,
        young: Callable[[int], bool] = lambda _: False,
    ) -> None:
        self.tenant_id, self.slug, self.epoch = taken.tenant_id, taken.slug, taken.epoch
        self.sent = self.saved = taken.seq
        self.backlog: Recent | None = None
        self.connection: Connection | None = None
        self.trouble = "not connected yet"
        self.word = word
        self.reachable = asyncio.Event()
        self.closing = False
        self._window, self._lease, self._recent = window, lease, recent
        self._takes, self._starved, self._moved = takes, starved, moved
        self._stale, self._young = stale, young
        self._published_at = float("-inf")
        self._flights: deque[_Flight] = deque()
        self._open: dict[int, _Flight] = {}
        self._refused: tuple[int, int] = (0, 0)

    @property
    def cursor(self) -> int:
        """Up to here everything is confirmed, or not for this tenant."""
        return next(iter(self._open.values())).before if self._open else self.sent

    @property
    def beyond(self) -> int:
        """Envelopes published beyond `saved`: what a crash now would repeat at most."""
        return len(self._flights)

    @property
    def healthy(self) -> bool:
        """Whether what happens now would reach the tenant's vhost."""
        return self.connection is not None and self.connection.writable and self._lease.held

    @property
    def held_back(self) -> bool:
        """Whether the tenant must first be told of an outage or a loss: what it has heard last is what it
        recovers from."""
        return self.word.first or self.word.waits

    @property
    def note(self) -> TenantReport:
        """What is to be known of the tenant outside this process."""
        word = self.word
        return TenantReport(
            self.state, word.silent, word.dropped, word.told_dead, word.owed, word.audience.noted
        )

    @property
    def state(self) -> str:
        """How the tenant's connection is, in a few words; "" while it works."""
        if self.connection is None:
            return self.trouble
        return f"blocked by the broker: {self.connection.blocked}" if self.connection.blocked else ""

    @property
    def unconfirmed(self) -> int:
        """Envelopes in flight on the present connection."""
        return len(self._open)

    @property
    def quiet(self) -> bool:
        """Nothing is in flight and the store knows where we are: the tenant may be let go of."""
        return not self._open and self.cursor == self.saved

    def pump(self) -> None:
        """Publish what there is, as far as window, lease and connection allow."""
        if self.word.audience.live:
            self._publish_on()
        else:
            self._pass_over()
        if self.cursor > self.saved:
            self._moved(self)

    def _publish_on(self) -> None:
        connection = self.connection
        while connection and connection.writable and self._may_publish():
            source = self._source()
            if source is None:
                break
            envelope = source.next(self.sent)
            if envelope is None:
                self.sent = max(self.sent, source.head)
                if source is self._recent:
                    break
            elif not self._takes(self.tenant_id, envelope.match_id):
                self.sent = envelope.seq
            elif self._stale(envelope.at):
                self.overrun(max(self._recent.head, envelope.seq))
            elif envelope.frames:
                self._publish(connection, envelope)
            else:  # it could not be made
                self.sent = envelope.seq
                self.word.missed()

    def _pass_over(self) -> None:
        while self.connection and self._may_publish() and (source := self._source()):
            envelope = source.next(self.sent)
            if envelope is None:
                self.sent = max(self.sent, source.head)
                if source is self._recent:
                    break
            elif not self._takes(self.tenant_id, envelope.match_id):
                self.sent = envelope.seq
            elif self._young(envelope.at):
                break
            else:
                self.sent = envelope.seq
                if self.word.audience.ever:
                    self.word.gap()

    def rebound(self, bindings: Iterable[ExchangeBinding], *, followed: bool) -> None:
        """These are the tenant's bindings now. `followed`: every change since the last ones is known. Where
        it is not, queues of other names mean that there may have been none for a while; what was published
        just before the last one ended may have reached nobody."""
        audience = self.word.audience
        was_live, queues = audience.live, audience.queues
        audience.replace(bindings)
        replaced = not followed and queues and not queues & audience.queues
        ended = was_live and not audience.live and audience.ever
        if replaced or (ended and self._published_lately()):
            self.word.gap()
        if audience.live or audience.alive:
            self.word.hurried.set()
            self.pump()

    def _published_lately(self) -> bool:
        return bool(self._open) or time.monotonic() - self._published_at < DOUBT_MILLIS / 1000

    def attach(self, connection: Connection) -> None:
        """A fresh connection: begin again with what was never confirmed."""
        self.connection, self.trouble = connection, ""
        self.reachable.set()
        self.pump()

    def detach(self, why: str) -> None:
        """The connection is over, and whatever it had not confirmed may be lost."""
        self.connection, self.trouble = None, why
        self._rewind(self.cursor)

    def checkpointed(self, seq: int) -> None:
        """The store has `seq` as our cursor."""
        self.saved = seq
        while self._flights and self._flights[0].seq <= seq:
            self._flights.popleft()
        self.pump()

    def confirmed(self, tag: int, multiple: bool) -> None:
        for flight in self._landed(tag, multiple):
            feed_published.labels(flight.name).inc()
        if self.cursor > self.saved:
            self._moved(self)

    def refused(self, tag: int, multiple: bool) -> None:
        """The broker did not take it: offer it again, with all after it, and after some times let it go."""
        flights = self._landed(tag, multiple)
        if not flights:
            return
        seq = flights[0].seq
        times = self._refused[1] + 1 if self._refused[0] == seq else 1
        self._refused = (seq, times)
        if times < _REFUSALS:
            self._rewind(min(flights[0].before, self.cursor))
        else:
            self.word.missed()
            log.error("the broker keeps refusing an envelope; it is left out", tenant=self.slug, seq=seq)
        self.pump()

    def overrun(self, seq: int) -> None:
        """The tenant lags too far, or further than the log reaches: what lies before `seq` is lost to it."""
        log.error("the tenant lags too far and is moved on", tenant=self.slug, to=seq, seq=self.sent)
        self.sent = max(self.sent, seq)
        self.word.missed()

    def come_back(self, since: int) -> None:
        """The tenant is to be told again, after silence since then (ms)."""
        if self._stale(since):
            self.overrun(self._recent.head)

    def unblocked(self) -> None:
        self.pump()

    def _may_publish(self) -> bool:
        if self.closing or self.held_back:
            return False
        return len(self._flights) < self._window and self._lease.held

    def _source(self) -> Recent | None:
        """Where the next envelope is to be had, None when it must first be read again."""
        if self._recent.covers(self.sent):
            self.backlog = None
            return self._recent
        # It may have been asked for before a rewind, and begin too late now.
        if self.backlog and self.backlog.covers(self.sent) and self.sent < self.backlog.head:
            return self.backlog
        self._starved(self)
        return None

    def _publish(self, connection: Connection, envelope: Envelope) -> None:
        frames = envelope.frames
        if connection.frame_max < FRAME_MAX:
            frames = marshal(envelope.message, connection.frame_max)
        flight = _Flight(self.sent, envelope.seq, envelope.name)
        self._open[connection.publish(frames)] = flight
        self._flights.append(flight)
        self._published_at = time.monotonic()
        self.sent = envelope.seq

    def _landed(self, tag: int, multiple: bool) -> list[_Flight]:
        """Take the flights that an ack or nack names; tags from before a rewind are nobody's any more."""
        if not multiple:
            flight = self._open.pop(tag, None)
            return [flight] if flight else []
        tags = []
        for number in self._open:
            if number > tag:
                break
            tags.append(number)
        return [self._open.pop(number) for number in tags]

    def _rewind(self, place: int) -> None:
        """Go back to `place`, before which everything is confirmed."""
        self.sent = place
        self._open.clear()
        self.backlog = None
        while self._flights and self._flights[-1].seq > self.sent:
            self._flights.pop()
            feed_repeated.inc()
