"""What determines the address of a client: the socket, and proxies that the settings name."""

import httpx
import msgspec

from app.settings import Settings
from tests.support.web import IssueKey
from tests.support.wire import send, serving_http

CLIENT = "192.0.2.7"


async def whoami(port: int, key: str, forwarded: str) -> httpx.Response:
    lines = ["GET /v1/whoami HTTP/1.1", "Host: x", f"X-API-Key: {key}", f"X-Forwarded-For: {forwarded}"]
    return await send(port, "\r\n".join([*lines, "", ""]).encode())


#: `TRUSTED_PROXIES`, `X-Forwarded-For`, and how a key that is limited to `CLIENT` is answered.
CASES = (
    ("", CLIENT, 403),
    ("", f"{CLIENT}, 127.0.0.1", 403),
    ("10.0.0.0/8", CLIENT, 403),
    ("127.0.0.1", CLIENT, 200),
    ("10.0.0.0/8, 127.0.0.0/8", CLIENT, 200),
    # What the proxy did not write itself is the client's own invention.
    ("127.0.0.1", f"{CLIENT}, 198.51.100.1", 403),
    ("127.0.0.1, 10.0.0.0/8", f"{CLIENT}, 10.1.2.3", 200),
)


async def test_a_forwarded_address_counts_from_proxies_that_are_named(
    settings: Settings, issue: IssueKey
) -> None:
    key = await issue(bundles=("cs2.odds.basic",), networks=(f"{CLIENT}/32",))
    for trusted, forwarded, status in CASES:
        behind = msgspec.structs.replace(settings, trusted_proxies=trusted)
        async with serving_http(behind) as port:
            assert (await whoami(port, key, forwarded)).status_code == status, (trusted, forwarded)
