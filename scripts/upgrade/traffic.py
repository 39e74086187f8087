"""What clients of the former version do meanwhile: read over REST, command matches, recover single matches,
look at their books. Each without end."""

import asyncio
import time
from itertools import cycle

from scripts.consumer import CLOSED, SUSPENDED
from scripts.lab.feed_client import FeedClient
from scripts.lab.operators import Operators, Requester

_SECONDS_BETWEEN_REQUESTS = 0.1
_SECONDS_BETWEEN_COMMANDS = 2.0
_SECONDS_BETWEEN_RECOVERIES = 10.0
_PATHS = (
    "/cs2/v1/matches?status=live&limit=20",
    "/cs2/v1/matches/{match}",
    "/cs2/v1/matches/{match}/markets",
    "/cs2/v1/settlements?since_id=0&limit=50",
    "/v1/sports/en/sport_events/{match}/summary",
    "/v1/whoami",
)


async def _live(requester: Requester) -> list[str]:
    """The URNs of the matches that are being played."""
    return [match["urn"] for match in await requester.call("GET", _PATHS[0]) or ()]


async def read(requester: Requester) -> None:
    """GET one thing after the other."""
    matches = list[str]()
    for path in cycle(_PATHS):
        await asyncio.sleep(_SECONDS_BETWEEN_REQUESTS)
        if path == _PATHS[0]:
            matches = await _live(requester)
        elif matches or "{match}" not in path:
            await requester.request("GET", path.format(match=matches[0] if matches else ""))


async def command(operators: Operators) -> None:
    """Suspend a match and release it again."""
    while True:
        for match in await _live(operators):
            for name in ("suspend", "unsuspend"):
                await operators.order(match, name, {})
            await asyncio.sleep(_SECONDS_BETWEEN_COMMANDS)
        await asyncio.sleep(_SECONDS_BETWEEN_COMMANDS)


async def recover(requester: Requester, accepted: set[str]) -> None:
    """Request recoveries of one match each; the ids of accepted ones are added."""
    while True:
        for match in await _live(requester):
            for node, kind in enumerate(("odds", "stateful_messages")):
                request = str(time.time_ns() // 1000)
                path = f"/v1/2/{kind}/events/{match}/initiate_request"
                path += f"?request_id={request}&node_id={node + 1}"
                response = await requester.request("POST", path)
                if response and response.status_code == 202:
                    accepted.add(request)
            await asyncio.sleep(1)
        await asyncio.sleep(1)


async def recover_all(client: FeedClient) -> None:
    """Request everything."""
    while True:
        await asyncio.sleep(_SECONDS_BETWEEN_RECOVERIES)
        client.recover()


class Shut:
    """`longest`: for how many seconds at most nothing was on offer in the client's book."""

    def __init__(self, client: FeedClient) -> None:
        self.client, self.longest = client, 0.0

    async def watch(self) -> None:
        """Look at the book twice a second."""
        since = time.monotonic()
        while True:
            await asyncio.sleep(0.5)
            prices = (price for each in self.client.book.offers.values() for _, price in each.values())
            if any(price not in (CLOSED, SUSPENDED) for price in prices):
                since = time.monotonic()
            self.longest = max(self.longest, time.monotonic() - since)
