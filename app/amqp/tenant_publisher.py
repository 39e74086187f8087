"""Publishes to one tenant: what is published, what is confirmed, what is saved.

    saved ≤ cursor ≤ sent       (numbers of the change log)

Everything up to `sent` has been published or skipped, everything up to `cursor` is also confirmed, and
`saved` is the cursor in the store, from which another process would continue. At most `window` envelopes are
beyond `saved`.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable
from functools import cache
from uuid import UUID

from app.amqp.connection import PublisherConnection
from app.amqp.delivery_samples import DeliverySamples, TenantSamples
from app.amqp.envelope import Envelope
from app.amqp.frames import FRAME_MAX, marshal
from app.amqp.lease import LeaseDeadline
from app.amqp.loss_notice import DETECTION_MILLIS, LossNotice
from app.amqp.publishers import RecentEnvelopes
from app.amqp.tenant_channels import LiveDelay, TenantChannels
from app.broker.management import ExchangeBinding
from app.domain.tenant_offer import NO_CHANGES, TenantOffer
from app.kit.logging import get_logger
from app.kit.metrics import feed_published, feed_repeated, message_delay, publish_delay
from app.store.changes import BET_STOP
from app.store.cursors import Checkpoint, LeasedTenant, TenantReport

_MAX_REJECTIONS = 3  #: how often one envelope is published to a broker that rejects it
_published = cache(feed_published.labels)  #: the counter of a message's name, which is slow to look up
log = get_logger(__name__)


class PublishedEnvelope:
    """A published envelope: its seq, its name, when it was published (by the monotonic clock), and the seq
    that the publisher had reached before it; its timestamp, and when the log lines behind it arrived (Unix
    ms, 0 if none did); the `families` of the results in it."""

    __slots__ = ("arrived_at", "at", "before", "families", "name", "seq", "stamp")

    def __init__(self, before: int, envelope: Envelope, at: float) -> None:
        self.before = before
        self.seq = envelope.seq
        self.name = envelope.name
        self.at = at
        self.stamp = envelope.at
        self.arrived_at = envelope.arrived_at
        self.families = envelope.families

    def observe_confirm(self, now: float, samples: TenantSamples) -> None:
        """Count it, and how long it took until `now` (Unix ms). Clocks of machines may differ a little."""
        _published(self.name).inc()
        publish_delay.observe(max(0.0, now - self.stamp) / 1000)
        if self.arrived_at:
            seconds = max(0.0, now - self.arrived_at) / 1000
            message_delay.observe(seconds)
            samples.delayed(seconds, self.families)


class TenantPublisher:
    """Publishes to one tenant, from memory while it keeps up and from its own `backlog` while it lags.

    `served`: there was a connection to the tenant's vhost; `attached` is set when there is a new one.
    `releasing`: the tenant is given to another process, or is lost to one; nothing is published any more but
    `alive`, until the lease ends. `request_backlog` is called when neither has the next envelope,
    `cursor_moved` when the cursor may have moved. `is_booked` returns whether the tenant receives a match
    at a place in the change log, `receives_probabilities` whether it receives probabilities with the odds,
    `receives_bet_stop` whether it receives this message, `live` measures how long confirms take, `samples`
    counts what is confirmed, `is_stale` whether an envelope with that timestamp (ms) is too old to publish;
    the cursor is then moved to the present.

    While no queue of the tenant is bound to live messages, none is published: the cursor moves past each
    envelope once it is no longer young (`is_young`: a queue may be bound in time for it). If a queue was ever
    bound, what was skipped is an unbound loss. Nothing here waits or raises.
    """

    def __init__(
        self,
        tenant: LeasedTenant,
        notice: LossNotice,
        *,
        window: int,
        lease: LeaseDeadline,
        recent: RecentEnvelopes,
        is_booked: Callable[[UUID, UUID, int], bool],
        request_backlog: Callable[["TenantPublisher"], None],
        cursor_moved: Callable[["TenantPublisher"], None],
        is_stale: Callable[[int], bool] = lambda _: False,
        is_young: Callable[[int], bool] = lambda _: False,
        receives_probabilities: Callable[[UUID], bool] = lambda _: False,
        receives_bet_stop: Callable[[UUID], bool] = lambda _: False,
        live: LiveDelay | None = None,
        samples: TenantSamples | None = None,
    ) -> None:
        self.tenant_id, self.slug, self.epoch = tenant.tenant_id, tenant.slug, tenant.epoch
        self.vhost = tenant.vhost
        self.sent = self.saved = tenant.seq
        self.backlog: RecentEnvelopes | None = None
        self.connection: PublisherConnection | None = None
        self.channels: TenantChannels | None = None
        self.last_error = "not connected yet"
        self.notice, self.bindings = notice, notice.bindings
        self.attached = asyncio.Event()
        self.releasing = self.served = False
        self.offer: TenantOffer = NO_CHANGES
        self._window, self._lease, self._recent = window, lease, recent
        self._is_booked, self._request_backlog = is_booked, request_backlog
        self._cursor_moved = cursor_moved
        self._is_stale, self._is_young = is_stale, is_young
        self._receives_probabilities, self._live = receives_probabilities, live
        self._receives_bet_stop = receives_bet_stop
        self.samples = samples or TenantSamples(DeliverySamples(), tenant.tenant_id, tenant.epoch)
        self._published_at = float("-inf")
        self._unsaved: deque[PublishedEnvelope] = deque()
        self._unconfirmed: dict[int, PublishedEnvelope] = {}
        self._rejected: tuple[int, int] = (0, 0)

    @property
    def cursor(self) -> int:
        """Up to here everything is confirmed, or not for this tenant."""
        return next(iter(self._unconfirmed.values())).before if self._unconfirmed else self.sent

    @property
    def unsaved(self) -> int:
        """How many envelopes are published beyond `saved`: what a crash now would repeat at most."""
        return len(self._unsaved)

    @property
    def healthy(self) -> bool:
        """Whether what happens now would reach the tenant's vhost."""
        return self.connection is not None and self.connection.writable and self._lease.held

    @property
    def leased(self) -> bool:
        """Whether this process certainly holds the tenant: nothing is published without."""
        return self._lease.held

    @property
    def waiting_since(self) -> float | None:
        """Since when (by the monotonic clock) a live message waits for its confirm; None while none does, or
        the broker is blocked."""
        if not self._unconfirmed or self.connection is None or self.connection.blocked:
            return None
        return next(iter(self._unconfirmed.values())).at

    @property
    def awaits_notice(self) -> bool:
        """Whether the tenant must first be notified of an outage or a loss: it recovers from the last message
        that it received."""
        return self.notice.must_notify_first or self.notice.awaits_bindings

    @property
    def report(self) -> TenantReport:
        """What the store records of the tenant beside its cursor."""
        notice = self.notice
        return TenantReport(
            self.state,
            notice.silent,
            notice.dropped,
            notice.notified_heartbeat,
            notice.pending,
            self.bindings.recorded,
        )

    @property
    def checkpoint(self) -> Checkpoint:
        """What the store must have before our cursor counts as saved."""
        return Checkpoint(self.epoch, self.cursor, self.notice.pending)

    @property
    def state(self) -> str:
        """The state of the tenant's connection, in a few words; "" while it works."""
        if self.connection is None:
            return self.last_error
        return f"blocked by the broker: {self.connection.blocked}" if self.connection.blocked else ""

    @property
    def unconfirmed(self) -> int:
        """How many envelopes and replayed messages the broker has not confirmed on the present connection."""
        return len(self._unconfirmed) + (self.channels.replayed.unconfirmed if self.channels else 0)

    @property
    def drained(self) -> bool:
        """Nothing is unconfirmed and the store has our cursor: the tenant may be released. The next holder
        does not fence us then, so what is written and in no queue yet could follow its messages."""
        return not self.unconfirmed and self.cursor == self.saved

    def pump(self) -> None:
        """Publish what there is, as far as window, lease and connection allow."""
        if self.bindings.routes_live:
            self._publish_next()
        else:
            self._skip_next()
        if self.cursor > self.saved:
            self._cursor_moved(self)

    def _publish_next(self) -> None:
        if connection := self.connection:
            connection.cork()
            try:
                self._publish_ready(connection)
            finally:
                connection.uncork()

    def _publish_ready(self, connection: PublisherConnection) -> None:
        while connection.writable and (envelope := self._next()):
            if self._is_stale(envelope.at):
                self.skip_to(max(self._recent.head, envelope.seq))
            elif envelope.frames:
                self._publish(connection, envelope)
            else:  # it could not be rendered
                self.sent = envelope.seq
                self.notice.record_loss()

    def _skip_next(self) -> None:
        while self.connection and (envelope := self._next()):
            if self._is_young(envelope.at):
                break
            self.sent = envelope.seq
            if self.bindings.ever_live:
                self.notice.record_unbound_loss()

    def _next(self) -> Envelope | None:
        """The next envelope that the tenant receives; None while there is none, or it may not be published.
        Those before it, of which it receives nothing, are passed over."""
        while self._may_publish() and (source := self._source()):
            envelope = source.next(self.sent)
            if envelope is None:
                self.sent = max(self.sent, source.head)
                if source is self._recent:
                    break
            elif self._receives(envelope):
                return envelope
            else:
                self.sent = envelope.seq
        return None

    def update_bindings(self, present: Iterable[ExchangeBinding], *, complete: bool) -> None:
        """Set the tenant's bindings. `complete`: every change since the last update is known. If not, queues
        with other names mean that there may have been none for a while; what was published just before the
        last binding ended may have reached no queue. A queue of a client that was away is a loss, whatever
        else is bound."""
        bindings = self.bindings
        was_live, queues, returned = bindings.routes_live, bindings.queues, bindings.returned
        bindings.replace(present)
        replaced = not complete and queues and not queues & bindings.queues
        ended = was_live and not bindings.routes_live and bindings.ever_live
        if replaced or bindings.returned > returned or (ended and self._published_lately()):
            self.notice.record_unbound_loss()
        if bindings.routes_live or bindings.routes_alive:
            self.notice.wake.set()
            self.pump()

    def _published_lately(self) -> bool:
        since = time.monotonic() - self._published_at
        return bool(self._unconfirmed) or since < DETECTION_MILLIS / 1000

    def attach(self, connection: PublisherConnection, channels: TenantChannels | None = None) -> None:
        """Use a new connection, with its `channels`: publish again what was never confirmed."""
        self.connection, self.channels, self.last_error = connection, channels, ""
        self.served = True
        self.attached.set()
        self.pump()

    def detach(self, why: str) -> None:
        """The connection is closed, and whatever it had not confirmed may be lost."""
        self.connection, self.channels, self.last_error = None, None, why
        self._rewind(self.cursor)

    def checkpointed(self, seq: int) -> None:
        """The store has `seq` as our cursor."""
        self.saved = seq
        while self._unsaved and self._unsaved[0].seq <= seq:
            self._unsaved.popleft()
        self.pump()

    def confirmed(self, tag: int, multiple: bool) -> None:
        entries = self._resolve(tag, multiple)
        now = time.time() * 1000
        for entry in entries:
            entry.observe_confirm(now, self.samples)
        if entries:
            self.samples.confirmed(len(entries), max(0.0, now - min(each.stamp for each in entries)))
            if self._live:
                self._live.confirmed(entries[0].at)
        if self.cursor > self.saved:
            self._cursor_moved(self)

    def rejected(self, tag: int, multiple: bool) -> None:
        """The broker rejected it (basic.nack): publish it again, with all after it, and skip it after some
        attempts."""
        entries = self._resolve(tag, multiple)
        if not entries:
            return
        seq = entries[0].seq
        times = self._rejected[1] + 1 if self._rejected[0] == seq else 1
        self._rejected = (seq, times)
        if times < _MAX_REJECTIONS:
            self._rewind(min(entries[0].before, self.cursor))
        else:
            self.notice.record_loss()
            log.error("the broker rejects an envelope repeatedly; it is skipped", tenant=self.slug, seq=seq)
        self.pump()

    def skip_to(self, seq: int) -> None:
        """The tenant lags too far, or further than the log reaches: what is before `seq` is lost to it."""
        log.error("the tenant lags too far; its cursor is moved", tenant=self.slug, to=seq, seq=self.sent)
        self.sent = max(self.sent, seq)
        self.notice.record_loss()

    def resume(self, silent_since: int) -> None:
        """Publishing resumes, after silence since then (ms)."""
        if self._is_stale(silent_since):
            self.skip_to(self._recent.head)

    def unblocked(self) -> None:
        self.pump()

    def _may_publish(self) -> bool:
        if self.releasing or self.awaits_notice:
            return False
        return len(self._unsaved) < self._window and self._lease.held

    def _receives(self, envelope: Envelope) -> bool:
        """Whether it is for this tenant: of a match that was booked then, not for another one alone, and no
        `bet_stop` that it has not requested."""
        if envelope.tenant_id is not None and envelope.tenant_id != self.tenant_id:
            return False
        if envelope.name == BET_STOP and not self._receives_bet_stop(self.tenant_id):
            return False
        return self._is_booked(self.tenant_id, envelope.match_id, envelope.seq)

    def _source(self) -> RecentEnvelopes | None:
        """Where the next envelope is, None when it must be read first."""
        if self._recent.covers(self.sent):
            self.backlog = None
            return self._recent
        # It may have been requested before a rewind, and begin too late now.
        if self.backlog and self.backlog.covers(self.sent) and self.sent < self.backlog.head:
            return self.backlog
        self._request_backlog(self)
        return None

    def _publish(self, connection: PublisherConnection, envelope: Envelope) -> None:
        message, frames = envelope.message, envelope.frames
        if envelope.variants is not None:
            detailed = self._receives_probabilities(self.tenant_id)
            if detailed or self.offer:
                message, frames = envelope.rendered_for(self.offer, probabilities=detailed)
        if connection.frame_max < FRAME_MAX:
            frames = marshal(message, connection.frame_max)
        self._published_at = time.monotonic()
        entry = PublishedEnvelope(self.sent, envelope, self._published_at)
        self._unconfirmed[connection.publish(frames)] = entry
        self._unsaved.append(entry)
        self.sent = envelope.seq

    def _resolve(self, tag: int, multiple: bool) -> list[PublishedEnvelope]:
        """Remove and return the entries that an ack or nack names; tags from before a rewind have none."""
        if not multiple:
            entry = self._unconfirmed.pop(tag, None)
            return [entry] if entry else []
        tags = []
        for number in self._unconfirmed:
            if number > tag:
                break
            tags.append(number)
        return [self._unconfirmed.pop(number) for number in tags]

    def _rewind(self, place: int) -> None:
        """Go back to `place`, before which everything is confirmed."""
        self.sent = place
        self._unconfirmed.clear()
        self.backlog = None
        while self._unsaved and self._unsaved[-1].seq > self.sent:
            self._unsaved.pop()
            feed_repeated.inc()
