"""The loss notice of a tenant: `alive subscribed="0"`, after which its clients recover; and the bindings from
our exchanges to its queues, which show what any queue would receive.

The notice is shared by the tenant's publisher, which records here what was lost and waits while the notice
must come first, and by `alive`, which publishes the notice. As each notice starts a recovery, losses soon
after a notice about losses share the next one. An unbound loss (what was published, or would have been,
while no queue of the tenant was bound to it) does not wait: its notice is published as soon as `alive`
reaches a queue again, before anything newer.
"""

import asyncio
import time
from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec

from app.amqp.envelope import ALIVE_KEY, LIVE_SECTIONS
from app.broker.management import ExchangeBinding
from app.broker.permissions import SDK_EXCHANGE
from app.store.cursors import LeasedTenant

DETECTION_MILLIS = 3_000  #: a change of the bindings is known after so long at most; see `binding_tracker`
_GRACE_SECONDS = 1.0  #: a client that binds several keys has bound all of them within so long
_Sections = Sequence[frozenset[str] | None]
_queues = msgspec.json.Decoder(list[str])
_OVERFLOW_HOLDOFF_BEATS = 6  #: intervals of `alive` between two notices of one vhost's overflows
_OVERDUE_BEATS = 2  #: after so many intervals without `alive` clients consider us down
_LOSS_HOLDOFF_BEATS = 3  #: intervals of `alive` between two notices about losses


class TenantBindings:
    """The bindings of one tenant. Until `replace` they are not known, and everything counts as bound: in
    doubt a message is published. `recorded` is what the store has, or will have, of the queues of live
    messages, as JSON: "" before any queue was ever bound.

    SDKs, which bind to an exchange of their own, obey `alive` in another queue than that of live messages,
    and request their first recovery when it comes.

    A queue of live messages that ends, and one that is bound later, while others are bound, are those of a
    client that was away: `returned` counts these.
    """

    def __init__(self, recorded: str = "") -> None:
        self.recorded = recorded
        self.known = False
        self.any = self.routes_live = self.routes_alive = self._one_queue = True
        self._bindings: frozenset[ExchangeBinding] = frozenset()
        self.returned = self._away = 0
        self._live_since = float("-inf")
        self._alive_due_at: float | None = None

    @property
    def current(self) -> frozenset[ExchangeBinding]:
        """The bindings, empty while they are not known."""
        return self._bindings

    @property
    def ever_live(self) -> bool:
        """Whether live messages have ever been routed to a queue of the tenant."""
        return bool(self.recorded)

    @property
    def queues(self) -> frozenset[str]:
        """The names of the queues that live messages are routed to, as recorded last."""
        return frozenset(_queues.decode(self.recorded)) if self.recorded else frozenset()

    @property
    def notice_reaches_consumer(self) -> bool:
        """Whether the consumer of live messages receives `alive`, too, as far as can be seen: one queue
        receives both, or several queues had the time to be bound."""
        return self.routes_live and self.routes_alive and (self._one_queue or not self.grace)

    @property
    def alive_wait(self) -> float | None:
        """In how many seconds `alive` is due for an SDK that has just bound its queues; None if none has."""
        return None if self._alive_due_at is None else max(0.0, self._alive_due_at - time.monotonic())

    def alive_published(self) -> None:
        """`alive` reached all present queues."""
        if self.alive_wait == 0:
            self._alive_due_at = None

    @property
    def grace(self) -> float:
        """For how many seconds a client may still be binding its queues, one key after the other."""
        if self._one_queue or not self.routes_live:
            return 0.0
        return max(0.0, self._live_since + _GRACE_SECONDS - time.monotonic())

    def replace(self, bindings: Iterable[ExchangeBinding]) -> None:
        """Set the present bindings."""
        was_live, was_known, before = self.known and self.routes_live, self.known, self._bindings
        self._bindings, self.known = frozenset(bindings), True
        of_sdks = {each for each in self._bindings if each.source == SDK_EXCHANGE}
        live = frozenset([each.queue for each in self._bindings if receives_live(each.key)])
        self.any, self.routes_live = bool(self._bindings), bool(live)
        alive = {each.queue for each in self._bindings if receives_alive(each.key)}
        self.routes_alive, self._one_queue = bool(alive), bool(live & alive) and not of_sdks
        known = self.queues
        came = live - known
        if self.routes_live and (not was_live or came or of_sdks - before):
            self._live_since = time.monotonic()
        self._count_returned(came, known - live, others=bool(known & live))
        if not of_sdks:
            self._alive_due_at = None
        elif was_known and any(receives_alive(each.key) for each in of_sdks - before):
            self._alive_due_at = time.monotonic() + _GRACE_SECONDS
        if live or self.recorded:
            self.recorded = msgspec.json.encode(sorted(live)).decode()

    def _count_returned(self, came: frozenset[str], gone: frozenset[str], *, others: bool) -> None:
        """Where no `others` are bound, what was published meanwhile counts as lost already."""
        self._away += len(gone)
        back = min(self._away, len(came))
        self._away -= back
        if others:
            self.returned += back


@lru_cache(maxsize=4096)
def receives_live(pattern: str) -> bool:
    """Whether a binding with this pattern matches any live message about a match."""
    return _matches(pattern.split("."), LIVE_SECTIONS)


@lru_cache(maxsize=4096)
def receives_alive(pattern: str) -> bool:
    """Whether a binding with this pattern matches `alive`."""
    return _matches(pattern.split("."), [frozenset({section}) for section in ALIVE_KEY.split(".")])


def _matches(pattern: Sequence[str], sections: _Sections) -> bool:
    """As a topic exchange matches: `*` is one section, `#` any number. `sections` are the possible values of
    each, None for any."""
    reached = {0}
    for part in pattern:
        if part == "#":
            reached = set(range(min(reached), len(sections) + 1)) if reached else reached
        else:
            reached = {at + 1 for at in reached if at < len(sections) and _fits(part, sections[at])}
    return len(sections) in reached


def _fits(part: str, section: frozenset[str] | None) -> bool:
    return part == "*" or section is None or part in section


class LossNotice:
    """`alive` is due every `alive_seconds`. `lost` counts what was lost to the tenant, `dropped` what its own
    queues lost; `withheld`: a notice of these comes later. `notified_heartbeat` is the last ingest heartbeat
    of the outage that the tenant was notified of (-1: none); `refused_at` is when the last refused recovery
    that is due became due, `notified_refused_at` the last that the tenant was notified of (ms by the
    database's clock, 0: none). `unbound_losses` counts what no queue of the
    tenant received, `bindings` are the present ones. `wake` is set when something may have to be published
    before the next interval."""

    def __init__(self, tenant: LeasedTenant, alive_seconds: float) -> None:
        self.alive_seconds = alive_seconds
        self.bindings = TenantBindings(tenant.bound_queues)
        self.lost, self.dropped, self.withheld, self.unbound_losses = 0, tenant.dropped, False, 0
        self.notified_heartbeat = tenant.notified_heartbeat
        self.refused_at = self.notified_refused_at = 0
        self.wake = asyncio.Event()
        self._alive_at = time.monotonic() - tenant.silent / 1000
        self._notified_lost, self._notified_lost_at, self._notified_unbound = 0, float("-inf"), 0
        if tenant.notice_pending:
            self.record_unbound_loss()

    @property
    def silent(self) -> int:
        """For how many ms `alive` has not been published."""
        return round((time.monotonic() - self._alive_at) * 1000)

    @property
    def overdue(self) -> bool:
        """Whether `alive` has been missing for so long that clients consider us down."""
        return time.monotonic() - self._alive_at > _OVERDUE_BEATS * self.alive_seconds

    @property
    def losses_pending(self) -> bool:
        """Whether something was lost, or a recovery refused, of which the tenant has not been notified."""
        return self.lost > self._notified_lost or self.refused_at > self.notified_refused_at

    @property
    def holdoff(self) -> float:
        """For how many seconds no further notice about losses is published."""
        return max(0.0, self._notified_lost_at + _LOSS_HOLDOFF_BEATS * self.alive_seconds - time.monotonic())

    @property
    def must_notify_first(self) -> bool:
        """Whether the tenant must be notified of an outage or a loss before anything else is published. While
        nothing is bound there is nobody to notify: the notice waits, and the cursor does not wait for it."""
        if not self.bindings.any:
            return False
        if self.overdue or (self.losses_pending and not self.holdoff):
            return True
        return self._unbound_loss_pending and self.bindings.notice_reaches_consumer

    @property
    def awaits_bindings(self) -> bool:
        """Whether nothing may be published yet: the notice of an unbound loss comes first, and the client is
        still binding its queues."""
        return self._unbound_loss_pending and self.bindings.grace > 0

    @property
    def pending(self) -> bool:
        """Whether there is a loss of which to notify the tenant, now or later."""
        return self.lost > self._notified_lost or self._unbound_loss_pending or self.withheld

    def pause(self, left: float) -> float:
        """For how many seconds of those `left` nothing more is to be published, as far as can be seen."""
        if grace := self.bindings.grace:
            left = min(left, grace)
        if (wait := self.bindings.alive_wait) is not None:
            left = min(left, wait)
        return min(left, self.holdoff) if self.losses_pending else left

    @property
    def _unbound_loss_pending(self) -> bool:
        return self.unbound_losses > self._notified_unbound

    def is_due(self, dead_heartbeat: int | None) -> bool:
        """Whether to publish the notice now; `dead_heartbeat` is ingest's last while no worker is alive."""
        return self.must_notify_first or dead_heartbeat not in (None, self.notified_heartbeat)

    def record_loss(self) -> None:
        """Something was lost to the tenant, which must be notified."""
        self.lost += 1
        self.wake.set()

    def record_refused_recovery(self, due_at: int) -> None:
        """A recovery was refused, and could be requested again from `due_at` on. Nothing was lost, but only a
        notice makes the client request it."""
        self.refused_at = max(self.refused_at, due_at)
        self.wake.set()

    def record_unbound_loss(self) -> None:
        """A live message was published, or would have been, while no queue of the tenant was bound to it."""
        self.unbound_losses += 1
        self.wake.set()

    def alive_skipped(self) -> None:
        """`alive` was due, and no queue is bound that would receive it, or it is withheld for REST."""
        self._alive_at = time.monotonic()

    def alive_published(
        self,
        *,
        subscribed: bool,
        lost: int,
        dead_heartbeat: int | None,
        unbound_losses: int = 0,
        refused_at: int = 0,
    ) -> None:
        """`alive` was published. The rest is as it was when that was rendered, `unbound_losses` 0 where the
        consumer of live messages may not have received it."""
        if not subscribed:
            self._notified_unbound = max(self._notified_unbound, unbound_losses)
            if lost > self._notified_lost or refused_at > self.notified_refused_at:
                self._notified_lost, self._notified_lost_at = lost, time.monotonic()
                self.notified_refused_at = max(self.notified_refused_at, refused_at)
            if dead_heartbeat is not None:
                self.notified_heartbeat = dead_heartbeat
        if not (subscribed and self.overdue):  # one that comes so late does not describe the present
            self._alive_at = time.monotonic()


class OverflowNotices:
    """Decides when to notify a tenant of what its queues have lost; `alive` is due every `alive_seconds`.

    `subscribed="0"` goes to all queues of the vhost, and each makes its clients recover. So it is sent when
    an overflow begins, again after its last loss, and in between only where a consumer is slow: not for a
    queue that nobody reads. Two notices are some intervals of `alive` apart.
    """

    def __init__(self, alive_seconds: float) -> None:
        self._holdoff = _OVERFLOW_HOLDOFF_BEATS * alive_seconds
        self._losing = self._pending = False
        self._notified_at = float("-inf")

    def is_due(self, lost: int, slow: bool, now: float) -> bool:
        """Whether to notify now, after so many were `lost` since the last call. `slow`: a queue with
        consumers is far behind."""
        begins = lost > 0 and not self._losing
        self._losing = lost > 0
        self._pending = self._pending or self._losing
        if not self._pending or now - self._notified_at < self._holdoff:
            return False
        if not (begins or slow or not lost):
            return False
        self._pending, self._notified_at = False, now
        return True

    @property
    def pending(self) -> bool:
        """Whether the tenant has not been notified of the last losses yet."""
        return self._pending
