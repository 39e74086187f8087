"""A file as the body of a response, whole or a part of it, so that a download which broke off can be resumed.

A client asks for the rest with `Range: bytes=1000-` and, in `If-Range`, the ETag of what it has: it gets 206
with that part while the file is the same, and 200 with all of it otherwise. A range that the file does not
have is refused with 416. Several ranges at once, other units and malformed ranges are answered with the whole
file, as RFC 9110 allows. The framework's file responses (Litestar 2.25) know no ranges.
"""

import asyncio
import os
import re
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from litestar import Request, Response
from litestar.response.base import ASGIResponse
from litestar.types import HTTPScope, Receive, Scope, Send

from app.http.representation import CACHING, VARY, Headers, is_known
from app.kit.errors import NotFound, RangeNotSatisfiable

_PIECE = 256 * 1024
_RANGE = re.compile(rb"bytes=(?:([0-9]{1,18})-([0-9]{0,18})|-([0-9]{1,18}))", re.ASCII)


class ByteRange(NamedTuple):
    """Bytes of a file: from `begin` on, `length` of them."""

    begin: int
    length: int


def requested_range(headers: Headers, size: int, tag: str) -> ByteRange | None:
    """The part of a file of this size and ETag that a GET requests; None: all of it. Raises
    `RangeNotSatisfiable`."""
    values = [value.strip() for name, value in headers if name == b"range"]
    found = _RANGE.fullmatch(values[0]) if len(values) == 1 else None
    condition = b",".join([value.strip() for name, value in headers if name == b"if-range"])
    if found is None or (condition and condition != tag.encode()):
        return None
    first, last, suffix = (int(each) if each else None for each in found.groups())
    if first is None:
        first, last = max(size - (suffix or 0), 0), None
    if last is not None and last < first:
        return None
    if first >= size:
        raise RangeNotSatisfiable(f"The file has {size} bytes; none from {first} on.", size=size)
    return ByteRange(first, min(size - 1 if last is None else last, size - 1) - first + 1)


class FileResponse(Response[bytes]):
    """A response with the bytes of a file: `size` of them. `tag` is a hash of them, `media_type` their type,
    `name` what a browser stores them as. A file that is gone, or of another size, is a `NotFound`."""

    def __init__(self, path: Path, *, size: int, tag: str, media_type: str, name: str) -> None:
        super().__init__(b"", media_type=media_type)
        self._path, self._size, self._tag, self._name = path, size, tag, name

    def to_asgi_response(self, app: object, request: Request[Any, Any, Any], **options: Any) -> ASGIResponse:
        head = [
            (b"content-type", str(self.media_type).encode()),
            (b"content-disposition", f'attachment; filename="{self._name}"'.encode()),
            (b"accept-ranges", b"bytes"),
            (b"etag", f'"{self._tag}"'.encode()),
            (b"vary", VARY.encode()),
            (b"cache-control", CACHING.encode()),
        ]
        return _FileBody(self._path, self._size, self._tag, head)


class _FileBody(ASGIResponse):
    """The ASGI response that sends a file."""

    __slots__ = ("_head", "_path", "_size", "_tag")

    def __init__(self, path: Path, size: int, tag: str, head: Headers) -> None:
        super().__init__()
        self._path, self._size, self._tag, self._head = path, size, tag, head

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            file = self._path.open("rb")
        except FileNotFoundError as error:
            raise NotFound("This file is not there any more.") from error
        with file:
            if os.fstat(file.fileno()).st_size != self._size:
                raise NotFound("This file is not whole any more.")
            status, part, more = self._part(scope, self._size)
            await send(
                cast(Any, {"type": "http.response.start", "status": status, "headers": self._head + more})
            )
            if cast(HTTPScope, scope)["method"] != "HEAD":
                await _send_part(file, part, receive, send)
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _part(self, scope: Scope, size: int) -> tuple[int, ByteRange, Headers]:
        """The status of the response, the part that it has of a file of this size, and headers about it."""
        request = cast(Headers, scope["headers"])
        if is_known(self._tag, request):
            return 304, ByteRange(0, 0), []
        wanted = cast(HTTPScope, scope)["method"] == "GET"  # HEAD has no ranges
        part = requested_range(request, size, f'"{self._tag}"') if wanted else None
        if part is None:
            return 200, ByteRange(0, size), [(b"content-length", str(size).encode())]
        place = f"bytes {part.begin}-{part.begin + part.length - 1}/{size}"
        length = (b"content-length", str(part.length).encode())
        return 206, part, [length, (b"content-range", place.encode())]


async def _send_part(file: BinaryIO, part: ByteRange, receive: Receive, send: Send) -> None:
    """Send these bytes as the client takes them, and stop when it has gone. Raises `EOFError` if the file has
    become shorter: the server then closes the connection, and the client sees that something is missing."""
    left = part.length
    file.seek(part.begin)
    gone = asyncio.create_task(_disconnected(receive))
    try:
        while left and not gone.done():
            piece = await asyncio.to_thread(file.read, min(left, _PIECE))
            if not piece:
                raise EOFError(f"{file.name} has become shorter while it was sent")
            left -= len(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    finally:
        gone.cancel()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
