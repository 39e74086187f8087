"""Bodies kept rendered, so that what is asked for often is read from the database once for each change.

A body is kept under who asked for what in which form, and is about something: a match, `LISTS`, `NOTHING`.
Whoever writes says so in the transaction (`store.shown`), and every body about it is dropped when that is
heard. What was read before a change was heard is never kept after it; while nothing can be heard, nothing
is kept nor found. A body is so at most as old as a signal takes; two seconds, should the connection die
without a word.

A route takes part when its `opt` has `kept`: what of a grant the answer depends on, as a function of grant
and format. Its handler says what its answer is about: `answer.as_json(view, about=match.id)`.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from sys import getsizeof
from uuid import UUID

import msgspec
from litestar.types import Scope

from app.domain.tenant import Grant
from app.http.media import Format
from app.http.sending import Body
from app.store import cache_invalidation, notifications
from app.store.cache_invalidation import MatchInvalidation
from app.store.connections import Store

LISTS = UUID(int=0)  #: what lists of matches are about: any row of them
NOTHING = UUID(int=1)  #: what an answer is about that depends on its key only
_OVERHEAD = 2048  #: bytes of a body beside its text and the address that it is kept under
_REMEMBERED = 8192
_KEY = "matchfeed.keeping"
Key = Hashable
Seen = Callable[[Grant, Format], Hashable]  #: what of a grant an answer in that format depends on


class _Keeping(msgspec.Struct, frozen=True, eq=False):
    """A body that is being made: under which `key` it may be kept, and since when its reading goes on."""

    kept: "Bodies"
    key: Key
    began: int


class Bodies:
    """The bodies of one process, bounded in memory; the least used go first. `run` it to keep any."""

    def __init__(self, store: Store, most_bytes: int) -> None:
        self._store = store
        self._most_bytes = most_bytes
        self._listening = False
        self._bodies: OrderedDict[Key, tuple[Body, UUID]] = OrderedDict()
        self._keys: dict[UUID, set[Key]] = {}
        self._bytes = 0
        #: Counts what was heard; by subject, when it was heard of last, back to `_floor`.
        self._moment = 0
        self._changed: OrderedDict[UUID, int] = OrderedDict()
        self._floor = 0
        #: What each match was last known to show in lists.
        self._rows: dict[UUID, str] = {}

    async def run(self) -> None:
        """Hear of changes, until cancelled."""
        async for payload in notifications.listen(self._store, cache_invalidation.CHANNEL, self.hearing):
            self.heard(payload)

    def find(self, key: Key) -> Body | None:
        found = self._bodies.get(key)
        if found is None:
            return None
        self._bodies.move_to_end(key)
        return found[0]

    def begin(self, scope: Scope, key: Key) -> None:
        """Note that a body is going to be made for this request; before anything is read for it."""
        scope["state"][_KEY] = _Keeping(self, key, self._moment)

    def put(self, key: Key, began: int, body: Body, about: UUID) -> None:
        """Keep a body, unless what it is `about` has changed since it was begun."""
        outdated = began < self._floor or self._changed.get(about, 0) > began
        if outdated or not self._listening or _size(key, body) > self._most_bytes:
            return
        self._drop(key)
        self._bodies[key] = body, about
        self._keys.setdefault(about, set()).add(key)
        self._bytes += _size(key, body)
        while self._bytes > self._most_bytes:
            self._drop(next(iter(self._bodies)))

    def heard(self, payload: str) -> None:
        """Forget what a signal is about; one without payload is about everything."""
        told = MatchInvalidation.parse(payload)
        if told is None:
            self._forget()
            return
        self._note(told.match_id)
        if self._rows.get(told.match_id) != told.row:
            if len(self._rows) >= _REMEMBERED:
                self._rows.clear()
            self._rows[told.match_id] = told.row
            self._note(LISTS)

    def hearing(self, up: bool) -> None:
        """Changes are heard of from now on, or not any more: either way some may have been missed."""
        self._listening = up
        self._forget()

    def _note(self, about: UUID) -> None:
        self._moment += 1
        self._changed[about] = self._moment
        self._changed.move_to_end(about)
        if len(self._changed) > _REMEMBERED:
            _, self._floor = self._changed.popitem(last=False)
        for key in list(self._keys.get(about, ())):
            self._drop(key)

    def _forget(self) -> None:
        self._moment += 1
        self._floor = self._moment
        self._changed.clear()
        self._rows.clear()
        self._bodies.clear()
        self._keys.clear()
        self._bytes = 0

    def _drop(self, key: Key) -> None:
        found = self._bodies.pop(key, None)
        if found is not None:
            body, about = found
            self._bytes -= _size(key, body)
            keys = self._keys[about]
            keys.discard(key)
            if not keys:
                del self._keys[about]


def known(scope: Scope, key: Key) -> Body | None:
    """A body that the handler keeps under a `key` of its own, for several kinds of callers at once."""
    making: _Keeping | None = scope["state"].get(_KEY)
    return making.kept.find(key) if making is not None else None


def share(scope: Scope, key: Key, body: Body, about: UUID) -> None:
    """Keep the body of this request for `known`."""
    making: _Keeping | None = scope["state"].get(_KEY)
    if making is not None:
        making.kept.put(key, making.began, body, about)


def done(scope: Scope, body: Body, about: UUID) -> None:
    """The body of this request has been made; it is kept if its route keeps bodies."""
    making: _Keeping | None = scope["state"].get(_KEY)
    if making is not None:
        making.kept.put(making.key, making.began, body, about)


def _size(key: Key, body: Body) -> int:
    """Its text, and as much again as it may take zipped; and the address, which callers may make long."""
    address = key if isinstance(key, tuple) else ()
    told = sum(getsizeof(part) for part in address if isinstance(part, (str, bytes)))
    return len(body.plain) * 5 // 4 + told + _OVERHEAD
