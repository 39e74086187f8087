"""Bodies of answers on their way: which headers belong to them, and what of them a caller still needs.

Every 200 to a GET carries an ETag, the hash of its bytes: other fields, another format, language or build
give other bytes. The gzipped form has a tag of its own. `If-None-Match` knows both, and gets 304. Bodies
depend on who asks, and how: `Vary` names the headers, `Cache-Control` keeps them out of shared caches and
has every use of them checked.
"""

import gzip
import re
from functools import lru_cache
from hashlib import blake2b
from typing import cast

from litestar.response.base import ASGIResponse
from litestar.types import HTTPResponseBodyEvent, HTTPResponseStartEvent, HTTPScope, Receive, Scope, Send

from app.http.media import Format

VARY = "Accept, X-API-Key, x-access-token, $x$access-token, Accept-Encoding"
CACHING = "private, no-cache"
_WORTH_ZIPPING = 1024  #: bytes; a smaller body goes out in one packet anyway
_LEVEL = 5
_TAG = re.compile(rb'"[^"]*"|\*')
_CODING = re.compile(r"\s*(gzip|x-gzip|\*)\s*(?:;\s*q=\s*([0-9.]+)\s*)?\Z", re.ASCII)
Headers = list[tuple[bytes, bytes]]


class Body:
    """The bytes of an answer, with the headers that belong to them; zipped when first asked for so.

    With a `tag` of its own the ETag is a weak one: what differs under one tag does not matter (the moment
    of rendering).
    """

    __slots__ = ("_heads", "_tag", "_zipped", "form", "plain", "weak")

    def __init__(self, plain: bytes, form: Format, tag: str = "") -> None:
        self.plain = plain
        self.form = form
        self.weak = bool(tag)
        self._tag = tag
        self._zipped: bytes | None = None
        self._heads: dict[tuple[bool, bool, bool], Headers] = {}

    @property
    def tag(self) -> str:
        """Its own, or what the bytes hash to."""
        if not self._tag:
            self._tag = blake2b(self.plain, digest_size=16).hexdigest()
        return self._tag

    @property
    def zipped(self) -> bytes:
        """The bytes, gzipped; the same at every call and in every process."""
        if self._zipped is None:
            self._zipped = gzip.compress(self.plain, _LEVEL, mtime=0)
        return self._zipped

    def known_to(self, request: Headers) -> bool:
        """Whether the caller's `If-None-Match` names these bytes, zipped or not."""
        told = b",".join([value for name, value in request if name == b"if-none-match"])
        if not told:
            return False
        ours = {b"*", f'"{self.tag}"'.encode(), f'"{self.tag}-gzip"'.encode()}
        return not ours.isdisjoint(_TAG.findall(told))

    def head(self, tagged: bool, zipped: bool, known: bool) -> Headers:
        """The headers of an answer that carries these bytes; nothing is carried to whom they are `known`."""
        kind = (tagged, zipped, known)
        head = self._heads.get(kind)
        if head is None:
            head = self._heads[kind] = _head(self, tagged, zipped, known)
        return head


def _head(body: Body, tagged: bool, zipped: bool, known: bool) -> Headers:
    head = [(b"vary", VARY.encode()), (b"cache-control", CACHING.encode())]
    if tagged:
        tag = f'"{body.tag}-gzip"' if zipped else f'"{body.tag}"'
        head.append((b"etag", f"W/{tag}".encode() if body.weak else tag.encode()))
    if not known:
        length = len(body.zipped if zipped else body.plain)
        head.append((b"content-type", body.form.value.encode()))
        head.append((b"content-length", str(length).encode()))
        if zipped:
            head.append((b"content-encoding", b"gzip"))
    return head


class Sent(ASGIResponse):
    """What becomes of a body once a handler has made it."""

    __slots__ = ("_rendered",)

    def __init__(self, body: Body, status: int) -> None:
        super().__init__(status_code=200)
        self._rendered = body
        self.status_code = status

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await deliver(scope, send, self._rendered, self.status_code)


async def deliver(scope: Scope, send: Send, body: Body, status: int = 200) -> None:
    """Send a body: whole, zipped, or not at all where the caller has it already."""
    asked = cast(Headers, scope["headers"])
    tagged = status == 200 and cast(HTTPScope, scope)["method"] == "GET"
    zipped = len(body.plain) >= _WORTH_ZIPPING and takes_gzip(asked)
    known = tagged and body.known_to(asked)
    start: HTTPResponseStartEvent = {
        "type": "http.response.start",
        "status": 304 if known else status,
        "headers": body.head(tagged, zipped, known),
    }
    await send(start)
    content = b"" if known else body.zipped if zipped else body.plain
    event: HTTPResponseBodyEvent = {"type": "http.response.body", "body": content, "more_body": False}
    await send(event)


def takes_gzip(headers: Headers) -> bool:
    """Whether the caller can unzip."""
    said = b",".join([value for name, value in headers if name == b"accept-encoding"])
    return bool(said) and _gzip_in(said)


@lru_cache(maxsize=1024)
def _gzip_in(said: bytes) -> bool:
    weights = {}
    for text in said.decode("latin-1").lower().split(","):
        if found := _CODING.match(text):
            weights[found[1].removeprefix("x-")] = found[2] is None or bool(found[2].strip("0."))
    return weights.get("gzip", weights.get("*", False))
