"""Who would receive what is published to a tenant: the bindings from our exchange to its queues."""

import time
from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec

from app.amqp import routing
from app.broker.management import ExchangeBinding

DOUBT_MILLIS = 3_000  #: so late at most a change of the bindings is known; see `bindings`
_GRACE_SECONDS = 1.0  #: within so long a client that binds several keys has bound them all
_Words = Sequence[frozenset[str] | None]
_queues = msgspec.json.Decoder(list[str])


class Audience:
    """The bindings of one tenant. Until `replace` they are not known, and everything counts as bound: what
    is in doubt is published. `noted` is what the store had, and is to have, of the live messages' queues, as
    JSON: "" before anything was ever bound."""

    def __init__(self, noted: str = "") -> None:
        self.noted = noted
        self.known = False
        self.any = self.live = self.alive = self._whole = True
        self._bindings: frozenset[ExchangeBinding] = frozenset()
        self._live_since = float("-inf")

    @property
    def bindings(self) -> frozenset[ExchangeBinding]:
        """As they are, empty while they are not known."""
        return self._bindings

    @property
    def ever(self) -> bool:
        """Whether live messages have ever been routed to a queue of the tenant."""
        return bool(self.noted)

    @property
    def queues(self) -> frozenset[str]:
        """The names of the queues that live messages are routed to, as they were noted last."""
        return frozenset(_queues.decode(self.noted)) if self.noted else frozenset()

    @property
    def reached(self) -> bool:
        """Whether who takes live messages takes `alive`, too, as far as can be seen: one queue does, or
        several had the time to be bound."""
        return self.live and self.alive and (self._whole or not self.grace)

    @property
    def grace(self) -> float:
        """For how many seconds a client may still be binding its queues, one key after the other."""
        if self._whole or not self.live:
            return 0.0
        return max(0.0, self._live_since + _GRACE_SECONDS - time.monotonic())

    def replace(self, bindings: Iterable[ExchangeBinding]) -> None:
        """These are the bindings now."""
        was_live = self.known and self.live
        self._bindings, self.known = frozenset(bindings), True
        live = {each.queue for each in self._bindings if takes_live(each.key)}
        self.any, self.live = bool(self._bindings), bool(live)
        alive = {each.queue for each in self._bindings if takes_alive(each.key)}
        self.alive, self._whole = bool(alive), bool(live & alive)
        if self.live and not was_live:
            self._live_since = time.monotonic()
        if live or self.noted:
            self.noted = msgspec.json.encode(sorted(live)).decode()


@lru_cache(maxsize=4096)
def takes_live(pattern: str) -> bool:
    """Whether a binding with this pattern takes any live message about a match."""
    return _matches(pattern.split("."), routing.LIVE_WORDS)


@lru_cache(maxsize=4096)
def takes_alive(pattern: str) -> bool:
    """Whether a binding with this pattern takes `alive`."""
    return _matches(pattern.split("."), [frozenset({word}) for word in routing.ALIVE.split(".")])


def _matches(pattern: Sequence[str], words: _Words) -> bool:
    """As a topic exchange has it: `*` is one word, `#` any number. Of each word these are those that may
    stand there, None for any."""
    reached = {0}
    for part in pattern:
        if part == "#":
            reached = set(range(min(reached), len(words) + 1)) if reached else reached
        else:
            reached = {at + 1 for at in reached if at < len(words) and _fits(part, words[at])}
    return len(words) in reached


def _fits(part: str, word: frozenset[str] | None) -> bool:
    return part == "*" or word is None or part in word
