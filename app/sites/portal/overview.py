"""The first page: what the tenant has, and how its delivery stands."""

from litestar import Response

from app.http.handlers import get
from app.sites.pages.rendering import page
from app.sites.portal.dependencies import SignedInRequest


@get("/")
async def overview(request: SignedInRequest) -> Response[str]:
    """The first page."""
    return page(request, "overview.html")


HANDLERS = (overview,)
