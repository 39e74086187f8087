"""Two listeners of one process: what each serves, and that no spelling of an address leads round it."""

from collections.abc import AsyncIterator

import httpx
import msgspec
import pytest

from app.access import log_tokens
from app.kit.clock import system_clock
from app.settings import Settings
from app.store.connections import Store
from tests.support.eventually import eventually
from tests.support.matches import create_match
from tests.support.ports import spare
from tests.support.streaming import refusal
from tests.support.web import IssueKey
from tests.support.wire import send, serving_http

#: Spellings of an operators' address that some proxy or server takes for another, or for the same.
ODD = (
    "//ops/v1/feed",
    "/ops//v1/feed",
    "/ops/v1//feed",
    "/ops%2fv1/feed",
    "/ops/v1%2Ffeed",
    "/%6fps/v1/feed",
    "/%2fops/v1/feed",
    "/./ops/v1/feed",
    "/v1/../ops/v1/feed",
    "/ops/../ops/v1/feed",
    "/ops/v1/./feed",
    "/%2e%2e/ops/v1/feed",
    "/ops/v1/x/%2e%2e/feed",
    "/\\ops/v1/feed",
    "/ops\\v1\\feed",
    "/ops%5cv1%5cfeed",
    "/ops%252fv1%252ffeed",
    "/OPS/v1/feed",
    "/ops;x=1/v1/feed",
    "/ops/v1/feed%2f",
    "/ops/v1/tenants/acme%2famqp",
    "/v1/sports/..%2f../ops/v1/feed",
    "/ops/v1/feed/",
    "/ops/v1/matches/",
    "/x/../console/audit",
    "/console%2faudit",
    "/%63onsole/audit",
    "/console/./audit",
    "/console\\audit",
    "/consoles",
)
#: Spellings of tenants' addresses of the same kind, with a key that the plain address takes.
ODD_PUBLIC = (
    "//v1/whoami",
    "/v1//whoami",
    "/v1%2fwhoami",
    "/%2fv1/whoami",
    "/%761/whoami",
    "/v1/who%61mi",
    "/v1/./whoami",
    "/v1/x/../whoami",
    "/v1/%2e/whoami",
    "/v1\\whoami",
    "/v1%5cwhoami",
    "//cs2/v1/matches",
    "/cs2/v1//matches",
)
ODD_STREAMS = (
    "//cs2/v1/stream",
    "/cs2//v1/stream",
    "/cs2%2fv1/stream",
    "/cs2/v1/str%65am",
    "/./cs2/v1/stream",
)


class Served:
    """The ports of both listeners."""

    def __init__(self, public: int, operators: int) -> None:
        self.public, self.operators = public, operators


@pytest.fixture
async def served(settings: Settings) -> AsyncIterator[Served]:
    public, own = spare(2)
    own_listener = msgspec.structs.replace(settings, operator_port=own)
    async with serving_http(own_listener, public, own):
        yield Served(public, own)


async def send_request(port: int, target: str, key: str, method: str = "GET") -> httpx.Response:
    headers = ["Host: x", f"X-API-Key: {key}", "X-Request-Id: same", "Content-Length: 0"]
    lines = [f"{method} {target} HTTP/1.1", *headers, "", ""]
    return await send(port, "\r\n".join(lines).encode())


async def status(port: int, target: str) -> int:
    return (await send_request(port, target, "", "POST")).status_code


async def test_each_listener_serves_its_own_addresses(served: Served, issue: IssueKey) -> None:
    key = await issue("house", bundles=("cs2.operator",))
    for target in ("/ops/v1/feed", "/ops/v1/tenants", "/ops/v1/metrics", "/ops/v1/openapi.json"):
        assert (await send_request(served.operators, target, key)).status_code == 200
        assert (await send_request(served.public, target, key)).status_code == 404
    pages = ("/v1/docs", "/v1/docs/console", "/")
    for target in ("/v1/whoami", "/cs2/v1/matches", "/v1/sports/en/sports", *pages):
        assert (await send_request(served.public, target, key)).status_code == 200
        assert (await send_request(served.operators, target, key)).status_code == 404
    for port in (served.public, served.operators):
        assert (await send_request(port, "/v1/health", key)).status_code == 200


async def test_tenants_see_no_trace_of_operators(served: Served, issue: IssueKey) -> None:
    """The response is the same, byte for byte, as for a path that has never existed."""
    key = await issue(bundles=("cs2.odds.basic",))

    def comparable(answer: httpx.Response) -> tuple[int, list[tuple[str, str]], bytes]:
        return answer.status_code, [one for one in answer.headers.items() if one[0] != "date"], answer.content

    for method in ("GET", "POST", "OPTIONS", "DELETE"):
        nothing = comparable(await send_request(served.public, "/nothing/v1/feed", key, method))
        assert comparable(await send_request(served.public, "/ops/v1/feed", key, method)) == nothing
        assert nothing[0] == 404


async def test_no_other_spelling_reaches_a_handler(served: Served, issue: IssueKey) -> None:
    key = await issue("house", bundles=("cs2.operator",))
    for target in ODD:
        for port in (served.public, served.operators):
            assert (await send_request(port, target, key)).status_code in (400, 404), target


async def test_tenants_addresses_have_one_spelling(served: Served, issue: IssueKey) -> None:
    key = await issue(bundles=("cs2.odds.basic",))
    for target in ODD_PUBLIC:
        assert (await send_request(served.public, target, key)).status_code in (400, 404), target
    for path in ODD_STREAMS:
        refused = await refusal(f"127.0.0.1:{served.public}", f"{path}?api_key={key}")
        assert refused.status_code in (400, 404), path


async def test_an_id_may_be_encoded_as_clients_do(served: Served, store: Store, issue: IssueKey) -> None:
    """A colon and a bar need not be encoded in a path; most clients do it."""
    key = await issue(bundles=("cs2.odds.basic",))
    match = await create_match(store, system_clock(), scheduled_at=system_clock(), allow_unrated=False)
    path = "/v1/sports/en/sport_events/{}/fixture"
    variant = "/v1/descriptions/en/markets/13/variants/{}"
    for urn in (f"od:match:{match.number}", f"od%3Amatch%3A{match.number}", f"od%3amatch%3a{match.number}"):
        assert (await send_request(served.public, path.format(urn), key)).status_code == 200, urn
    plain, encoded = [
        await send_request(served.public, variant.format(name), key) for name in ("a|b:1", "a%7Cb%3A1")
    ]
    assert plain.status_code == encoded.status_code and "xml" in encoded.headers["content-type"]


async def test_a_game_servers_log_comes_in_on_the_public_listener(
    served: Served, store: Store, settings: Settings
) -> None:
    match = await create_match(store, system_clock(), scheduled_at=system_clock(), allow_unrated=False)
    url = log_tokens.address(settings.secret_key, "", match)
    await eventually(lambda: status(served.public, url), lambda found: found == 200)
    for spelled in (url, url.replace("/log?", "/log/?")):
        assert (await send_request(served.public, spelled, "", "POST")).status_code == 200
    assert (await send_request(served.operators, url, "", "POST")).status_code == 404


async def test_a_stream_is_the_public_listeners(served: Served, issue: IssueKey) -> None:
    key = await issue(bundles=("cs2.odds.basic",))
    refused = await refusal(f"127.0.0.1:{served.operators}", f"/cs2/v1/stream?api_key={key}")
    assert refused.status_code == 404


async def test_with_one_listener_it_serves_all(settings: Settings, issue: IssueKey) -> None:
    key = await issue("house", bundles=("cs2.operator",))
    async with serving_http(settings) as port:
        for target in ("/ops/v1/feed", "/v1/whoami"):
            assert (await send_request(port, target, key)).status_code == 200
        for target in ODD:
            assert (await send_request(port, target, key)).status_code in (400, 404), target
