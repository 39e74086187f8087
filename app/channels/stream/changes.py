"""Changes over HTTP, under /cs2/v1/changes: what the stream sends, by the page or as server-sent events.

A page is what a client of the stream would be sent on connecting, in parts; who has everything may have the
request wait until there is more. A request that waits, and an event stream, count as a stream of the tenant,
and end when their key does.
"""

import asyncio
import re
from typing import Annotated

import msgspec
from litestar import Response
from litestar.di import NamedDependency
from litestar.params import QueryParameter
from litestar.types import Receive
from msgspec import UNSET

from app.access.grants import PresentedKey
from app.channels.stream.connection import CloseCode, frame_payloads
from app.channels.stream.event_stream import EventStream, until_left
from app.channels.stream.poller import Page, Poller
from app.channels.stream.snapshot import SnapshotPlace
from app.channels.stream.subscriptions import StreamRequest, Subscriptions
from app.domain.market import key_of_name, market_name
from app.http.auth import AuthenticatedRequest, client_address, read_api_key
from app.http.handlers import get
from app.http.representation import Format, ResponseBody, response_format
from app.http.response import ROOT, RenderedResponse
from app.http.server import connection_of
from app.kit.background import wait_for_event
from app.kit.errors import Field, Forbidden, Invalid
from app.kit.metrics import stream_waiting
from app.wire import mechanical
from app.wire.views.changes import ChangePage, ChangesMeta

_FRAMES, _MOST_FRAMES, _MOST_SECONDS = 500, 1000, 30
_SEQ = re.compile(r"[0-9]{1,18}\Z", re.ASCII)
_CURSOR = r"^[0-9]{1,18}-[1-9][0-9]{0,9}(-[1-9][0-9]{0,8}:[!-~]{0,200})?$"
_SINCE = "The `next_since_seq` of the page before. Without it a snapshot begins."
_MATCH = "The changes of one match only: its UUID, or `od:match:<number>`."
_NEXT = "The `next_cursor` of the page before, unchanged: the next part of a snapshot."
_WAIT = "Seconds to wait for a change, if there is none. Of pages."
_REVOKED = "This API key is not valid any more."
Cursor = Annotated[str | None, QueryParameter(pattern=_CURSOR, description=_NEXT)]


@get("/cs2/v1/changes", opt={"sport": "cs2", "event_stream": True})
async def list_changes(
    request: AuthenticatedRequest,
    subscriptions: NamedDependency[Subscriptions],
    since_seq: Annotated[int | None, QueryParameter(ge=0, le=10**18 - 1, description=_SINCE)] = None,
    cursor: Cursor = None,
    match: Annotated[str | None, QueryParameter(description=_MATCH)] = None,
    limit: Annotated[int, QueryParameter(ge=1, le=_MOST_FRAMES, description="Changes at most.")] = _FRAMES,
    wait: Annotated[int, QueryParameter(ge=0, le=_MOST_SECONDS, description=_WAIT)] = 0,
) -> Response[ChangePage]:
    """Everything that the stream sends to this key: the same frames, in order, by the page or as events.

    Without `since_seq` you receive a snapshot: live matches, and all markets on offer or suspended. The last
    page of it, and each page that leaves nothing behind, ends in the frame `alive`: everything up to
    `next_since_seq` has been sent. Repeat the request with `next_since_seq` (or `next_cursor`, where a page
    has that): at once while there are `more`, then with `wait`. When `since_seq` is too long ago a snapshot
    begins; its `alive` has `"snapshot": true`, and what it did not contain is not there any more.

    With `Accept: text/event-stream` the same frames are sent as events as they happen, and `Last-Event-ID`
    resumes. Which frames you receive is decided by the scopes `cs2:stream:…`, as on the stream.
    """
    raw_key, grant = read_api_key(request.scope["headers"]), request.auth
    presented = PresentedKey(grant, client_address(request.scope))
    since = _last_event_id(request.headers.getall("last-event-id", []), since_seq)
    match_id = await subscriptions.find_match(grant, match, ("query", "match"))
    if response_format(request.scope) is Format.EVENTS:
        return EventStream(subscriptions, StreamRequest(presented, raw_key, match_id, since))
    async with subscriptions.polling(match_id) as poller:
        page = await poller.page(grant, since, _place(cursor), limit)
        if wait and not page.news:
            held = HeldPage(presented)
            async with subscriptions.registered(held, raw_key):
                page = await _awaited(request, poller, held, page, limit, wait)
    return _rendered(page, limit, response_format(request.scope))


class HeldPage:
    """A request that waits for changes. `wake` is set by whatever ends the wait or may end it."""

    def __init__(self, presented: PresentedKey) -> None:
        self.presented = presented
        self.wake = asyncio.Event()
        self.revoked = False
        self.ended = False

    def close(self, code: CloseCode, reason: str) -> None:
        """The key has ended."""
        self.revoked = code is CloseCode.POLICY
        self.end()

    def end(self) -> None:
        """Answer now: the client has left, or the process stops."""
        self.ended = True
        self.wake.set()


async def _awaited(
    request: AuthenticatedRequest, poller: Poller, held: HeldPage, page: Page, limit: int, seconds: float
) -> Page:
    """The page once there is something new, or the empty one after so many seconds. Raises `Forbidden` when
    the key ends meanwhile."""
    loop, http = asyncio.get_running_loop(), connection_of(request.scope)
    deadline = loop.time() + seconds
    if http:
        http.on_shutdown = held.end
    leaving = asyncio.create_task(_end_when_left(request.receive, held))
    try:
        with poller.watched(held.wake, page.reached), stream_waiting.track_inprogress():
            while not (page.news or held.ended) and (left := deadline - loop.time()) > 0:
                await wait_for_event(held.wake, left)
                held.wake.clear()
                page = await poller.page(request.auth, page.reached, None, limit)
    finally:
        leaving.cancel()
        if http:
            http.on_shutdown = None
    if held.revoked:
        raise Forbidden(_REVOKED)
    return page


async def _end_when_left(receive: Receive, held: HeldPage) -> None:
    await until_left(receive)
    held.end()


def _last_event_id(sent: list[str], since_seq: int | None) -> int | None:
    """The seq after which a client resumes: that of the last event it has, else `since_seq`."""
    values = [value for value in sent if value]
    if not values:
        return since_seq
    if not _SEQ.match(values[-1]):
        what = "This must be the id of an event, a whole number."
        raise Invalid(Field(("header", "Last-Event-ID"), what, "value_error", values[-1]))
    return int(values[-1])


def _place(cursor: str | None) -> SnapshotPlace | None:
    if cursor is None:
        return None
    seq, number, *market = cursor.split("-", 2)
    key = key_of_name(market[0]) if market else None
    return SnapshotPlace(int(seq), int(number), key or (0, ""))


def _cursor(place: SnapshotPlace) -> str:
    market = f"-{market_name(*place.market)}" if place.market[0] else ""
    return f"{place.seq}-{place.number}{market}"


def _rendered(page: Page, limit: int, form: Format) -> RenderedResponse[ChangePage]:
    payloads = [msgspec.Raw(one) for frame in page.frames for one in frame_payloads(frame.wire)]
    meta = ChangesMeta(
        count=len(payloads),
        limit=limit,
        more=page.more,
        next_since_seq=UNSET if page.following else page.reached,
        next_cursor=_cursor(page.following) if page.following else UNSET,
    )
    body = msgspec.json.encode({"data": payloads, "meta": meta})
    if form is Format.XML:
        body = mechanical.render(msgspec.json.decode(body), ROOT)
    return RenderedResponse(ResponseBody(body, form))


ROUTES = (list_changes,)
