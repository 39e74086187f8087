"""Style sheets, scripts and pictures of the portal: read once, for they belong to the build."""

from hashlib import sha256
from pathlib import Path
from typing import Any

from litestar import Request, Response
from litestar.params import FromPath

from app.http.reading import get
from app.kit.errors import NotFound

_FOLDER = Path(__file__).with_name("assets")
_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml; charset=utf-8",
}
_ASSETS = {path.name: path.read_bytes() for path in sorted(_FOLDER.iterdir()) if path.suffix in _TYPES}
#: Part of every asset's address, so that browsers may cache it for ever.
VERSION = sha256(b"".join(_ASSETS.values())).hexdigest()[:12]
_HEADERS = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}


@get("/assets/{version:str}/{name:str}", opt={"public": True})
async def asset(
    request: Request[Any, Any, Any], version: FromPath[str], name: FromPath[str]
) -> Response[bytes]:
    """An asset; the version in the address is any, an older page may still be open."""
    if name not in _ASSETS:
        raise NotFound(f"There is no asset {name!r}.")
    return Response(_ASSETS[name], media_type=_TYPES[Path(name).suffix], headers=_HEADERS)


HANDLERS = (asset,)
