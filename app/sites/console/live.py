"""All matches in play on one page, those that need somebody first, and the open alerts above them."""

from typing import Any

from litestar import Response
from litestar.di import NamedDependency
from litestar.params import FromQuery
from litestar.response import Stream

from app.http.handlers import get
from app.sites.console.dependencies import ConsoleDependencies, SignedInRequest
from app.sites.console.moving_pages import changes_response, moving_page


@get("/")
async def live(request: SignedInRequest, console: NamedDependency[ConsoleDependencies]) -> Response[str]:
    """The page as it stands; scripts keep it current."""
    return await moving_page(request, console.live, "live.html")


@get("/live/events", opt={"stream": True, "query": ("since",)})
async def live_events(
    request: SignedInRequest, console: NamedDependency[ConsoleDependencies], since: FromQuery[str] = ""
) -> Response[Any] | Stream:
    """What has changed since the version that the page has."""
    return changes_response(request, console, console.live, since)


HANDLERS = (live, live_events)
