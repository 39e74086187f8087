"""How the feed reaches the tenant: the overview's figures of the moment, the page with its queues, both of
which move by themselves, and what the plots of the last hour show."""

from collections.abc import Sequence
from typing import Any

import msgspec
from litestar import Response
from litestar.response import Stream

from app.amqp.delivery_status import HOUR_MINUTES, DeliveryHistory, delivery_history
from app.http.handlers import get
from app.kit.errors import Unavailable
from app.sites.pages.event_streams import SILENT_SECONDS, event, open_stream
from app.sites.pages.rendering import HEADERS, page, render
from app.sites.pages.sessions import SignedInRequest
from app.sites.portal.dependencies import Portal
from app.store.delivery_minutes import MINUTE_MILLIS, MinuteTotal

_ROW_MINUTES = 5  #: of the table that says what the plots show


class Stretch(msgspec.Struct, frozen=True):
    """Some minutes together, from `at` (Unix ms) on; `known`: a process published to the tenant in them."""

    at: int
    known: bool
    published: int
    lag: float
    dropped: int
    notices: int


@get("/")
async def overview(request: SignedInRequest, portal: Portal) -> Response[str]:
    """The first page: how the delivery stands, and what there is beside it."""
    return await _page(request, portal, "overview.html")


@get("/events", opt={"stream": True, "query": ()})
async def overview_events(request: SignedInRequest, portal: Portal) -> Response[Any] | Stream:
    """The figures of the overview, whenever they change."""
    return _events(request, portal, "feed_figures.html")


@get("/feed")
async def feed(request: SignedInRequest, portal: Portal) -> Response[str]:
    """The delivery as it stands; scripts keep it current."""
    return await _page(request, portal, "feed.html")


@get("/feed/events", opt={"stream": True, "query": ()})
async def feed_events(request: SignedInRequest, portal: Portal) -> Response[Any] | Stream:
    """The part of that page that moves, whenever it changes."""
    return _events(request, portal, "feed_delivery.html")


@get("/feed/history.json", opt={"query": ()})
async def feed_history(request: SignedInRequest, portal: Portal) -> Response[DeliveryHistory]:
    """What the plots show, times in Unix ms."""
    found = await delivery_history(portal.store, request.auth.tenant.id, portal.clock())
    return Response(found, media_type="application/json", headers=dict(HEADERS))


async def _page(request: SignedInRequest, portal: Portal, template: str) -> Response[str]:
    values = await _delivery(request, portal)
    stretches = _stretches(values["delivery"].history) if values["delivery"] else []
    return page(request, template, silent=SILENT_SECONDS, stretches=stretches, **values)


def _events(request: SignedInRequest, portal: Portal, template: str) -> Response[Any] | Stream:
    shown = ""

    async def latest() -> bytes | None:
        nonlocal shown
        current = render(request, template, **await _delivery(request, portal))
        if current == shown:
            return None
        shown = current
        return event(current)

    return open_stream(request, portal.streams, portal.delivery.seconds, latest)


async def _delivery(request: SignedInRequest, portal: Portal) -> dict[str, Any]:
    """The values of the parts that move. `unavailable`: they cannot be read at the moment."""
    try:
        found = await portal.delivery.latest(request.auth.tenant.id)
    except Unavailable:
        return {"delivery": None, "unavailable": True}
    return {"delivery": found, "unavailable": False}


def _stretches(history: DeliveryHistory) -> list[Stretch]:
    """The hour in rows, newest first."""
    length = _ROW_MINUTES * MINUTE_MILLIS
    begins = [history.since + row * length for row in range(HOUR_MINUTES // _ROW_MINUTES)]
    return [
        _stretch(at, [each for each in history.minutes if at <= each.minute < at + length])
        for at in reversed(begins)
    ]


def _stretch(at: int, minutes: Sequence[MinuteTotal]) -> Stretch:
    return Stretch(
        at=at,
        known=bool(minutes),
        published=sum(each.published for each in minutes),
        lag=max((each.lag for each in minutes), default=0) / 1000,
        dropped=sum(each.dropped for each in minutes),
        notices=sum(each.notices for each in minutes),
    )
