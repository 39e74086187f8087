"""The bindings from our exchanges to a tenant's queues: which messages any queue would receive."""

import time
from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec

from app.amqp import routing
from app.broker.management import ExchangeBinding
from app.broker.permissions import SDK_EXCHANGE

DETECTION_MILLIS = 3_000  #: a change of the bindings is known after so long at most; see `binding_tracker`
_GRACE_SECONDS = 1.0  #: a client that binds several keys has bound all of them within so long
_Sections = Sequence[frozenset[str] | None]
_queues = msgspec.json.Decoder(list[str])


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
        """In how many seconds `alive` is due for an SDK that has just bound its queues; None for nobody."""
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
        """Where no `others` are bound, what passed meanwhile is known as lost already."""
        self._away += len(gone)
        back = min(self._away, len(came))
        self._away -= back
        if others:
            self.returned += back


@lru_cache(maxsize=4096)
def receives_live(pattern: str) -> bool:
    """Whether a binding with this pattern matches any live message about a match."""
    return _matches(pattern.split("."), routing.LIVE_SECTIONS)


@lru_cache(maxsize=4096)
def receives_alive(pattern: str) -> bool:
    """Whether a binding with this pattern matches `alive`."""
    return _matches(pattern.split("."), [frozenset({section}) for section in routing.ALIVE.split(".")])


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
