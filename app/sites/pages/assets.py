"""Style sheets, scripts and pictures of pages: read once, for they belong to the build."""

from hashlib import sha256
from pathlib import Path
from typing import Any

from litestar import Request, Response
from litestar.params import FromPath

from app.http.handlers import get
from app.kit.errors import NotFound

_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml; charset=utf-8",
}
_HEADERS = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}


class Assets:
    """The assets in these folders; a folder may be absent."""

    def __init__(self, *folders: Path) -> None:
        found = (path for folder in folders if folder.is_dir() for path in sorted(folder.iterdir()))
        self._bodies = {path.name: path.read_bytes() for path in found if path.suffix in _TYPES}
        #: Part of every asset's address, so that browsers may cache it for ever.
        self.version = sha256(b"".join(self._bodies.values())).hexdigest()[:12]

    def response(self, name: str) -> Response[bytes]:
        """Raises `NotFound`."""
        if name not in self._bodies:
            raise NotFound(f"There is no asset {name!r}.")
        return Response(self._bodies[name], media_type=_TYPES[Path(name).suffix], headers=_HEADERS)


@get("/assets/{version:str}/{name:str}", opt={"public": True})
async def asset(
    request: Request[Any, Any, Any], version: FromPath[str], name: FromPath[str]
) -> Response[bytes]:
    """An asset of the site; the version in the address is any, an older page may still be open."""
    assets: Assets = request.scope["route_handler"].opt["site"].assets
    return assets.response(name)


HANDLERS = (asset,)
