"""What is sent of a resource: its format, the bytes, the headers that belong to them, and conditional and
compressed sending.

The format is JSON unless the client prefers XML, or what else a route sends: CSV, or server-sent events. In
`Accept` the more specific range wins: a type outweighs `type/*`, which outweighs `*/*`; weight 0 excludes.
Malformed ranges and ranges with a malformed weight are ignored; if none is left, the request is not
acceptable. XML matches under both its names (`text/xml` is an alias, RFC 7303) and is always sent as
`application/xml`.

Every 200 to a GET carries an ETag, the hash of its bytes: other fields, another format, language or build
give other bytes. The gzipped form has a tag of its own. `If-None-Match` matches either, and gets 304. Bodies
depend on the key and the format: `Vary` names the headers, `Cache-Control` keeps them out of shared caches
and requires revalidation at every use.

Why not the framework's (Litestar 2.25): its `Accept` takes a type of weight 0 and a malformed weight for
acceptable, a single `*` for unacceptable, and knows no aliases. Its `CompressionConfig` sends gzip to a
client that excludes it (`gzip;q=0`), sends none for `*`, leaves the compressed form the strong ETag of the
plain one, and compresses a cached body again at each request.
"""

import gzip
import re
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple, cast

from litestar.types import HTTPResponseBodyEvent, HTTPResponseStartEvent, HTTPScope, Scope, Send

from app.kit.csv_rows import CSV_WITH_HEADER
from app.kit.errors import NotAcceptable

_KEY = "matchfeed.format"
_RANGE = re.compile(r"\s*([\w!#$&^.+*-]+)(?:/([\w!#$&^.+*-]+))?\s*((?:;[^,]*)?)\Z", re.ASCII)
_WEIGHT = re.compile(r"(?:1(?:\.0*)?|0?\.[0-9]+|0\.?)\Z", re.ASCII)
_REFUSAL = "This service answers application/json and application/xml; Accept wants neither."
_REFUSAL_WITH = "Here are application/json, application/xml and {}; Accept wants none of them."


class Format(StrEnum):
    """A format; the value is its content type. CSV and events are formats of few routes."""

    JSON = "application/json"
    XML = "application/xml"
    CSV = CSV_WITH_HEADER
    EVENTS = "text/event-stream"


#: The media types, as (type, subtype), that select a format.
_NAMES: dict[Format, tuple[tuple[str, str], ...]] = {
    Format.JSON: (("application", "json"),),
    Format.XML: (("application", "xml"), ("text", "xml")),
    Format.CSV: (("text", "csv"),),
    Format.EVENTS: (("text", "event-stream"),),
}
_USUAL = (Format.JSON, Format.XML)
_Ranges = dict[tuple[str, str], float]


def negotiate(headers: Iterable[tuple[bytes, bytes]], more: Format | None = None) -> Format:
    """The format that `Accept` prefers; JSON without a preference. `more` is one beside JSON and XML. Raises
    `NotAcceptable`."""
    accept = b",".join([value for name, value in headers if name == b"accept"])
    found = _preferred(accept, more) if accept else Format.JSON
    if found is None:
        raise NotAcceptable(_REFUSAL_WITH.format("/".join(_NAMES[more][0])) if more else _REFUSAL)
    return found


def response_format(scope: Scope) -> Format:
    """The format that `set_response_format` stored for this request; JSON before that."""
    found: Format = scope["state"].get(_KEY, Format.JSON)
    return found


def set_response_format(scope: Scope, chosen: Format) -> None:
    """Store the format of this request's response."""
    scope["state"][_KEY] = chosen


@lru_cache(maxsize=1024)
def _preferred(accept: bytes, more: Format | None) -> Format | None:
    """None if no format is acceptable. At equal weight the more specific range wins, then JSON, then XML."""
    ranges = _ranges(accept.decode("latin-1").lower())
    if not ranges:
        return None if accept.strip(b" ,\t") else Format.JSON
    formats = (*_USUAL, more) if more else _USUAL
    preferences = {form: _preference(form, ranges) for form in formats}
    best = max(formats, key=lambda form: preferences[form])
    return best if preferences[best][0] > 0 else None


def _preference(form: Format, ranges: _Ranges) -> tuple[float, int]:
    """The weight of `form`, and how specific the range is that sets it."""
    names = _NAMES[form]
    families = [(family, "*") for family, _ in names]
    for rank, candidates in ((2, names), (1, families), (0, [("*", "*")])):
        weights = [ranges[one] for one in candidates if one in ranges]
        if weights:
            return max(weights), rank
    return 0.0, 0


def _ranges(accept: str) -> _Ranges:
    """The weight of each well-formed media range; the higher weight of one that is repeated."""
    found: _Ranges = {}
    for text in accept.split(","):
        match = _RANGE.match(text)
        weight = _weight(match[3]) if match else None
        if match is None or weight is None or not _is_media_range(match[1], match[2]):
            continue
        name = (match[1], match[2] or "*")
        found[name] = max(weight, found.get(name, 0.0))
    return found


def _is_media_range(family: str, name: str | None) -> bool:
    """Whether this is a media range; a single `*`, which old clients send, is one too."""
    if name is None or family == "*":
        return family == "*" and name in (None, "*")
    return "*" not in family and ("*" not in name or name == "*")


def _weight(parameters: str) -> float | None:
    """The weight among a range's parameters: 1 when there is none, None when it is malformed."""
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            return float(value) if _WEIGHT.match(value.strip()) else None
    return 1.0


VARY = "Accept, X-API-Key, x-access-token, $x$access-token, Accept-Encoding"
CACHING = "private, no-cache"
_GZIP_FROM = 1024  #: bytes; a smaller body fits into one packet anyway
_LEVEL = 5
_READS = ("GET", "HEAD")
_TAG = re.compile(rb'"[^"]*"|\*')
_CODING = re.compile(r"\s*(gzip|x-gzip|\*)\s*(?:;\s*q=\s*([0-9.]+)\s*)?\Z", re.ASCII)
Headers = list[tuple[bytes, bytes]]


class Answer(NamedTuple):
    """A body as one request receives it. `fields` are the headers as HTTP/1.1 writes them."""

    status: int
    headers: Headers
    fields: bytes
    content: bytes


class ResponseBody:
    """The bytes of a response, with the headers that belong to them; gzipped on first use.

    With a `tag` of its own the ETag is a weak one: bodies of one tag differ only in what does not matter (the
    moment of rendering). `caching` is its `Cache-Control`.
    """

    __slots__ = ("_answers", "_gzipped", "_tag", "caching", "form", "plain", "weak")

    def __init__(self, plain: bytes, form: Format, tag: str = "", caching: str = CACHING) -> None:
        self.plain = plain
        self.form = form
        self.caching = caching
        self.weak = bool(tag)
        self._tag = tag
        self._gzipped: bytes | None = None
        self._answers: dict[tuple[int, bool, bool], Answer] = {}

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
        condition = _if_none_match(request)
        return bool(condition) and _names(condition, self.tag, f"{self.tag}-gzip")

    def answer(self, scope: Scope, status: int = 200) -> Answer:
        """The body plain, gzipped, or as a 304 if the client has it already."""
        request = cast(Headers, scope["headers"])
        tagged = status == 200 and cast(HTTPScope, scope)["method"] in _READS
        gzipped = len(self.plain) >= _GZIP_FROM and accepts_gzip(request)
        if tagged and self.matches(request):
            status = 304
        kind = (status, tagged, gzipped)
        answer = self._answers.get(kind)
        if answer is None:
            answer = self._answers[kind] = _answer(self, *kind)
        return answer


def is_known(tag: str, request: Headers) -> bool:
    """Whether the request's `If-None-Match` names this tag."""
    condition = _if_none_match(request)
    return bool(condition) and _names(condition, tag)


def _if_none_match(request: Headers) -> bytes:
    return b",".join([value for name, value in request if name == b"if-none-match"])


def _names(condition: bytes, *tags: str) -> bool:
    return not {b"*", *(f'"{tag}"'.encode() for tag in tags)}.isdisjoint(_TAG.findall(condition))


def _answer(body: ResponseBody, status: int, tagged: bool, gzipped: bool) -> Answer:
    headers = [(b"vary", VARY.encode()), (b"cache-control", body.caching.encode())]
    if tagged:
        tag = f'"{body.tag}-gzip"' if gzipped else f'"{body.tag}"'
        headers.append((b"etag", f"W/{tag}".encode() if body.weak else tag.encode()))
    if status == 304:
        return Answer(status, headers, header_fields(headers), b"")
    content = body.gzipped if gzipped else body.plain
    headers.append((b"content-type", body.form.value.encode()))
    headers.append((b"content-length", str(len(content)).encode()))
    if gzipped:
        headers.append((b"content-encoding", b"gzip"))
    return Answer(status, headers, header_fields(headers), content)


def header_fields(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Headers as HTTP/1.1 writes them."""
    return b"".join([b"%b: %b\r\n" % each for each in headers])


async def send_body(
    scope: Scope, send: Send, body: ResponseBody, status: int = 200, extra: Iterable[tuple[bytes, bytes]] = ()
) -> None:
    """Send a body (`ResponseBody.answer`) with these `extra` headers."""
    answer = body.answer(scope, status)
    start: HTTPResponseStartEvent = {
        "type": "http.response.start",
        "status": answer.status,
        "headers": [*answer.headers, *extra],
    }
    await send(start)
    event: HTTPResponseBodyEvent = {
        "type": "http.response.body",
        "body": answer.content,
        "more_body": False,
    }
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
