"""A cached body, which our connections send past the framework, is the response that a handler's would be."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from litestar.types import Scope
from prometheus_client import REGISTRY

from app.domain.match import Match
from app.http import request_guard
from app.http.representation import send_body
from app.http.server import HttpProtocol
from app.settings import Settings
from tests.support.eventually import eventually
from tests.support.web import IssueKey
from tests.support.wire import serving_http

GZIP = b"Accept-Encoding: gzip\r\n"
#: What differs from one response to the next.
OWN = (b"date:", b"ratelimit:", b"x-request-id:")
Counted = Callable[[], int]


@pytest.fixture
async def port(settings: Settings) -> AsyncIterator[int]:
    async with serving_http(settings) as port:
        yield port


@pytest.fixture
async def key(issue: IssueKey) -> bytes:
    return (
        b"X-API-Key: " + (await issue(bundles=("cs2.odds.basic",), rate_limit_rpm=100_000)).encode() + b"\r\n"
    )


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> Counted:
    """How many responses were sent with one write."""
    count = 0
    respond = HttpProtocol.respond

    async def counted(self: HttpProtocol, scope: Scope, *response: Any) -> bool:
        nonlocal count
        sent = await respond(self, scope, *response)
        count += sent
        return sent

    monkeypatch.setattr(HttpProtocol, "respond", counted)
    return lambda: count


def get(path: str, *headers: bytes, version: bytes = b"1.1", method: bytes = b"GET") -> bytes:
    line = b"%b %b HTTP/%b\r\n" % (method, path.encode(), version)
    return b"".join([line, b"Host: x\r\n", *headers, b"\r\n"])


async def exchange(port: int, *requests: bytes) -> bytes:
    """All that the server sends in response to requests of which the last ends the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(b"".join(requests))
        async with asyncio.timeout(60):
            return await reader.read()
    finally:
        writer.transport.abort()


CLOSE = b"Connection: close\r\n"


async def cached(port: int, request: bytes, at_once: Counted) -> bytes:
    """The response, once it comes from the cache."""

    async def fetch() -> tuple[int, bytes]:
        before = at_once()
        return before, await exchange(port, request)

    _, response = await eventually(fetch, lambda found: at_once() > found[0])
    return response


def common(response: bytes) -> tuple[list[bytes], bytes]:
    """Status line and headers as sent, in order, without what is a response's own; and the body."""
    head, _, body = response.partition(b"\r\n\r\n")
    return [line for line in head.split(b"\r\n") if not line.lower().startswith(OWN)], body


async def test_it_is_the_response_that_the_server_and_the_framework_would_send(
    port: int, key: bytes, live: Match, at_once: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = f"/cs2/v1/matches/{live.id}"
    tag = common(await cached(port, get(match, key, CLOSE), at_once))[0]
    [etag] = [line.split(b": ", 1)[1] for line in tag if line.startswith(b"etag:")]
    requests = [
        get("/v1/whoami", key, CLOSE),
        get("/v1/whoami", key, b"Accept: application/xml\r\n", CLOSE),
        get("/cs2/v1/matches?status=live&limit=7", key, GZIP, CLOSE),
        get(match, key, CLOSE),
        get(match, key, GZIP, CLOSE),
        get(match, key, GZIP, b"If-None-Match: " + etag + b"\r\n", CLOSE),
        get(match, key, version=b"1.0"),
        get(f"{match}/markets.xml", key, GZIP, CLOSE),
    ]
    ours = [await cached(port, request, at_once) for request in requests]
    monkeypatch.setattr(request_guard, "send_cached", send_body)
    theirs = [await exchange(port, request) for request in requests]
    for request, one, other in zip(requests, ours, theirs, strict=True):
        assert common(one) == common(other), request
        for name in OWN:
            assert one.lower().count(b"\r\n" + name) == other.lower().count(b"\r\n" + name) == 1, request
    assert [one.split(b" ", 2)[1] for one in ours] == [b"200"] * 5 + [b"304"] + [b"200"] * 2
    assert [b"connection: close" in one.lower() for one in ours] == [True] * 8


async def test_head_has_the_same_headers_and_no_body(port: int, key: bytes, at_once: Counted) -> None:
    ours = common(await cached(port, get("/v1/whoami", key, CLOSE), at_once))
    assert common(await exchange(port, get("/v1/whoami", key, CLOSE, method=b"HEAD"))) == (ours[0], b"")


async def test_a_misspelled_parameter_is_refused_though_the_body_without_it_is_cached(
    port: int, key: bytes, at_once: Counted
) -> None:
    await cached(port, get("/cs2/v1/matches?limit=7", key, CLOSE), at_once)
    for path in ("/cs2/v1/matches?limit=7&limmit=7", "/cs2/v1/matches?limit=x"):
        for _ in range(2):
            assert (await exchange(port, get(path, key, CLOSE))).startswith(b"HTTP/1.1 422 ")


async def test_it_is_counted_and_has_the_clients_id(port: int, key: bytes, at_once: Counted) -> None:
    def counted() -> float | None:
        labels = {"api": "rest", "status": "2xx"}
        return REGISTRY.get_sample_value("matchfeed_http_responses_total", labels)

    request = get("/v1/whoami", key, b"X-Request-Id: mine\r\n", CLOSE)
    await cached(port, request, at_once)
    before, sent = counted(), at_once()
    response = await exchange(port, request)
    assert before is not None and (counted(), at_once()) == (before + 1, sent + 1)
    assert response.count(b"\r\nx-request-id: mine\r\n") == 1


async def test_each_of_many_requests_sent_ahead_gets_its_response(
    port: int, key: bytes, live: Match, at_once: Counted
) -> None:
    """More than the connection buffers: the client reads nothing until all is sent."""
    match = f"/cs2/v1/matches/{live.id}"
    alone = common(await cached(port, get(match, key, CLOSE), at_once))[1]
    whoami = common(await cached(port, get("/v1/whoami", key, CLOSE), at_once))[1]
    many = [get(match if number % 2 else "/v1/whoami", key) for number in range(600)]
    received = await exchange(port, *many, get("/v1/whoami", key, CLOSE))
    assert received.count(b"HTTP/1.1 200 OK\r\n") == 601
    assert (received.count(alone), received.count(whoami)) == (300, 301)
