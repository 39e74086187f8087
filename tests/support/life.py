"""Random things happen on some matches: markets open, are suspended, settled, voided and rolled back."""

import asyncio
import random

from app.domain.market import MarketStatus, Result
from app.domain.match import Match
from tests.support.story import Story, offer

_MATCHES = 4
_MARKETS = 7


class Life:
    """What happens is drawn from `seed`; `matches` are those that it happens on."""

    def __init__(self, story: Story, seed: int) -> None:
        self.story, self.random = story, random.Random(seed)
        self.matches: list[Match] = []
        self.steps = 0
        self._state: dict[tuple[int, int], str] = {}

    async def step(self, times: int = 1) -> None:
        """So many things happen, one after the other."""
        chance = self.random
        for _ in range(times):
            if len(self.matches) < _MATCHES or chance.random() < 0.02:
                self.matches.append(await self.story.match())
            match, number = chance.choice(self.matches), chance.randrange(1, _MARKETS + 1)
            await self._happen(match, (match.number, number))
            self.steps += 1

    async def _happen(self, match: Match, place: tuple[int, int]) -> None:
        story, chance, market = self.story, self.random, offer(place[1])
        now = self._state.get(place, "open")
        if now == "ended":
            await story.take_back(match, market)
            self._state[place] = "open"
        elif (number := chance.random()) < 0.5 or place not in self._state:
            status = chance.choice([MarketStatus.ACTIVE, MarketStatus.ACTIVE, MarketStatus.SUSPENDED])
            await story.offer(match, offer(place[1], status=status))
            self._state[place] = "open"
        elif number < 0.8:
            await story.settle(match, market, result=chance.choice([Result.WON, Result.LOST]))
            self._state[place] = "ended"
        else:
            await story.void(match, market)
            self._state[place] = "ended"


class Living:
    """A life that goes on beside a test, until `end`; a database that is away is waited for."""

    def __init__(self, life: Life, pause: float = 0.0) -> None:
        self.life, self._pause = life, pause
        self._task = asyncio.create_task(self._live())

    async def _live(self) -> None:
        while True:
            await self.life.step()
            await asyncio.sleep(self._pause)

    async def more(self, steps: int) -> None:
        """Wait for some more steps."""
        target = self.life.steps + steps
        while self.life.steps < target:
            if self._task.done():
                self._task.result()
            await asyncio.sleep(0.01)

    async def end(self) -> None:
        self._task.cancel()
        await asyncio.wait({self._task})
        if not self._task.cancelled():
            self._task.result()
