"""A bookmaker of the cluster, with the client that tenants install, and what it follows: a match day."""

import asyncio
import os
import sys
import time
from contextlib import suppress
from typing import Any, Self

import httpx
import msgspec

from scripts.lab.feed_client import log_no_lost_connections
from scripts.lab.hosts import CLIENT
from scripts.lab.record import DESCRIPTION, ROOT, Record, log_of

sys.path.insert(0, str(ROOT / "scripts" / "client"))
from matchfeed_client import Client, ClientError

SLUG, EXCHANGE = "acme", "oddsfeed"
_LOOK_SECONDS, _HEAL_SECONDS = 1.0, 150.0
_EQUAL_LOOKS = 3  #: so many equal comparisons in a row are no coincidence
_NEW_MESSAGES = 5  #: received since a fault, so that an equal book is one of after it


def described() -> dict[str, Any]:
    """Addresses and keys of the cluster."""
    found: dict[str, Any] = msgspec.json.decode(DESCRIPTION.read_bytes())
    return found


def tenant(description: dict[str, Any]) -> dict[str, Any]:
    (found,) = [each for each in description["tenants"] if each["slug"] == SLUG]
    return dict(found)


def match_day(made: Record) -> None:
    """Start the simulated matches on the client's host."""
    description = described()
    simulate = [sys.executable, "-m", "app.cli", "simulate", "--matchday", "--unbooked-for", ""]
    simulate += ["--base-url", description["base_url"], "--operator-url", description["operator_url"]]
    environment = {**os.environ, "MATCHFEED_OPERATOR_KEY": description["operator_key"]}
    made.launch(CLIENT, "simulate", simulate, log_of("simulator"), environment=environment)


class Look(msgspec.Struct, frozen=True):
    """One comparison at `at` (Unix seconds): open markets in the book, what the service compared, and the
    differences that no message on its way explains; None where the service did not answer. `silence`: the
    longest time without a message since the last look, in seconds; `messages`: all that were received."""

    at: float
    open: int
    compared: int | None
    differences: int | None
    silence: float
    messages: int


class Bookmaker:
    """Consumes the feed within the block, and compares its book with the service about once a second."""

    def __init__(self, description: dict[str, Any]) -> None:
        log_no_lost_connections("matchfeed_client")
        mine = tenant(description)
        self._client = Client(mine["amqp_url"], description["base_url"], mine["api_key"])
        self.looks = list[Look]()
        self._messages, self._last, self._silence = 0, time.monotonic(), 0.0
        self._tasks = list[asyncio.Task[None]]()

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        self._tasks = [asyncio.create_task(work()) for work in (self._consume, self._look)]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._client.__aexit__(None, None, None)

    async def _consume(self) -> None:
        async for _ in self._client:
            self._messages += 1
            self._silence = max(self._silence, time.monotonic() - self._last)
            self._last = time.monotonic()

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            compared = differences = None
            with suppress(httpx.HTTPError, ClientError):
                found = await self._client.compare()
                compared = found.markets
                differences = sum(not each.get("behind") for each in found.differences)
            silence = max(self._silence, time.monotonic() - self._last)
            self._silence = 0.0
            opened = len(list(self._client.book.open()))
            look = Look(time.time(), opened, compared, differences, round(silence, 2), self._messages)
            self.looks.append(look)

    async def seconds_until_equal(self, since: float) -> float | None:
        """Seconds from `since` until the book equals REST, with open markets, for some looks in a row; None:
        not in time. Messages count from the first look after it: those before it may have been on their way.
        Raises the error that ended the client."""
        deadline = time.monotonic() + _HEAL_SECONDS
        while time.monotonic() < deadline:
            for task in self._tasks:
                if task.done():
                    task.result()
            row: list[Look] = []
            later = [look for look in self.looks if look.at > since]
            for look in later:
                new = look.messages >= later[0].messages + _NEW_MESSAGES
                equal = new and look.open > 0 and look.compared and look.differences == 0
                row = [*row, look] if equal else []
                if len(row) == _EQUAL_LOOKS:
                    return round(row[0].at - since, 1)
            await asyncio.sleep(0.5)
        return None

    def silence(self, since: float) -> float:
        """The longest silence of the feed since then."""
        return max((look.silence for look in self.looks if look.at > since), default=0.0)
