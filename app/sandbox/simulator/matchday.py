"""A day of matches without end: some always being played, some to come, some over.

`live` lanes play one match after another, each from a shared list of upcoming ones, which is filled up
whenever one is taken. At the start a few maps are played in seconds, so that there is something finished
at once, and the lanes begin in mid-play, each somewhere else, so that they never end together. One current
match is kept from one tenant: before it ends, the newest upcoming one takes its place.
With `oddities` things go wrong as on real servers: what stops play now and then in the last lane only, so
that most live matches have open markets at all times; late and repeated lines and reconnects everywhere.
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

from app.sandbox.simulator.oddities import GENTLE, NONE, RARE, Line, Oddities
from app.sandbox.simulator.operator import Created, Operator, OperatorRefused
from app.sandbox.simulator.pace import Pace
from app.sandbox.simulator.sender import Manner, Sender, SinkRefused, sink_address
from app.sandbox.simulator.series import Plan, simulate
from app.sandbox.simulator.world import Squad, world

_QUICK = Manner(every=0.25)
_RUSH_STEP = 420.0  #: game seconds by which each lane begins further into its first match
_RUSH = 250.0
_BEFORE_END = 0.85
_TRIM_SECONDS = 60.0
_TROUBLE_SECONDS = 3.0


@dataclass(frozen=True)
class Programme:
    """`live`, `upcoming`, `finished`: how many matches of each kind. `speed`: game seconds a real second.
    Of finished matches the newest `keep_finished` stay. `unbooked_for`: the tenant that one match is kept
    from, "" for none."""

    live: int = 5
    upcoming: int = 4
    finished: int = 3
    keep_finished: int = 30
    speed: float = 6.0
    seed: int = 1
    event: str = "Matchfeed Invitational"
    unbooked_for: str = "beta"
    oddities: bool = True


@dataclass
class Fixture:
    """A match of the day: what will be played, and what the service made of it."""

    plan: Plan
    match: Created


class MatchDay:
    """Runs until it is cancelled. `report` is told one line about whatever begins and ends."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        operator: Operator,
        programme: Programme,
        report: Callable[[str], None],
    ) -> None:
        self.client, self.operator, self.programme, self.report = client, operator, programme, report
        self.rng = Random(programme.seed)
        self.upcoming: deque[Fixture] = deque()
        self.unbooked: Fixture | None = None
        self._filling = asyncio.Lock()
        self._busy: set[str] = set()

    async def run(self) -> None:
        """Cancel what an earlier day has left, then keep the day going."""
        while not await self._patiently(self._clear):
            pass
        async with asyncio.TaskGroup() as group:
            for _ in range(self.programme.finished):
                group.create_task(self._patiently(self._quick))
            group.create_task(self._patiently(self._fill))
            for lane in range(self.programme.live):
                group.create_task(self._lane(lane))
            group.create_task(self._trim())

    async def _clear(self) -> None:
        for match in await self.operator.unfinished():
            if match.get("event") == self.programme.event:
                await self.operator.cancel(match["id"])
                self.report(f"cancelled {match['id']}, left over from an earlier day")

    async def _patiently(self, act: Callable[[], Awaitable[None]]) -> bool:
        """Whether it went well; a service that is away or says no is reported and left alone for a while."""
        try:
            await act()
        except (OperatorRefused, SinkRefused) as refusal:
            self.report(f"trouble: {refusal}")
            await asyncio.sleep(_TROUBLE_SECONDS)
            return False
        return True

    async def _quick(self) -> None:
        """A map played in seconds, for there to be something finished."""
        fixture = await self._schedule(0, best_of=1)
        await self._play(fixture, Pace(_RUSH), _QUICK)

    async def _lane(self, lane: int) -> None:
        while not await self._patiently(partial(self._first, lane)):
            pass
        while True:
            await self._patiently(partial(self._next, lane))

    async def _first(self, lane: int) -> None:
        """A lane's first match, found in mid-play."""
        fixture = await self._schedule(0, best_of=1)
        if lane == 0:
            await self._keep_back(fixture)
        rush = Pace(self.programme.speed, rush_until=lane * _RUSH_STEP, rush=_RUSH)
        await self._play(fixture, rush, _QUICK if lane else Manner())

    def _oddities(self, lane: int) -> Oddities:
        if not self.programme.oddities:
            return NONE
        return RARE if lane == self.programme.live - 1 else GENTLE

    async def _next(self, lane: int) -> None:
        await self._fill()
        fixture = self.upcoming.popleft()
        await self._fill()
        fixture.plan = replace(fixture.plan, oddities=self._oddities(lane))
        await self._play(fixture, Pace(self.programme.speed), Manner())

    async def _fill(self) -> None:
        """Schedule matches until enough are to come, each a little later than the one before."""
        async with self._filling:
            while len(self.upcoming) < self.programme.upcoming:
                gap = 2300 / self.programme.speed / self.programme.live
                wait = gap * (len(self.upcoming) + 1)
                best_of = 3 if self.rng.random() < 0.3 else 1
                self.upcoming.append(await self._schedule(round(wait * 1000), best_of=best_of))

    async def _schedule(self, wait_ms: int, *, best_of: int) -> Fixture:
        home, away = self._free_pair()
        now = time.time_ns() // 1_000_000
        plan = Plan(
            home,
            away,
            self.rng.randrange(2**31),
            now,
            best_of=best_of,
            dress="millis",
            knife=False,
            brief=True,
        )
        match = await self.operator.create(
            plan, self.programme.event, scheduled_at=now + wait_ms, reference=f"matchday-{uuid4().hex}"
        )
        return Fixture(plan, match)

    def _free_pair(self) -> tuple[Squad, Squad]:
        """Two teams that have no other match to play today yet."""
        while True:
            home, away = world().pair(self.rng)
            if self._busy.isdisjoint((home.name, away.name)):
                self._busy |= {home.name, away.name}
                return home, away

    async def _play(self, fixture: Fixture, pace: Pace, manner: Manner) -> None:
        plan = replace(fixture.plan, begin=time.time_ns() // 1_000_000, pace=pace)
        lines, truth = simulate(plan)
        url = sink_address(self.operator.base_url, fixture.match.log_sink_url)
        sender = Sender(self.client, url, uuid4().hex, manner=manner)
        title = f"od:match:{fixture.match.number} {plan.home.name} v {plan.away.name}"
        self.report(f"start {title} (best of {plan.best_of})")
        try:
            await self._send(sender, lines, pace, fixture)
        except SinkRefused:
            await self.operator.cancel(fixture.match.id)
            raise
        finally:
            self._busy -= {plan.home.name, plan.away.name}
        score = f"{truth.maps_won('home')}:{truth.maps_won('away')}"
        rounds = ", ".join(f"{played.home_score}:{played.away_score}" for played in truth.maps)
        self.report(f"end   {title} {score} ({rounds})")

    async def _send(self, sender: Sender, lines: list[Line], pace: Pace, fixture: Fixture) -> None:
        turn = int(len(lines) * _BEFORE_END)
        await sender.send(lines[:turn], pace)
        if fixture is self.unbooked and self.upcoming:
            await self._keep_back(self.upcoming[-1])
        await sender.send(lines[turn:], pace)

    async def _keep_back(self, fixture: Fixture) -> None:
        if self.programme.unbooked_for:
            await self.operator.set_booked(self.programme.unbooked_for, fixture.match.id, False)
        self.unbooked = fixture

    async def _trim(self) -> None:
        while True:
            await asyncio.sleep(_TRIM_SECONDS)
            await self._patiently(partial(self.operator.trim, self.programme.keep_finished))
