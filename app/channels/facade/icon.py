"""The category's picture, for whoever wants to show it: no key is asked for."""

from importlib.resources import files

from litestar import Response, get

PATH = "/categories/cs2.svg"
_PICTURE = files(__package__).joinpath("cs2.svg").read_bytes()
_SVG = "image/svg+xml"
_HEADERS = {"Cache-Control": "public, max-age=86400"}


def address(public_url: str, own: str) -> str:
    """Where the picture is: at the deployment's `own` address if it names one, else here."""
    return own or public_url.rstrip("/") + PATH


@get(PATH, opt={"open": True, "any_query": True}, media_type=_SVG)
async def picture() -> Response[bytes]:
    """The picture, byte for byte."""
    return Response(_PICTURE, media_type=_SVG, headers=_HEADERS)


HANDLERS = (picture,)
