"""How delivery to the tenant stands: the connection, its queues, rate, lag and losses; moves by itself."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from litestar import Response
from litestar.di import NamedDependency
from litestar.response import Stream

from app.http.handlers import get
from app.kit.errors import Unavailable
from app.sites.pages.event_streams import ENDED, NOTHING_NEW, SILENT_SECONDS, event, open_stream
from app.sites.pages.rendering import page, render
from app.sites.portal.dependencies import PortalDependencies, SignedInRequest


@get("/feed")
async def feed(request: SignedInRequest, portal: NamedDependency[PortalDependencies]) -> Response[str]:
    """The delivery as it stands; scripts keep it current."""
    return page(request, "feed.html", silent=SILENT_SECONDS, **await _delivery(request, portal))


@get("/feed/events", opt={"stream": True, "query": ()})
async def feed_events(
    request: SignedInRequest, portal: NamedDependency[PortalDependencies]
) -> Response[Any] | Stream:
    """The part of the page that moves, whenever it changes."""
    return open_stream(request, portal.streams, _events(request, portal))


async def _events(request: SignedInRequest, portal: PortalDependencies) -> AsyncIterator[bytes]:
    with portal.streams.counted(request.auth.session_id):
        shown = ""
        while await portal.streams.lasts(request.auth.session_id):
            current = render(request, "feed_delivery.html", **await _delivery(request, portal))
            yield event(current) if current != shown else NOTHING_NEW
            shown = current
            await asyncio.sleep(portal.delivery.seconds)
    yield ENDED


async def _delivery(request: SignedInRequest, portal: PortalDependencies) -> dict[str, Any]:
    """The values of the part that moves. `unavailable`: it cannot be read at the moment."""
    try:
        found = await portal.delivery.latest(request.auth.tenant.id)
    except Unavailable:
        return {"delivery": None, "unavailable": True}
    return {"delivery": found, "unavailable": False}


HANDLERS = (feed, feed_events)
