"""Matches without end: some always live, some upcoming, some finished.

`live` lanes play one match after another, each the first of a shared list of upcoming ones, which is then
filled up. At the start a few maps are played in seconds, so that some matches are finished at once, and the
lanes begin in mid-play, each at another point, so that they never end together. One match at a time is
unbooked for one tenant: before it ends, the newest upcoming one takes its place.

A simulated market (`market_maker`) quotes the upcoming matches every few seconds.

With `anomalies` things go wrong as on real servers. What stops play happens in the last lane only, so that
most live matches have open markets at all times; late and repeated lines and reconnects happen in all lanes.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from uuid import uuid4

import httpx

from app.sandbox.simulator.anomalies import GENTLE, NONE, RARE, Anomalies, LogLine
from app.sandbox.simulator.fictional_world import FictionalTeam, fictional_world
from app.sandbox.simulator.market_maker import MarketMaker
from app.sandbox.simulator.match_simulation import MatchPlan, Pace, simulate
from app.sandbox.simulator.service_client import (
    CreatedMatch,
    LogSender,
    OperatorClient,
    OperatorRequestFailed,
    SendConfig,
    SinkRefused,
    sink_address,
)

_QUICK = SendConfig(batch_seconds=0.25)
_RUSH_STEP = 420.0  #: game seconds by which each lane begins further into its first match
_RUSH = 250.0
_BEFORE_END = 0.85
_TRIM_SECONDS = 60.0
_TROUBLE_SECONDS = 3.0
_QUOTE_SECONDS = 15.0  #: between two quotes of the simulated market


@dataclass(frozen=True)
class MatchDayConfig:
    """`live`, `upcoming`, `finished`: how many matches of each kind. `speed`: game seconds a real second.
    Of finished matches the newest `keep_finished` remain. `unbooked_for`: the tenant for which one match is
    unbooked, "" for none."""

    live: int = 5
    upcoming: int = 4
    finished: int = 3
    keep_finished: int = 30
    speed: float = 6.0
    seed: int = 1
    event: str = "Matchfeed Invitational"
    unbooked_for: str = "beta"
    anomalies: bool = True


@dataclass
class DayMatch:
    """A match of the day: its plan, and the match that the service created for it."""

    plan: MatchPlan
    match: CreatedMatch


class MatchDay:
    """Runs until it is cancelled. `report` is called with a line when a match begins or ends, or a call
    fails."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        operator: OperatorClient,
        config: MatchDayConfig,
        report: Callable[[str], None],
    ) -> None:
        self.client, self.operator, self.config, self.report = client, operator, config, report
        self.rng = Random(config.seed)
        self.market = MarketMaker(config.seed)
        self.upcoming: deque[DayMatch] = deque()
        self.unbooked: DayMatch | None = None
        self._filling = asyncio.Lock()
        self._busy: set[str] = set()

    async def run(self) -> None:
        """Cancel the matches of an earlier day, then play."""
        while not await self._attempt(self._clear):
            pass
        async with asyncio.TaskGroup() as group:
            for _ in range(self.config.finished):
                group.create_task(self._attempt(self._play_quickly))
            group.create_task(self._attempt(self._fill))
            for lane in range(self.config.live):
                group.create_task(self._lane(lane))
            group.create_task(self._trim())
            group.create_task(self._quote_regularly())

    async def _clear(self) -> None:
        for match in await self.operator.unfinished():
            if match.get("event") == self.config.event:
                await self.operator.cancel(match["id"])
                self.report(f"cancelled {match['id']}, left over from an earlier day")

    async def _attempt(self, act: Callable[[], Awaitable[None]]) -> bool:
        """Whether it succeeded; an unreachable service or a refusal is reported, and followed by a wait."""
        try:
            await act()
        except (OperatorRequestFailed, SinkRefused) as refusal:
            self.report(f"trouble: {refusal}")
            await asyncio.sleep(_TROUBLE_SECONDS)
            return False
        return True

    async def _play_quickly(self) -> None:
        """Play a map in seconds, so that a match is finished."""
        scheduled = await self._schedule(0, best_of=1)
        await self._play(scheduled, Pace(_RUSH), _QUICK)

    async def _lane(self, lane: int) -> None:
        while not await self._attempt(partial(self._first, lane)):
            pass
        while True:
            await self._attempt(partial(self._next, lane))

    async def _first(self, lane: int) -> None:
        """A lane's first match, soon in mid-play."""
        scheduled = await self._schedule(0, best_of=1)
        if lane == 0:
            await self._unbook(scheduled)
        rush = Pace(self.config.speed, rush_until=lane * _RUSH_STEP, rush=_RUSH)
        await self._play(scheduled, rush, _QUICK if lane else SendConfig())

    def _oddities(self, lane: int) -> Anomalies:
        if not self.config.anomalies:
            return NONE
        return RARE if lane == self.config.live - 1 else GENTLE

    async def _next(self, lane: int) -> None:
        await self._fill()
        scheduled = self.upcoming.popleft()
        self.market.forget(scheduled.match.id)
        await self._fill()
        scheduled.plan = replace(scheduled.plan, anomalies=self._oddities(lane))
        await self._play(scheduled, Pace(self.config.speed), SendConfig())

    async def _fill(self) -> None:
        """Schedule matches until enough are upcoming, each a little later than the one before."""
        async with self._filling:
            while len(self.upcoming) < self.config.upcoming:
                gap = 2300 / self.config.speed / self.config.live
                wait = gap * (len(self.upcoming) + 1)
                best_of = 3 if self.rng.random() < 0.3 else 1
                self.upcoming.append(await self._schedule(round(wait * 1000), best_of=best_of))
                await self._quote(self.upcoming[-1])

    async def _schedule(self, wait_ms: int, *, best_of: int) -> DayMatch:
        home, away = self._free_pair()
        now = time.time_ns() // 1_000_000
        plan = MatchPlan(
            home,
            away,
            self.rng.randrange(2**31),
            now,
            best_of=best_of,
            timestamps="millis",
            knife=False,
            brief=True,
        )
        match = await self.operator.create(
            plan, self.config.event, scheduled_at=now + wait_ms, reference=f"matchday-{uuid4().hex}"
        )
        return DayMatch(plan, match)

    def _free_pair(self) -> tuple[FictionalTeam, FictionalTeam]:
        """Two teams that have no other unfinished match."""
        while True:
            home, away = fictional_world().pair(self.rng)
            if self._busy.isdisjoint((home.name, away.name)):
                self._busy |= {home.name, away.name}
                return home, away

    async def _play(self, scheduled: DayMatch, pace: Pace, config: SendConfig) -> None:
        plan = replace(scheduled.plan, begin=time.time_ns() // 1_000_000, pace=pace)
        lines, truth = simulate(plan)
        url = sink_address(self.operator.base_url, scheduled.match.log_sink_url)
        sender = LogSender(self.client, url, uuid4().hex, config=config)
        title = f"od:match:{scheduled.match.number} {plan.home.name} v {plan.away.name}"
        self.report(f"start {title} (best of {plan.best_of})")
        try:
            await self._send(sender, lines, pace, scheduled)
        except SinkRefused:
            await self.operator.cancel(scheduled.match.id)
            raise
        finally:
            self._busy -= {plan.home.name, plan.away.name}
        score = f"{truth.maps_won('home')}:{truth.maps_won('away')}"
        rounds = ", ".join(f"{played.home_score}:{played.away_score}" for played in truth.maps)
        self.report(f"end   {title} {score} ({rounds})")

    async def _send(self, sender: LogSender, lines: list[LogLine], pace: Pace, scheduled: DayMatch) -> None:
        middle = int(len(lines) * _BEFORE_END)
        await sender.send(lines[:middle], pace)
        if scheduled is self.unbooked and self.upcoming:
            await self._unbook(self.upcoming[-1])
        await sender.send(lines[middle:], pace)

    async def _unbook(self, scheduled: DayMatch) -> None:
        if self.config.unbooked_for:
            await self.operator.set_booked(self.config.unbooked_for, scheduled.match.id, False)
        self.unbooked = scheduled

    async def _quote_regularly(self) -> None:
        while True:
            await asyncio.sleep(_QUOTE_SECONDS)
            await self._attempt(partial(self._quote, *self.upcoming))

    async def _quote(self, *matches: DayMatch) -> None:
        """Import what the market offers on these matches before play."""
        now = time.time_ns() // 1_000_000
        quoted = (self.market.quotes(each.plan, each.match.id, now) for each in matches)
        if prices := [price for of_match in quoted for price in of_match]:
            await self.operator.import_references(prices)

    async def _trim(self) -> None:
        while True:
            await asyncio.sleep(_TRIM_SECONDS)
            await self._attempt(partial(self.operator.trim, self.config.keep_finished))
