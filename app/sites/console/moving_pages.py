"""What pages that move share: their first state, and the stream of what changes."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from litestar import Response
from litestar.response import Stream

from app.kit.errors import Unavailable
from app.sites.console.dependencies import ConsoleDependencies, SignedInRequest
from app.sites.console.moving_rows import Variant
from app.sites.console.permissions import Permission, allowed
from app.sites.console.row_feed import RowFeed
from app.sites.pages.event_streams import ENDED, NOTHING_NEW, SILENT_SECONDS, open_stream
from app.sites.pages.rendering import page, texts_for


def variant_of(request: SignedInRequest) -> Variant:
    """The variant of moving rows that this user is shown."""
    acts = Permission.ALERTS in allowed(request.auth.user.operator_role)
    return Variant(texts_for(request).language, acts)


async def moving_page(request: SignedInRequest, feed: RowFeed, template: str, **values: Any) -> Response[str]:
    """A page with the tables of a feed as they are; the template has `board` and `version`."""
    version, board = await feed.board(variant_of(request))
    return page(request, template, board=board, version=version, silent=SILENT_SECONDS, **values)


def changes_response(
    request: SignedInRequest, console: ConsoleDependencies, feed: RowFeed, since: str
) -> Response[Any] | Stream:
    """The stream of what has changed since that version of the page."""
    return open_stream(request, console.streams, _events(request, console, feed, since))


async def _events(
    request: SignedInRequest, console: ConsoleDependencies, feed: RowFeed, since: str
) -> AsyncIterator[bytes]:
    variant, session_id = variant_of(request), request.auth.session_id
    with console.streams.counted(session_id):
        yield NOTHING_NEW  # the browser then knows that it is connected
        while await console.streams.lasts(session_id):
            try:
                since, data = await feed.changes(variant, since)
            except Unavailable:
                data = None
            yield NOTHING_NEW if data is None else b"data: " + data + b"\n\n"
            await asyncio.sleep(feed.seconds)
    yield ENDED
