"""The first page: what the tenant has, and how its delivery stands."""

from litestar import Response

from app.channels.portal.dependencies import SignedInRequest
from app.http.reading import get
from app.pages.rendering import page


@get("/")
async def overview(request: SignedInRequest) -> Response[str]:
    """The first page."""
    return page(request, "overview.html")


HANDLERS = (overview,)
