"""The console's page, and the files that it loads."""

import asyncio
from pathlib import Path
from typing import Any

from litestar import MediaType, Request, Response
from litestar.params import FromPath

from app.channels.rest.console.files import FILES, PACKAGE
from app.http import pages
from app.http.reading import get
from app.http.response_body import accepts_gzip
from app.kit.errors import NotFound

#: Scripts and styles are files of ours; the tool needs neither inline ones nor `eval`. What is allowed beyond
#: them: `connect-src 'self'` for the document and the requests that the reader sends, `img-src data:` because
#: the tool's style sheet contains its arrows and icons as images.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_OPEN: dict[str, Any] = {"open": True}
_PAGE = pages.render(Path(__file__).parent, {}, files=FILES, package=PACKAGE).encode()
#: The address changes with the content, so that a copy never becomes outdated.
_CACHING = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}


@get("/v1/docs/console", opt=_OPEN, media_type=MediaType.HTML)
async def console() -> Response[bytes]:
    """The OpenAPI document as a web page that sends requests with the key that is entered into it."""
    return pages.html_response(_PAGE, _POLICY)


@get("/v1/docs/console/{version:str}/{name:str}", opt=_OPEN, include_in_schema=False)
async def console_file(
    request: Request[Any, Any, Any], version: FromPath[str], name: FromPath[str]
) -> Response[bytes]:
    """A script, a style sheet or a licence of the console."""
    file = FILES.get(name)
    if file is None or file.version != version:
        raise NotFound(f"The console has no file {name!r} of version {version!r}.")
    gzipped = accepts_gzip(list(request.scope["headers"]))
    content = await asyncio.to_thread(file.content, gzipped)
    encoding = {"Content-Encoding": "gzip"} if gzipped else {}
    return Response(content, media_type=file.media_type, headers=_CACHING | encoding)


HANDLERS = (console, console_file)
