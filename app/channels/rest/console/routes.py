"""The console's page, and the files that it loads: where each is served, its type and its digest."""

import asyncio
import base64
import gzip
import hashlib
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from litestar import MediaType, Request, Response
from litestar.params import FromPath

from app.http import pages
from app.http.handlers import get
from app.http.representation import accepts_gzip
from app.kit.errors import NotFound

_FOLDER = Path(__file__).parent
_OURS, _PACKAGE = _FOLDER / "assets", _FOLDER / "swagger_ui"
_TYPES = {".css": "text/css", ".js": "text/javascript"}
_GZIP_LEVEL = 9  #: each file is compressed once in a process


class Package(msgspec.Struct, frozen=True):
    """An npm package whose files we serve unchanged.

    `integrity` is npm's digest of the archive; `files` has the SHA-384 of each file that we took from it, in
    the form of the HTML attribute `integrity`."""

    name: str
    version: str
    licence: str
    integrity: str
    files: dict[str, str]


class ConsoleFile(msgspec.Struct, frozen=True):
    """A file of the console. `version` is the part of its address that changes with its content."""

    path: Path
    version: str
    integrity: str

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def address(self) -> str:
        """The path at which it is served."""
        return f"/v1/docs/console/{self.version}/{self.name}"

    @property
    def media_type(self) -> str:
        """Its content type, to which the framework adds the charset; licences are plain text."""
        return _TYPES.get(self.path.suffix, "text/plain")

    def content(self, gzipped: bool) -> bytes:
        """Its bytes, or the gzipped ones. They are read once; the first call takes tenths of a second."""
        return _content(self.path, gzipped)


@cache
def _content(path: Path, gzipped: bool) -> bytes:
    plain = path.read_bytes()
    return gzip.compress(plain, _GZIP_LEVEL, mtime=0) if gzipped else plain


def _sha384(path: Path) -> str:
    return f"sha384-{base64.b64encode(hashlib.sha384(path.read_bytes()).digest()).decode()}"


def _ours(path: Path) -> ConsoleFile:
    """A file of ours. Its version is a hash: it changes more often than the service's version."""
    version = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    return ConsoleFile(path, version, _sha384(path))


def _packaged(name: str, integrity: str) -> ConsoleFile:
    """A file of the package. Its digest is the recorded one: a browser refuses a file that was changed."""
    return ConsoleFile(_PACKAGE / name, f"{PACKAGE.name}-{PACKAGE.version}", integrity)


PACKAGE = msgspec.convert(tomllib.loads((_PACKAGE / "package.toml").read_text()), Package)
_ALL = (
    *(_ours(path) for path in sorted(_OURS.iterdir())),
    *(_packaged(name, integrity) for name, integrity in PACKAGE.files.items()),
)
#: By the name: no two have the same.
FILES = {file.name: file for file in _ALL}


#: Scripts and styles are files of ours; the tool needs neither inline ones nor `eval`. What is allowed beyond
#: them: `connect-src 'self'` for the document and the requests that the reader sends, `img-src data:` because
#: the tool's style sheet contains its arrows and icons as images.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_OPEN: dict[str, Any] = {"open": True}
_PAGE = pages.render(_FOLDER / "page.html", {}, files=FILES, package=PACKAGE).encode()
#: The address changes with the content, so that a copy never becomes outdated.
_CACHING = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}


@get("/v1/docs/console", opt=_OPEN, media_type=MediaType.HTML)
async def get_docs_console() -> Response[bytes]:
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
