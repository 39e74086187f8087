"""Matches in play for the benchmark of the live page, and what their log lines must show there.

`Shown` is how far a match is, as its row shows it: the map, the round, and how many players are dead in it.
Each line is folded into a match as ingest does it, so that a line that moves the row is known before it is
sent; it counts as sent when the request with its bytes begins.
"""

import asyncio
import time
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Self
from uuid import UUID, uuid4

import httpx

from app.domain.match import Match
from app.domain.transitions import fold
from app.ingest import cs2log
from app.sandbox.simulator.anomalies import LogLine
from app.sandbox.simulator.fictional_world import fictional_world
from app.sandbox.simulator.match_simulation import MatchPlan, Pace, new_truth, play
from app.sandbox.simulator.service_client import LogSender, OperatorClient, sink_address

_SPREAD_SECONDS = 600.0  #: of game time, over which the first matches are spread: a map lasts some 2,100
_RUSH = 100.0
_TEAM = 10  #: players of both teams


class Shown(NamedTuple):
    """How far a match is; a later one is greater."""

    map: int
    round: int
    dead: int


def shown(match: Match) -> Shown | None:
    """What the row of a match shows of it; None between maps and before the first round."""
    current = match.current
    if match.map is None or current is None:
        return None
    return Shown(match.map.number, current.number, _TEAM - current.alive_home - current.alive_away)


class Delay(NamedTuple):
    """Milliseconds from a line's request to the browser's message, and to the picture after it; `at` is when
    the line was sent (Unix ms)."""

    at: float
    arrived: float
    painted: float


class Facts:
    """What one match's log must show, and when it was sent and seen."""

    def __init__(self) -> None:
        self._ends: list[int] = []  # the byte at which the line of each fact ends
        self._facts: list[Shown] = []
        self._sent: list[float] = []  # Unix ms; of the first facts, in their order
        self._seen = 0
        self.over = False

    def expect(self, end: int, fact: Shown) -> None:
        """The line that ends at that byte of the log moves the row."""
        if not self._facts or fact > self._facts[-1]:
            self._ends.append(end)
            self._facts.append(fact)

    @property
    def started(self) -> bool:
        """Whether anything was sent that the page shows."""
        return bool(self._sent)

    def sent(self, end: int, at: float) -> None:
        """A request begins that has the log up to that byte; a repeated one is no news."""
        self._sent += [at] * (bisect_right(self._ends, end) - len(self._sent))

    def seen(self, fact: Shown, arrived: float, painted: float) -> Iterator[Delay]:
        """The page shows that fact: the delays of all that were sent and not seen before."""
        upto = min(bisect_right(self._facts, fact), len(self._sent))
        for sent in self._sent[self._seen : upto]:
            yield Delay(sent, arrived - sent, painted - sent)
        self._seen = max(self._seen, upto)

    def waiting(self, before: float) -> int:
        """How many were sent before that moment and are not seen."""
        return sum(sent < before for sent in self._sent[self._seen :])


def noted(lines: Iterable[LogLine], home: str, away: str, facts: Facts) -> Iterator[LogLine]:
    """The lines, each folded as it is taken, so that `facts` knows what it must show."""
    match, end = Match(UUID(int=1), 1, home, away, "Bench"), 0
    for line in lines:
        text = f"{line.text}\n"
        end += len(text.encode())
        match, changes = fold(match, cs2log.read(text, int(line.at * 1000)).facts)
        if changes and (fact := shown(match)):
            facts.expect(end, fact)
        yield line
    facts.over = True


class Play:
    """So many matches at a time, one after another in each lane; `facts` by the number of the match."""

    def __init__(self, base_url: str, operator_url: str, key: str, matches: int, speed: float) -> None:
        self._base_url, self._speed, self._lanes = base_url, speed, matches
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        hooks = {"request": [self._sending]}
        self._client = httpx.AsyncClient(timeout=30, trust_env=False, limits=limits, event_hooks=hooks)
        self._operator = OperatorClient(self._client, base_url, key, operator_url=operator_url)
        self._by_server: dict[str, Facts] = {}
        self.facts: dict[int, Facts] = {}

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(self._lane(lane)) for lane in range(self._lanes)]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        ended = await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._client.aclose()
        self._raise_first(ended)

    async def begun(self, matches: int) -> None:
        """Wait until so many matches are in play, as far as their logs are sent."""
        while sum(one.started for one in self.facts.values()) < matches:
            self.check()
            await asyncio.sleep(0.5)

    def check(self) -> None:
        """Raises what ended a lane."""
        self._raise_first(task.exception() for task in self._tasks if task.done())

    def _raise_first(self, ended: Iterable[object]) -> None:
        for one in ended:
            if isinstance(one, Exception):
                raise one

    async def _sending(self, request: httpx.Request) -> None:
        if facts := self._by_server.get(request.headers.get("X-Server-Unique-Token", "")):
            facts.sent(int(request.headers["X-Logbytes-Endoffset"]), time.time() * 1000)

    async def _lane(self, lane: int) -> None:
        await asyncio.sleep(lane * 0.1618)  # servers are not in step with one another
        rush = _SPREAD_SECONDS * lane / self._lanes
        await self._match(lane, 0, Pace(self._speed, rush_until=rush, rush=_RUSH))
        number = 1
        while True:
            await self._match(lane, number, Pace(self._speed))
            number += 1

    async def _match(self, lane: int, number: int, pace: Pace) -> None:
        teams = fictional_world().teams
        home, away = teams[2 * lane % len(teams)], teams[(2 * lane + 1) % len(teams)]
        begin, seed = time.time_ns() // 1_000_000, lane * 1000 + number
        plan = MatchPlan(home, away, seed, begin, pace=pace, knife=False, brief=True)
        made = await self._operator.create(plan, "Bench", scheduled_at=begin, reference=uuid4().hex)
        facts, server = Facts(), uuid4().hex
        self._by_server[server] = self.facts[made.number] = facts
        sender = LogSender(self._client, sink_address(self._base_url, made.log_sink_url), server)
        await sender.send(noted(play(plan, new_truth(plan)), home.name, away.name, facts), pace)
