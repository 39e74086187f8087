"""The page, its feed, and its assets."""

from pathlib import Path
from typing import Any

from litestar import Request
from litestar.di import NamedDependency
from litestar.enums import MediaType
from litestar.params import FromPath
from litestar.response import Response

from app.domain.service_status import KIND_TITLES, PART_TITLES
from app.http.handlers import get
from app.http.pages import environment
from app.sites.pages.site import FILTERS, SHARED_ASSETS, Assets
from app.sites.status.atom import MEDIA_TYPE, render_feed
from app.status.monitor import StatusMonitor
from app.status.publication import CACHING, RenderedOnce
from app.wire.views.status import StatusView

_FOLDER = Path(__file__).parent
_ASSETS = Assets(SHARED_ASSETS, _FOLDER / "assets")
_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": CACHING,
}
_OPEN: dict[str, Any] = {"open": True}


def _utc(moment: str) -> str:
    """A time as people read it, to the second."""
    return f"{moment[:10]} {moment[11:19]} UTC"


_TEMPLATES = environment(FILTERS | {"utc": _utc}, _FOLDER / "templates")


class StatusPages:
    """The page and the feed, rendered once for all who request them; `public_url` is that of the service."""

    def __init__(self, monitor: StatusMonitor, public_url: str) -> None:
        self.page = RenderedOnce(monitor, render_page)
        self.feed = RenderedOnce(monitor, lambda view: render_feed(view, public_url))


def render_page(view: StatusView) -> bytes:
    values = {"part_titles": PART_TITLES, "kind_titles": KIND_TITLES, "assets": _ASSETS.version}
    return _TEMPLATES.get_template("status.html").render(status=view, **values).encode()


@get("/status", opt=_OPEN, media_type=MediaType.HTML, include_in_schema=False)
async def page(status_pages: NamedDependency[StatusPages]) -> Response[bytes]:
    """The status of the service."""
    return Response(status_pages.page.get(), media_type=MediaType.HTML, headers=_HEADERS)


@get("/status.atom", opt=_OPEN, media_type=MEDIA_TYPE, include_in_schema=False)
async def feed(status_pages: NamedDependency[StatusPages]) -> Response[bytes]:
    """Its incidents and maintenance as an Atom feed."""
    return Response(status_pages.feed.get(), media_type=MEDIA_TYPE, headers=_HEADERS)


@get("/status/assets/{version:str}/{name:str}", opt=_OPEN, include_in_schema=False)
async def asset(
    request: Request[Any, Any, Any], version: FromPath[str], name: FromPath[str]
) -> Response[bytes]:
    """A style sheet or a picture of the page; `version` is part of the address alone."""
    return _ASSETS.response(request.scope, name)
