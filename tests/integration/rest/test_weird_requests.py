"""Requests that no well-meaning client sends: each gets an error response, and none breaks anything."""

from collections.abc import AsyncIterator

import pytest

from app.settings import Settings
from tests.support.web import IssueKey
from tests.support.wire import send, serving_http

SELFCHECK = b"POST /cs2/v1/selfcheck HTTP/1.1"


def get(target: bytes) -> bytes:
    return b"GET " + target + b" HTTP/1.1"


#: A request line, headers that go with it, and the status that answers it.
ADDRESSES = [
    (get(b"/cs2/v1/matches/%zz"), 422),
    (get(b"/cs2/v1/matches/%ff%fe"), 422),
    (get(b"/cs2/v1/matches/%ed%a0%80"), 422),
    (get(b"/cs2/v1/matches/%00"), 404),
    (get(b"/cs2/v1/matches/od:match:99999999999999999999"), 422),
    (get(b"/cs2/v1/matches/" + b"a" * 30_000), 422),
    (get(b"/v1/../v1/whoami"), 404),
    (get(b"/v1/sports.xml"), 404),
    (get(b"/cs2/v1/matches?limit=%00"), 422),
    (get(b"/cs2/v1/matches?%00=1"), 422),
    (get(b"/cs2/v1/matches?limit=%zz"), 422),
    (get(b"/cs2/v1/matches?limit="), 422),
    (get(b"/cs2/v1/matches?limit=" + b"9" * 5000), 422),
    (get(b"/cs2/v1/matches?status=%ed%a0%80"), 422),
    (get(b"/cs2/v1/matches?limit=1;status=live"), 422),
    (get(b"/cs2/v1/matches??limit=1"), 422),
    (get(b"/cs2/v1/matches/\x00"), 400),
    (get("/cs2/v1/matches/é".encode()), 400),
    (get(b"/cs2/v1/matches/a b"), 400),
    (get(b"/cs2/v1/matches/" + b"a" * 70_000), 431),
    (b"OPTIONS * HTTP/1.1", 404),
    (b"CONNECT x:80 HTTP/1.1", 400),
    (b"BREW /v1/whoami HTTP/1.1", 400),
    (b"TRACE /v1/whoami HTTP/1.1", 405),
    (b"PROPFIND /v1/whoami HTTP/1.1", 405),
    (b"GET /v1/whoami HTTP/9.9", 400),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
]
HEADERS = [
    (b"X-API-Key: \xff\xfe", 400),  # beside a good one: they differ
    (b"X-Odd: a\x00b", 400),
    (b"Odd", 400),
    (b"Odd Name: 1", 400),
    (b"Host: a b<>", 200),  # the first Host counts
    (b"Accept: image/png", 406),
    (b"Accept: \xff\xfe,,;q", 406),
    (b"Accept: ,", 200),
    (b"Accept-Encoding: ;;gzip;q=,\xff", 200),
    (b'If-None-Match: "unterminated', 200),
    (b"X-Request-Id: \xff" + b"a" * 500, 200),
    (b"X-HTTP-Method-Override: DELETE", 200),
    (b"Upgrade: h2c\r\nConnection: Upgrade", 200),
    (b"X-Long: " + b"a" * 500_000, 431),
    (b"X-Server-Instance-Token: " + b"a" * 70_000, 431),
    (b"X-Long: " + b"a" * 65_000, 200),
    (b"\r\n".join([b"X-Many: 1"] * 300), 431),
]
BODIES = [
    (b"", 422),
    (b"{", 400),
    (b"{}", 422),
    (b"\xff\xfe", 400),
    (b'{"\xff":1}', 400),
    (b'{"matches":"\\ud800"}', 400),
    (b'{"matches":[{"match":"\\u0000","markets":[]}]}', 422),
    (b'{"matches":' + b"9" * 5000 + b"}", 422),
    (b"[" * 200_000, 422),
    (b'{"x":' * 100_000, 422),
    (b"<selfcheck/>", 400),
]


@pytest.fixture
async def port(settings: Settings) -> AsyncIterator[int]:
    async with serving_http(settings) as port:
        yield port


async def test_every_request_gets_a_response(port: int, issue: IssueKey) -> None:
    key = b"X-API-Key: " + (await issue(bundles=("cs2.odds.basic",), rate_limit_rpm=100_000)).encode()
    requests = [(line, b"", status) for line, status in ADDRESSES]
    requests += [
        (get(b"/v1/whoami") + b"\r\nHost: y\r\n" + header, b"", status) for header, status in HEADERS
    ]
    for body, status in BODIES:
        length_headers = b"\r\nContent-Type: application/json\r\nContent-Length: %d" % len(body)
        requests.append((SELFCHECK + length_headers, body, status))
    chunked = b"\r\nTransfer-Encoding: chunked"
    requests += [
        (SELFCHECK + b"\r\nContent-Length: abc", b"", 400),
        (SELFCHECK + b"\r\nContent-Length: 1\r\nContent-Length: 2", b"{}", 400),
        (SELFCHECK + b"\r\nContent-Length: 99999999999", b"{}", 413),
        (SELFCHECK + chunked, b"zz\r\n{}\r\n0\r\n\r\n", 400),
        (SELFCHECK + chunked + b"\r\nContent-Type: \xff/;;=", b"2\r\n{}\r\n0\r\n\r\n", 422),
    ]
    for head, body, status in requests:
        answer = await send(port, b"\r\n".join([head, key, b"", body]))
        case = (head[:80], body[:40], answer.content)
        assert answer.status_code == status, case
        assert answer.headers["x-request-id"] and answer.headers["date"], case
        assert answer.headers["x-content-type-options"] == "nosniff", case
        if status != 200:
            assert answer.headers["content-type"] == "application/json", case
            assert set(answer.json()) == {"detail"} and answer.json()["detail"], case
            assert answer.headers["cache-control"] == "no-store", case


async def test_every_response_has_a_date_and_its_request_id(port: int, issue: IssueKey) -> None:
    key = b"X-API-Key: " + (await issue(bundles=("cs2.odds.basic",))).encode()
    for line, status in [(b"/v1/whoami", 200), (b"/nothing", 404), (b"/v1/whoami?x=1", 422)]:
        answer = await send(port, b"\r\n".join([get(line), b"Host: x", b"X-Request-Id: mine", key, b"", b""]))
        assert (answer.status_code, answer.headers["x-request-id"]) == (status, "mine")
        assert answer.headers.get_list("date") and len(answer.headers.get_list("date")) == 1
    for name in (b"X-API-Key", b"x-access-token", b"$x$access-token"):
        blank = await send(port, b"\r\n".join([get(b"/v1/whoami"), b"Host: x", name + b":  ", b"", b""]))
        assert blank.status_code == 401


async def test_no_response_may_be_sniffed_and_no_page_framed(port: int, issue: IssueKey) -> None:
    """Neither a body, nor a page, a refusal, the log sink's response, or an upgrade that is refused."""
    key = b"X-API-Key: " + (await issue(bundles=("cs2.odds.basic",))).encode()
    upgrade = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    upgrade += b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
    sink = b"POST /ops/v1/matches/00000000-0000-4000-8000-000000000000/log?token=x HTTP/1.1"
    pages = (b"/", b"/v1/docs", b"/v1/docs/pushed", b"/v1/docs/console")
    heads = [
        get(b"/v1/whoami"),
        get(b"/nothing"),
        get(b"/board/main.js"),
        b"nonsense",
        sink,
        *map(get, pages),
    ]
    heads += [get(path) + b"\r\n" + upgrade for path in (b"/cs2/v1/stream", b"/nothing")]
    for head in heads:
        answer = await send(port, b"\r\n".join([head, b"Host: x", key, b"", b""]))
        assert answer.headers.get_list("x-content-type-options") == ["nosniff"], head
        if head in map(get, pages):
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
