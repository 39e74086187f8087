"""The response cache: rendered bodies, so that a frequent read costs one database read per change.

A body is stored under listener, path, query, format and what of the grant it depends on, and has a subject:
a match, `MATCH_LISTS` or `NOTHING`. Each writer sends NOTIFY in its transaction
(`store.notifications`), on which every body of that subject is dropped. A body whose reading began
before a notification is never stored after it. Nothing is stored or returned while the LISTEN connection is
down. A cached body is therefore as old as a notification takes, at most; two seconds if the connection dies
silently.

A route is cached if its `opt` has `cached_per`: what of a grant the response depends on, as a function of
grant and format. Its handler names the subject: `response.as_json(view, invalidated_by=match.id)`.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from sys import getsizeof
from uuid import UUID

import msgspec
from litestar.types import Scope

from app.domain.tenant import Grant
from app.http.representation import Format, ResponseBody
from app.store import notifications
from app.store.connections import Store
from app.store.notifications import MatchInvalidation

MATCH_LISTS = UUID(int=0)  #: the subject of lists of matches: changes with any of their rows
NOTHING = UUID(int=1)  #: the subject of responses that depend on the key alone: never changes
_OVERHEAD = 2048  #: bytes of an entry beside its body and its path
_REMEMBERED = 8192
_KEY = "matchfeed.pending_cache_entry"
Key = Hashable
CachedPer = Callable[[Grant, Format], Hashable]  #: what of a grant a response in that format depends on


class _PendingEntry(msgspec.Struct, frozen=True, eq=False):
    """A body that is being rendered: the `key` under which it may be stored, and the cache's clock when its
    reading began."""

    cache: "ResponseCache"
    key: Key
    began: int


class ResponseCache:
    """The cached bodies of one process, bounded in memory; the least recently used are evicted first. Stores
    nothing unless `run` is running."""

    def __init__(self, store: Store, max_bytes: int) -> None:
        self._store = store
        self._max_bytes = max_bytes
        self._listening = False
        self._bodies: OrderedDict[Key, tuple[ResponseBody, UUID]] = OrderedDict()
        self._keys: dict[UUID, set[Key]] = {}
        self._bytes = 0
        #: A clock that counts notifications; when each subject last changed, complete since `_floor`.
        self._now = 0
        self._changed: OrderedDict[UUID, int] = OrderedDict()
        self._floor = 0
        #: The digest of each match's row in lists, as last notified.
        self._rows: dict[UUID, str] = {}

    async def run(self) -> None:
        """Listen for changes until cancelled."""
        async for payload in notifications.listen(self._store, notifications.SHOWN, self.set_listening):
            self.invalidate(payload)

    def get(self, key: Key) -> ResponseBody | None:
        found = self._bodies.get(key)
        if found is None:
            return None
        self._bodies.move_to_end(key)
        return found[0]

    def begin(self, scope: Scope, key: Key) -> None:
        """Note, before anything is read, that this request's body may be stored under `key`."""
        scope["state"][_KEY] = _PendingEntry(self, key, self._now)

    def put(self, key: Key, began: int, body: ResponseBody, subject: UUID) -> None:
        """Store a body, unless its subject has changed since `began`."""
        outdated = began < self._floor or self._changed.get(subject, 0) > began
        if outdated or not self._listening or _size(key, body) > self._max_bytes:
            return
        self._drop(key)
        self._bodies[key] = body, subject
        self._keys.setdefault(subject, set()).add(key)
        self._bytes += _size(key, body)
        while self._bytes > self._max_bytes:
            self._drop(next(iter(self._bodies)))

    def invalidate(self, payload: str) -> None:
        """Drop what a notification invalidates; one without payload invalidates everything."""
        change = MatchInvalidation.parse(payload)
        if change is None:
            self._clear()
            return
        self._drop_subject(change.match_id)
        if self._rows.get(change.match_id) != change.row:
            if len(self._rows) >= _REMEMBERED:
                self._rows.clear()
            self._rows[change.match_id] = change.row
            self._drop_subject(MATCH_LISTS)

    def set_listening(self, up: bool) -> None:
        """The LISTEN connection is up, or down: either way notifications may have been missed."""
        self._listening = up
        self._clear()

    def _drop_subject(self, subject: UUID) -> None:
        self._now += 1
        self._changed[subject] = self._now
        self._changed.move_to_end(subject)
        if len(self._changed) > _REMEMBERED:
            _, self._floor = self._changed.popitem(last=False)
        for key in list(self._keys.get(subject, ())):
            self._drop(key)

    def _clear(self) -> None:
        self._now += 1
        self._floor = self._now
        self._changed.clear()
        self._rows.clear()
        self._bodies.clear()
        self._keys.clear()
        self._bytes = 0

    def _drop(self, key: Key) -> None:
        found = self._bodies.pop(key, None)
        if found is not None:
            body, subject = found
            self._bytes -= _size(key, body)
            keys = self._keys[subject]
            keys.discard(key)
            if not keys:
                del self._keys[subject]


def get_shared(scope: Scope, key: Key) -> ResponseBody | None:
    """A body that the handler stored under a `key` of its own, for several kinds of grants at once."""
    pending: _PendingEntry | None = scope["state"].get(_KEY)
    return pending.cache.get(key) if pending is not None else None


def put_shared(scope: Scope, key: Key, body: ResponseBody, subject: UUID) -> None:
    """Store the body of this request for `get_shared`."""
    pending: _PendingEntry | None = scope["state"].get(_KEY)
    if pending is not None:
        pending.cache.put(key, pending.began, body, subject)


def put(scope: Scope, body: ResponseBody, subject: UUID) -> None:
    """Store the body of this request, if its route is cached."""
    pending: _PendingEntry | None = scope["state"].get(_KEY)
    if pending is not None:
        pending.cache.put(pending.key, pending.began, body, subject)


def _size(key: Key, body: ResponseBody) -> int:
    """The body, a quarter more for its gzipped form, and the path and query, which clients may make long."""
    parts = key if isinstance(key, tuple) else ()
    address = sum(getsizeof(part) for part in parts if isinstance(part, (str, bytes)))
    return len(body.plain) * 5 // 4 + address + _OVERHEAD
