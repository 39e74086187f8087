"""Streams of server-sent events, which move a page by themselves (WHATWG HTML, 9.2).

htmx swaps the data of unnamed events into the element that has connected. On the event `ended` it closes the
connection for good; a stream that ends without it is connected again.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Set
from contextlib import contextmanager
from uuid import UUID

from litestar import Response
from litestar.response import Stream

from app.kit.errors import Unavailable
from app.sites.pages.rendering import HEADERS
from app.sites.pages.sessions import SignedInRequest

PER_SESSION = 6  #: streams: as many as browsers open connections to one host (HTTP/1.1)
SECONDS = 2.0  #: how often open streams look whether their sessions still last
ENDED = b"event: ended\ndata:\n\n"
#: By this event both sides notice that the other has gone: a page says so after `SILENT_SECONDS` without any.
NOTHING_NEW = b"event: current\ndata:\n\n"
SILENT_SECONDS = 15
_MEDIA_TYPE = "text/event-stream"
#: The last one: proxies of the kind of nginx collect a response otherwise.
_HEADERS = HEADERS | {"X-Accel-Buffering": "no"}

Valid = Callable[[Collection[UUID]], Awaitable[Set[UUID]]]


class OpenStreams:
    """The streams that sessions have open, and whether those sessions still last. `valid` returns which of
    some sessions are valid; it is called at most once in `seconds` for all of them together."""

    def __init__(
        self,
        valid: Valid,
        seconds: float = SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.seconds = seconds
        self._valid, self._monotonic = valid, monotonic
        self._open: Counter[UUID] = Counter()
        self._ended: Set[UUID] = frozenset()  # of those that were open at the last look
        self._looked_at = -1.0
        self._looking: asyncio.Future[None] | None = None

    def has_room(self, session_id: UUID) -> bool:
        return self._open[session_id] < PER_SESSION

    @contextmanager
    def counted(self, session_id: UUID) -> Iterator[None]:
        """While the block runs, the session has one stream more."""
        self._open[session_id] += 1
        try:
            yield
        finally:
            self._open[session_id] -= 1
            if not self._open[session_id]:
                del self._open[session_id]

    async def lasts(self, session_id: UUID) -> bool:
        """Whether a session with an open stream was valid at most `seconds` ago. An open stream is no use of
        its session: that ends some hours after the last request of the user. While the database is
        unavailable, sessions count as valid."""
        if self._looking is None and self._monotonic() - self._looked_at >= self.seconds:
            self._looked_at = self._monotonic()
            self._looking = asyncio.ensure_future(self._look())
        if self._looking is not None:
            # A client that leaves must not cancel the read that others wait for.
            await asyncio.shield(self._looking)
        return session_id not in self._ended

    async def _look(self) -> None:
        watched = set(self._open)
        try:
            self._ended = watched - await self._valid(watched)
        except Unavailable:
            pass  # they count as valid until the next read
        finally:
            self._looking = None


def event(text: str) -> bytes:
    """An unnamed event with that text, of any number of lines."""
    return "".join(f"data: {line}\n" for line in text.split("\n")).encode() + b"\n"


def open_stream(
    request: SignedInRequest,
    streams: OpenStreams,
    seconds: float,
    latest: Callable[[], Awaitable[bytes | None]],
) -> Response[bytes] | Stream:
    """The response that sends, once in `seconds`, the event that `latest` returns, or an event without news:
    until the session ends, or the client leaves. To a session that has all its streams open a refusal, after
    which htmx tries again later, ever more rarely."""
    if not streams.has_room(request.auth.session_id):
        return Response(b":\n\n", media_type=_MEDIA_TYPE, status_code=429, headers=_HEADERS)
    if request.method == "HEAD":
        return stream_response(_nothing())
    return stream_response(_events(request.auth.session_id, streams, seconds, latest))


async def _nothing() -> AsyncIterator[bytes]:
    yield b""


async def _events(
    session_id: UUID, streams: OpenStreams, seconds: float, latest: Callable[[], Awaitable[bytes | None]]
) -> AsyncIterator[bytes]:
    with streams.counted(session_id):
        yield NOTHING_NEW  # the browser then knows that it is connected
        while await streams.lasts(session_id):
            yield await latest() or NOTHING_NEW
            await asyncio.sleep(seconds)
    yield ENDED


def stream_response(events: AsyncIterator[bytes]) -> Stream:
    """The response that sends these events; it ends with them, or when the client leaves."""
    return Stream(events, media_type=_MEDIA_TYPE, headers=_HEADERS)


def ended_response() -> Response[bytes]:
    """The response to a client without a session, which is to connect no more."""
    return Response(ENDED, media_type=_MEDIA_TYPE, headers=_HEADERS)
