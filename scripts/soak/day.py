"""What goes wrong when, drawn from a seed: the same day can be lived again."""

import asyncio
import signal
import time
from collections.abc import Sequence
from random import Random

from scripts.soak.bookmakers import Bookmaker
from scripts.soak.house import House

#: Which process ends how, at what share of the day.
ENDS = (
    (0.2, "feed", signal.SIGTERM),
    (0.4, "ingest", signal.SIGKILL),
    (0.6, "feed", signal.SIGKILL),
    (0.8, "ingest", signal.SIGTERM),
)
AWAY_SECONDS = 3.0
_HANG_UPS, _DOUBTS = 30.0, 45.0  #: seconds between two of them, in the mean


async def restarts(house: House, seconds: float) -> None:
    """End the feed and the ingest process twice each, once in good order and once not."""
    began = time.monotonic()
    for share, name, how in ENDS:
        await asyncio.sleep(began + share * seconds - time.monotonic())
        print(f"{time.monotonic() - began:6.0f} s  {name} gets {how.name}", flush=True)
        await house.end(name, how)
        await asyncio.sleep(AWAY_SECONDS)
        await house.start(name)


async def moods(everyone: Sequence[Bookmaker], rng: Random) -> None:
    """Bookmakers hang up, or doubt what they know and ask for it again; for ever."""

    async def hang_ups() -> None:
        while True:
            await asyncio.sleep(rng.expovariate(1 / _HANG_UPS))
            rng.choice(everyone).hang_up()

    async def doubts() -> None:
        while True:
            await asyncio.sleep(rng.expovariate(1 / _DOUBTS))
            rng.choice(everyone).doubt()

    await asyncio.gather(hang_ups(), doubts())


async def watch(house: House, everyone: Sequence[Bookmaker]) -> None:
    """Raise as soon as a process or a bookmaker has ended by itself."""
    while True:
        await asyncio.sleep(1)
        house.check()
        for each in everyone:
            each.check()
