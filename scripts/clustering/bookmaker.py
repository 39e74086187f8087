"""A bookmaker of the cluster, to be run on the client's host: consumes the feed, and compares its book with
the service.

    python -m scripts.clustering exec client python -m scripts.clustering.bookmaker acme

Prints a line of JSON for each comparison, about one a second, as `Look` has it.
"""

import asyncio
import sys
import time
from contextlib import suppress

import httpx
import msgspec

from scripts.lab.record import DESCRIPTION, ROOT

sys.path.insert(0, str(ROOT / "scripts" / "client"))
from matchfeed_client import Client, ClientError

_SECONDS = 1.0


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


class Consumption:
    """What was received since the last look."""

    def __init__(self) -> None:
        self.messages = 0
        self._last = time.monotonic()
        self._silence = 0.0

    def received(self) -> None:
        self.messages += 1
        self._silence = max(self._silence, time.monotonic() - self._last)
        self._last = time.monotonic()

    def silence(self) -> float:
        """The longest silence since this was last called, the present one included."""
        longest = max(self._silence, time.monotonic() - self._last)
        self._silence = 0.0
        return longest


async def watch(slug: str) -> None:
    described = msgspec.json.decode(DESCRIPTION.read_bytes())
    (tenant,) = [each for each in described["tenants"] if each["slug"] == slug]
    async with Client(tenant["amqp_url"], described["base_url"], tenant["api_key"]) as client:
        consumption = Consumption()
        looking = asyncio.create_task(_look_regularly(client, consumption))
        try:
            async for _ in client:
                consumption.received()
        finally:
            looking.cancel()


async def _look_regularly(client: Client, consumption: Consumption) -> None:
    while True:
        await asyncio.sleep(_SECONDS)
        compared = differences = None
        with suppress(httpx.HTTPError, ClientError):
            found = await client.compare()
            compared = found.markets
            differences = sum(not each.get("behind") for each in found.differences)
        look = Look(
            time.time(),
            len(list(client.book.open())),
            compared,
            differences,
            round(consumption.silence(), 2),
            consumption.messages,
        )
        sys.stdout.buffer.write(msgspec.json.encode(look) + b"\n")
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(watch(sys.argv[1]))
