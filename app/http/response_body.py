"""Response bodies, the headers that belong to them, and conditional and compressed sending.

Every 200 to a GET carries an ETag, the hash of its bytes: other fields, another format, language or build
give other bytes. The gzipped form has a tag of its own. `If-None-Match` matches either, and gets 304. Bodies
depend on the key and the format: `Vary` names the headers, `Cache-Control` keeps them out of shared caches
and requires revalidation at every use.

Litestar's `CompressionConfig` (2.25) sends gzip to a client that excludes it (`gzip;q=0`), sends none for
`*`, leaves the compressed form the strong ETag of the plain one, and compresses a cached body again at each
request.
"""

import gzip
import re
from functools import lru_cache
from hashlib import blake2b
from typing import cast

from litestar.response.base import ASGIResponse
from litestar.types import HTTPResponseBodyEvent, HTTPResponseStartEvent, HTTPScope, Receive, Scope, Send

from app.http.content_negotiation import Format

VARY = "Accept, X-API-Key, x-access-token, $x$access-token, Accept-Encoding"
CACHING = "private, no-cache"
_GZIP_FROM = 1024  #: bytes; a smaller body fits into one packet anyway
_LEVEL = 5
_READS = ("GET", "HEAD")
_TAG = re.compile(rb'"[^"]*"|\*')
_CODING = re.compile(r"\s*(gzip|x-gzip|\*)\s*(?:;\s*q=\s*([0-9.]+)\s*)?\Z", re.ASCII)
Headers = list[tuple[bytes, bytes]]


class ResponseBody:
    """The bytes of a response, with the headers that belong to them; gzipped on first use.

    With a `tag` of its own the ETag is a weak one: bodies of one tag differ only in what does not matter (the
    moment of rendering).
    """

    __slots__ = ("_gzipped", "_headers", "_tag", "form", "plain", "weak")

    def __init__(self, plain: bytes, form: Format, tag: str = "") -> None:
        self.plain = plain
        self.form = form
        self.weak = bool(tag)
        self._tag = tag
        self._gzipped: bytes | None = None
        self._headers: dict[tuple[bool, bool, bool], Headers] = {}

    @property
    def tag(self) -> str:
        """The tag passed in, or the hash of the bytes."""
        if not self._tag:
            self._tag = blake2b(self.plain, digest_size=16).hexdigest()
        return self._tag

    @property
    def gzipped(self) -> bytes:
        """The bytes, gzipped; the same at every call and in every process."""
        if self._gzipped is None:
            self._gzipped = gzip.compress(self.plain, _LEVEL, mtime=0)
        return self._gzipped

    def matches(self, request: Headers) -> bool:
        """Whether the request's `If-None-Match` names these bytes, gzipped or not."""
        condition = b",".join([value for name, value in request if name == b"if-none-match"])
        if not condition:
            return False
        ours = {b"*", f'"{self.tag}"'.encode(), f'"{self.tag}-gzip"'.encode()}
        return not ours.isdisjoint(_TAG.findall(condition))

    def headers(self, tagged: bool, gzipped: bool, not_modified: bool) -> Headers:
        """The headers of a response with this body, or of the 304 in its place."""
        kind = (tagged, gzipped, not_modified)
        headers = self._headers.get(kind)
        if headers is None:
            headers = self._headers[kind] = _headers(self, tagged, gzipped, not_modified)
        return headers


def _headers(body: ResponseBody, tagged: bool, gzipped: bool, not_modified: bool) -> Headers:
    headers = [(b"vary", VARY.encode()), (b"cache-control", CACHING.encode())]
    if tagged:
        tag = f'"{body.tag}-gzip"' if gzipped else f'"{body.tag}"'
        headers.append((b"etag", f"W/{tag}".encode() if body.weak else tag.encode()))
    if not not_modified:
        length = len(body.gzipped if gzipped else body.plain)
        headers.append((b"content-type", body.form.value.encode()))
        headers.append((b"content-length", str(length).encode()))
        if gzipped:
            headers.append((b"content-encoding", b"gzip"))
    return headers


class BodyResponse(ASGIResponse):
    """The ASGI response that sends a body which a handler has rendered."""

    __slots__ = ("_rendered",)

    def __init__(self, body: ResponseBody, status: int) -> None:
        super().__init__(status_code=200)
        self._rendered = body
        self.status_code = status

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send_body(scope, send, self._rendered, self.status_code)


async def send_body(scope: Scope, send: Send, body: ResponseBody, status: int = 200) -> None:
    """Send a body: plain, gzipped, or as a 304 if the client has it already."""
    request = cast(Headers, scope["headers"])
    tagged = status == 200 and cast(HTTPScope, scope)["method"] in _READS
    gzipped = len(body.plain) >= _GZIP_FROM and accepts_gzip(request)
    not_modified = tagged and body.matches(request)
    start: HTTPResponseStartEvent = {
        "type": "http.response.start",
        "status": 304 if not_modified else status,
        "headers": body.headers(tagged, gzipped, not_modified),
    }
    await send(start)
    content = b"" if not_modified else body.gzipped if gzipped else body.plain
    event: HTTPResponseBodyEvent = {"type": "http.response.body", "body": content, "more_body": False}
    await send(event)


def accepts_gzip(headers: Headers) -> bool:
    """Whether `Accept-Encoding` allows gzip."""
    accepted = b",".join([value for name, value in headers if name == b"accept-encoding"])
    return bool(accepted) and _gzip_in(accepted)


@lru_cache(maxsize=1024)
def _gzip_in(accepted: bytes) -> bool:
    weights = {}
    for text in accepted.decode("latin-1").lower().split(","):
        if found := _CODING.match(text):
            weights[found[1].removeprefix("x-")] = found[2] is None or bool(found[2].strip("0."))
    return weights.get("gzip", weights.get("*", False))
