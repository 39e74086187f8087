"""The category's icon; no key is needed."""

from importlib.resources import files

from litestar import Response

from app.http.handlers import get

PATH = "/categories/cs2.svg"
_ICON = files(__package__).joinpath("cs2.svg").read_bytes()
_SVG = "image/svg+xml"
_HEADERS = {"Cache-Control": "public, max-age=86400"}


def icon_url(public_url: str, own: str) -> str:
    """The URL of the icon: the deployment's `own` if it sets one, else that of the route below."""
    return own or public_url.rstrip("/") + PATH


@get(PATH, opt={"open": True, "any_query": True}, media_type=_SVG)
async def get_category_icon() -> Response[bytes]:
    """The icon, as SVG."""
    return Response(_ICON, media_type=_SVG, headers=_HEADERS)
