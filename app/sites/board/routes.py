"""The page, its assets, and the report that it may show."""

from pathlib import Path
from typing import Any

import msgspec
from litestar import Request, Response
from litestar.di import NamedDependency
from litestar.params import FromPath

from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.sites.pages.site import SHARED_ASSETS, Assets

_FOLDER = Path(__file__).with_name("assets")
_PAGE = (_FOLDER / "index.html").read_bytes()
_ASSETS = Assets(SHARED_ASSETS, _FOLDER)
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_GUARDED = {
    "Content-Security-Policy": _POLICY,
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
_UNSTORED = {"Cache-Control": "no-store"}
_OPEN: dict[str, Any] = {"open": True}


class Board(msgspec.Struct, frozen=True):
    """The path of the report's file; empty without one."""

    report: str


class _ReportHeader(msgspec.Struct):
    """The tenant in a report."""

    tenant: str


@get("/", opt=_OPEN, media_type="text/html", include_in_schema=False)
async def page() -> Response[bytes]:
    """The board."""
    return Response(_PAGE, media_type="text/html", headers=_GUARDED)


@get("/board/{name:str}", opt=_OPEN, include_in_schema=False)
async def asset(request: Request[Any, Any, Any], name: FromPath[str]) -> Response[bytes]:
    """A script, a style sheet or an image of the page."""
    return _ASSETS.response(request.scope, name, _GUARDED)


@get("/board/report", opt={"sport": "cs2"}, include_in_schema=False)
async def report(request: AuthenticatedRequest, board: NamedDependency[Board]) -> Response[bytes | None]:
    """The report of the demonstration's bookmaker, for keys of the tenant in it; 204 while there is none for
    them. The page asks again and again, and browsers print every 404 to the console."""
    body = _read(board.report)
    if body is None or msgspec.json.decode(body, type=_ReportHeader).tenant != request.auth.tenant.slug:
        return Response(None, status_code=204, headers=_UNSTORED)
    return Response(body, media_type="application/json", headers=_UNSTORED)


def _read(name: str) -> bytes | None:
    """The report's bytes, None without one; the file is small and replaced atomically."""
    try:
        return Path(name).read_bytes() if name else None
    except OSError:
        return None
