"""A proxy in front of REST, the stream and changes over HTTP, which can refuse, cut and hold; and the address
at which a client reports its book.

Each connection serves one request, so that an answer ends with its connection. Answers are passed on as they
come.
"""

import asyncio
import re
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from http import HTTPStatus

from app.sandbox.certification.evidence import Evidence

REPORT_PATH = "/certification/report"
_MOST_HEAD, _PIECE = 64 * 1024, 64 * 1024
_AFTER = re.compile(r"(?<=[?&]after=)[1-9]\d*")
_EVENT = re.compile(rb"data: (\{.*?\})\r?\n")


@dataclass(frozen=True)
class Request:
    method: str
    target: str
    headers: dict[str, str]

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def upgrade(self) -> bool:
        return self.headers.get("upgrade", "").lower() == "websocket"

    @property
    def recovery(self) -> bool:
        return self.method == "POST" and self.path.endswith("/initiate_request")

    @property
    def self_check(self) -> bool:
        return self.path.endswith("/cs2/v1/selfcheck") and "content-length" in self.headers

    @property
    def changes(self) -> bool:
        """Whether it is for pages or events of changes, or for the stream."""
        return self.path.endswith("/cs2/v1/changes") or "/cs2/v1/stream" in self.path

    def earlier(self, millis: int) -> "Request":
        """The same with an `after` that is so much earlier."""
        moved = _AFTER.sub(lambda found: str(max(0, int(found[0]) - millis)), self.target)
        return replace(self, target=moved)

    def without(self, *names: str) -> "Request":
        """Without these parameters."""
        path, _, query = self.target.partition("?")
        rest = "&".join(pair for pair in query.split("&") if pair and pair.partition("=")[0] not in names)
        headers = {name: value for name, value in self.headers.items() if name not in names}
        return replace(self, target=f"{path}?{rest}" if rest else path, headers=headers)


@dataclass(frozen=True)
class Refusal:
    """An answer of the proxy's own, in the place of the service's."""

    status: int
    detail: str
    headers: dict[str, str] = field(default_factory=dict)
    code: str = ""

    def raw(self) -> bytes:
        detail = f'"{self.detail}"'
        if self.code:
            detail = f'[{{"type": "{self.code}", "msg": "{self.detail}", "loc": ["query", "after"]}}]'
        body = f'{{"detail": {detail}}}'.encode()
        lines = [f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}"]
        headers = {
            "content-type": "application/json",
            "content-length": str(len(body)),
            "connection": "close",
        }
        lines += [f"{name}: {value}" for name, value in (headers | self.headers).items()]
        return "\r\n".join((*lines, "", "")).encode() + body


@dataclass(frozen=True)
class Cut:
    """The service's answer, cut off after so many bytes of it, or of what comes `behind` a text in it."""

    after: int
    behind: bytes = b""


@dataclass(frozen=True)
class Altered:
    """Another request in the place of this one; with `cut` its answer is cut off."""

    request: Request
    cut: Cut | None = None


Treated = Refusal | Cut | Altered | None
Rule = Callable[[Request], Treated]


def pass_all(_: Request) -> Treated:
    return None


class HttpProxy:
    """Listens at `port`, and at `sdk_port` over TLS for the service's SDK address; `rule` decides about each
    request. `take_report` is given what a process of the client reports, and says what is wrong with it;
    `take_digest` the bodies of self-checks. `later_millis`: how much later than it is the time is in messages
    over AMQP, from which the client takes the `after` of a recovery."""

    def __init__(
        self,
        host: str,
        ports: tuple[int, int],
        evidence: Evidence,
        take_report: Callable[[bytes, int], str],
        take_digest: Callable[[bytes], None],
    ) -> None:
        self._host, self._ports = host, ports
        self.evidence = evidence
        self._take_report, self._take_digest = take_report, take_digest
        self.rule: Rule = pass_all
        self.later_millis = 0
        self.serves_sdk = False  #: whether the last recovery was requested at the SDK address
        self.port = self.sdk_port = 0
        self._servers: list[asyncio.Server] = []
        self._open: dict[asyncio.StreamWriter, Request] = {}
        self._stalled: set[asyncio.StreamWriter] = set()

    async def start(self, secured: ssl.SSLContext) -> None:
        for port, context in zip(self._ports, (None, secured), strict=True):
            serve = partial(self._serve, port)
            self._servers.append(
                await asyncio.start_server(serve, "127.0.0.1", 0, limit=_MOST_HEAD, ssl=context)
            )
        self.port, self.sdk_port = (each.sockets[0].getsockname()[1] for each in self._servers)

    async def stop(self) -> None:
        for server in self._servers:
            server.close()
        for writer in list(self._open):
            writer.transport.abort()

    def cut(self) -> None:
        """Cut every connection on which changes are sent."""
        for writer, request in list(self._open.items()):
            if request.changes:
                writer.transport.abort()

    def stall(self) -> None:
        """Send nothing any more on the connections on which changes are sent; they stay open."""
        self._stalled |= {writer for writer, request in self._open.items() if request.changes}

    @property
    def following(self) -> int:
        """How many connections there are on which changes are sent."""
        return sum(request.changes for writer, request in self._open.items() if writer not in self._stalled)

    async def _serve(self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = _parsed(await reader.readuntil(b"\r\n\r\n"))
            self._open[writer] = request
            await self._answer(request, port, reader, writer)
        except (EOFError, OSError, ValueError, asyncio.LimitOverrunError):
            pass
        finally:
            self._open.pop(writer, None)
            self._stalled.discard(writer)
            with suppress(OSError):
                writer.close()

    async def _answer(
        self, request: Request, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if request.path == REPORT_PATH:
            length = int(request.headers.get("content-length", "0"))
            process = re.search(r"process=(\d+)", request.target)
            body = await reader.readexactly(length)
            problem = self._take_report(body, int(process[1]) if process else 1)
            writer.write(
                Refusal(400, problem).raw()
                if problem
                else b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n"
            )
            await writer.drain()
            return
        if request.recovery:
            request, self.serves_sdk = request.earlier(self.later_millis), port == self._ports[1]
        treated = self.rule(request)
        if request.recovery or request.changes:
            outcome = "" if treated is None else f" → {_outcome(treated)}"
            self.evidence.note(f"requested: {request.method} {_without_key(request.target)}{outcome}")
        if isinstance(treated, Refusal):
            writer.write(treated.raw())
            await writer.drain()
            return
        cut = treated if isinstance(treated, Cut) else None
        if isinstance(treated, Altered):
            request, cut = treated.request, treated.cut
        await self._forward(request, cut, port, reader, writer)

    async def _forward(
        self,
        request: Request,
        cut: Cut | None,
        port: int,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        from_service, to_service = await asyncio.open_connection(self._host, port)
        to_service.write(_head(request))
        if request.self_check:
            digest = await reader.readexactly(int(request.headers["content-length"]))
            self._take_digest(digest)
            to_service.write(digest)
        upload = asyncio.create_task(_pump(reader, to_service))
        try:
            await self._download(request, cut, from_service, writer)
            if writer in self._stalled:
                await upload  # it ends when the client gives up
        finally:
            upload.cancel()
            await asyncio.gather(upload, return_exceptions=True)
            to_service.transport.abort()

    async def _download(
        self, request: Request, cut: Cut | None, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        seen, frames = 0, _Frames(self.evidence, request) if request.changes else None
        while piece := await reader.read(_PIECE):
            if cut is not None and cut.behind and cut.behind in piece:
                cut = Cut(seen + piece.index(cut.behind) + cut.after)
            if cut is not None and not cut.behind and seen + len(piece) > cut.after:
                writer.write(piece[: max(0, cut.after - seen)])
                await writer.drain()
                writer.transport.abort()
                return
            seen += len(piece)
            if writer in self._stalled:
                continue
            if frames is not None:
                frames.add(piece)
            writer.write(piece)
            await writer.drain()


class _Frames:
    """What an answer has of changes, for the evidence."""

    def __init__(self, evidence: Evidence, request: Request) -> None:
        self._evidence, self._request = evidence, request
        self._rest = b""

    def add(self, piece: bytes) -> None:
        self._rest += piece
        if self._request.upgrade:
            self._take_websocket()
        elif "text/event-stream" in self._request.headers.get("accept", ""):
            for found in _EVENT.finditer(self._rest):
                self._sent("event", found[1])
            self._rest = self._rest.rpartition(b"\n")[2]
        else:
            head, _, body = self._rest.partition(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
            if length and len(body) >= int(length[1]):
                for each in body.split(b'{"type":')[1:]:
                    self._sent("in a page", b'{"type":' + each)

    def _take_websocket(self) -> None:
        """Texts of a server are neither masked nor, here, compressed."""
        if self._rest.startswith(b"HTTP/"):
            if b"\r\n\r\n" not in self._rest:
                return
            self._rest = self._rest.partition(b"\r\n\r\n")[2]
        while len(self._rest) >= 2:
            length, begin = self._rest[1] & 127, 2
            if length >= 126:
                begin = 4 if length == 126 else 10
                if len(self._rest) < begin:
                    return
                length = int.from_bytes(self._rest[2:begin])
            if len(self._rest) < begin + length:
                return
            if self._rest[0] & 15 == 1:
                self._sent("frame", self._rest[begin : begin + length])
            self._rest = self._rest[begin + length :]

    def _sent(self, what: str, text: bytes) -> None:
        if not text.startswith(b'{"type":"alive"'):
            self._evidence.sent(what, text.decode(errors="replace"))


def _parsed(raw: bytes) -> Request:
    first, *lines = raw.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines if line)
    return Request(method, target, {name.strip().lower(): value.strip() for name, _, value in pairs})


def _head(request: Request) -> bytes:
    """The request's head for the service; answers are neither compressed nor followed by others."""
    headers = {name: value for name, value in request.headers.items() if name != "accept-encoding"}
    if not request.upgrade:
        headers["connection"] = "close"
    lines = [
        f"{request.method} {request.target} HTTP/1.1",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join((*lines, "", "")).encode("latin-1")


def _outcome(treated: Refusal | Cut | Altered) -> str:
    if isinstance(treated, Refusal):
        return f"{treated.status}"
    return f"cut off after {treated.after} bytes" if isinstance(treated, Cut) else "of another place"


def _without_key(target: str) -> str:
    return re.sub(r"api_key=[^&]*", "api_key=…", target)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()
        writer.transport.abort()
