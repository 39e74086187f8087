"""What a handler returns, rendered as bytes in the negotiated format, and the cache of such bodies.

A returned view is rendered by `ViewResponse`: JSON, or XML without a schema. A handler with its own XML shape
returns `RenderedResponse[View]`, made with `as_json` or `as_xml`; the annotation declares the JSON schema.
A route that only sends XML needs only `as_xml`:

    return response.as_xml(envelopes.entrants.player_profile(player))

With the cache a frequent request reads the database once per change. A route is cached if its `opt` has
`cached_per`: what of a grant the response depends on, as a function of grant and format. Its handler names
the subject whose changes invalidate the response (a match, `MATCH_LISTS` or `NOTHING`):
`response.as_json(view, invalidated_by=match.id)`; without one the response is not stored.

A body is stored under listener, path, query, format and what of the grant it depends on. Each writer sends
NOTIFY in its transaction (`store.notifications`), on which every body of that subject is dropped. A body
whose reading began before a notification is never stored after it. Nothing is stored or returned while the
LISTEN connection is down. A cached body is therefore as old as a notification takes, at most; two seconds if
the connection dies silently.

Why not the framework's cache (Litestar 2.25): its entries expire with time alone, and are messages with their
headers, of which it sends neither a 304 nor the gzipped form.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from sys import getsizeof
from typing import Any, Generic, TypeVar, cast
from uuid import UUID

import msgspec
from litestar import Request, Response
from litestar.response.base import ASGIResponse
from litestar.types import Receive, Scope, Send

from app.domain.tenant import Grant
from app.http.representation import Format, ResponseBody, response_format, send_body
from app.store import notifications
from app.store.connections import Store
from app.store.notifications import MatchInvalidation
from app.wire import mechanical

T = TypeVar("T")
ROOT = "response"  #: the root of XML without a schema
_encode = msgspec.json.Encoder().encode
MATCH_LISTS = UUID(int=0)  #: the subject of lists of matches: changes with any of their rows
NOTHING = UUID(int=1)  #: the subject of responses that depend on the key alone: never changes
_OVERHEAD = 2048  #: bytes of an entry beside its body and its path
_REMEMBERED = 8192
_KEY = "matchfeed.pending_cache_entry"
Key = Hashable
CachedPer = Callable[[Grant, Format], Hashable]  #: what of a grant a response in that format depends on


class RenderedResponse(Response[T]):
    """A response whose body is rendered, whatever format was negotiated. `extra` are headers of this response
    alone: with them it is not for a cached route."""

    def __init__(
        self,
        body: ResponseBody,
        status_code: int | None = None,
        *,
        invalidated_by: UUID | None = None,
        extra: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(cast(Any, body.plain), media_type=body.form.value, status_code=status_code)
        self.body = body
        self.invalidated_by = invalidated_by
        self.extra = extra or {}

    def to_asgi_response(self, app: object, request: Request[Any, Any, Any], **options: Any) -> ASGIResponse:
        status = self.status_code or options.get("status_code") or 200
        if self.invalidated_by is not None and status == 200:
            put(request.scope, self.body, self.invalidated_by)
        return BodyResponse(self.body, status, self.extra)


class ViewResponse(Response[T], Generic[T]):
    """The application's `response_class`: renders a view that a handler returns."""

    def to_asgi_response(self, app: object, request: Request[Any, Any, Any], **options: Any) -> ASGIResponse:
        if self.status_code == 204:
            return ASGIResponse(status_code=204)
        return BodyResponse(_rendered(request, self.content), self.status_code or 200)


class BodyResponse(ASGIResponse):
    """The ASGI response that sends a body which a handler has rendered."""

    __slots__ = ("_extra", "_rendered")

    def __init__(self, body: ResponseBody, status: int, extra: Mapping[str, str] | None = None) -> None:
        super().__init__(status_code=200)
        self._rendered = body
        self._extra = [(name.lower().encode(), value.encode()) for name, value in (extra or {}).items()]
        self.status_code = status

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send_body(scope, send, self._rendered, self.status_code, self._extra)


def negotiated(
    request: Request[Any, Any, Any], view: T, *, invalidated_by: UUID | None = None
) -> RenderedResponse[T]:
    """A view in the negotiated format, XML without a schema: as `ViewResponse` renders it, for cached
    routes."""
    return RenderedResponse(_rendered(request, view), invalidated_by=invalidated_by)


def as_json(view: T, *, invalidated_by: UUID | None = None) -> RenderedResponse[T]:
    """A view as JSON."""
    return RenderedResponse(ResponseBody(_encode(view), Format.JSON), invalidated_by=invalidated_by)


def as_xml(
    document: bytes, status_code: int | None = None, *, invalidated_by: UUID | None = None
) -> RenderedResponse[Any]:
    """A finished XML document."""
    return RenderedResponse(ResponseBody(document, Format.XML), status_code, invalidated_by=invalidated_by)


def _rendered(request: Request[Any, Any, Any], view: Any) -> ResponseBody:
    form = response_format(request.scope)
    return ResponseBody(_encode(view) if form is Format.JSON else mechanical.render(view, ROOT), form)


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
