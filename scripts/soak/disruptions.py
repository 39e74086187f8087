"""What goes wrong when, drawn from a seed: the same day can be repeated."""

import asyncio
import signal
import time
from collections.abc import Sequence
from random import Random

from scripts.soak.bookmakers import Bookmaker
from scripts.soak.soaked_service import SoakedService

#: Which process ends how, at what share of the day.
ENDS = (
    (0.2, "feed", signal.SIGTERM),
    (0.4, "ingest", signal.SIGKILL),
    (0.6, "feed", signal.SIGKILL),
    (0.8, "ingest", signal.SIGTERM),
)
AWAY_SECONDS = 3.0
_DISCONNECT_SECONDS, _RECOVERY_SECONDS = 30.0, 45.0  #: seconds between two of them, in the mean


async def restarts(service: SoakedService, seconds: float) -> None:
    """End the feed and the ingest process twice each, once by SIGTERM and once by SIGKILL."""
    began = time.monotonic()
    for share, name, how in ENDS:
        await asyncio.sleep(began + share * seconds - time.monotonic())
        print(f"{time.monotonic() - began:6.0f} s  {name} gets {how.name}", flush=True)
        await service.end(name, how)
        await asyncio.sleep(AWAY_SECONDS)
        await service.start(name)


async def client_disruptions(everyone: Sequence[Bookmaker], rng: Random) -> None:
    """Bookmakers disconnect, or request a recovery, at random, without end."""

    async def disconnects() -> None:
        while True:
            await asyncio.sleep(rng.expovariate(1 / _DISCONNECT_SECONDS))
            rng.choice(everyone).disconnect()

    async def recoveries() -> None:
        while True:
            await asyncio.sleep(rng.expovariate(1 / _RECOVERY_SECONDS))
            rng.choice(everyone).request_recovery()

    await asyncio.gather(disconnects(), recoveries())


async def watch(service: SoakedService, everyone: Sequence[Bookmaker]) -> None:
    """Raise as soon as a process or a bookmaker has ended by itself."""
    while True:
        await asyncio.sleep(1)
        service.check()
        for each in everyone:
            each.check()
