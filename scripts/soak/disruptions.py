"""What tenants' clients do at random, and the watch over what must not end by itself."""

import asyncio
from collections.abc import Sequence
from random import Random

from scripts.bench.feed_rig import Playing
from scripts.soak.bookmakers import Bookmaker
from scripts.soak.soaked_service import SoakedService

_DISCONNECT_SECONDS, _RECOVERY_SECONDS = 30.0, 45.0  #: seconds between two of them, in the mean


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


async def watch(
    service: SoakedService,
    everyone: Sequence[Bookmaker],
    play: Playing,
    measuring: Sequence[asyncio.Task[None]],
) -> None:
    """Raise as soon as a process, a bookmaker, a game server or a measurement has ended by itself."""
    while True:
        await asyncio.sleep(1)
        service.check()
        play.check()
        for each in everyone:
            each.check()
        for task in measuring:
            if task.done():
                task.result()
