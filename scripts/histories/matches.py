"""The game servers of a run: each match is created, and its simulated log sent."""

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from random import Random
from uuid import uuid4

from app.sandbox.simulator.anomalies import COMMON, GENTLE, NONE, LogLine
from app.sandbox.simulator.fictional_world import fictional_world
from app.sandbox.simulator.match_simulation import MatchPlan, Pace, simulate
from app.sandbox.simulator.service_client import LogSender, SendConfig, SinkRefused, sink_address
from scripts.histories.history import Play
from scripts.histories.operators import Operators

_ODDITIES = {"none": NONE, "gentle": GENTLE, "common": COMMON}
_SEND = SendConfig(batch_seconds=0.5)
_RUSH = 250.0
_RIVAL_LINES = 600


@dataclass
class PlayedMatch:
    """A match of the run, its UUID and its name in the feed, and how it is played."""

    id: str
    urn: str
    sink: str
    plan: MatchPlan
    lines: list[LogLine]
    sender: LogSender


class Matches:
    """`by_number`: the matches of the run by the numbers of their steps."""

    def __init__(self, operators: Operators) -> None:
        self.by_number = dict[int, PlayedMatch]()
        self._operators = operators
        self._playing = set[asyncio.Task[None]]()

    async def play(self, step: Play) -> None:
        """Create the match and begin to send its log."""
        plan = _plan(step)
        body = {
            "team_a": plan.home.name,
            "team_b": plan.away.name,
            "event": "Histories",
            "bo_type": f"bo{plan.best_of}",
            "scheduled_at": time.time_ns() // 1_000_000,
            "home_strength": plan.home.points,
            "away_strength": plan.away.points,
            "request_id": uuid4().hex,
        }
        made = await self._operators.insist("POST", "/ops/v1/matches", body)
        lines, _ = await asyncio.to_thread(simulate, replace(plan, begin=time.time_ns() // 1_000_000))
        sink = sink_address(self._operators.base_url, made["log_sink_url"])
        played = PlayedMatch(made["id"], made["urn"], sink, plan, lines, self._sender(sink))
        self.by_number[step.match] = played
        self._send(played.sender, lines, plan.pace)

    def rival(self, number: int) -> None:
        """Let a second server send what the first one sends from now on."""
        played = self.by_number.get(number)
        rest = played.lines[played.sender.lines :][:_RIVAL_LINES] if played else []
        if played and rest:
            lines = [line._replace(at=line.at - rest[0].at) for line in rest]
            self._send(self._sender(played.sink), lines, Pace(played.plan.pace.speed))

    async def stop(self) -> None:
        """Every server falls silent."""
        for task in self._playing:
            task.cancel()
        if self._playing:
            await asyncio.wait(self._playing)

    def _sender(self, sink: str) -> LogSender:
        return LogSender(self._operators.http, sink, uuid4().hex, config=_SEND)

    def _send(self, sender: LogSender, lines: list[LogLine], pace: Pace) -> None:
        async def send() -> None:
            with suppress(SinkRefused):
                await sender.send(lines, pace)

        self._playing.add(asyncio.create_task(send()))


def _plan(step: Play) -> MatchPlan:
    home, away = fictional_world().pair(Random(step.seed))
    return MatchPlan(
        home,
        away,
        step.seed,
        0,
        best_of=step.best_of,
        pace=Pace(step.speed, rush_until=step.rush, rush=_RUSH),
        timestamps="millis",
        knife=False,
        brief=True,
        anomalies=_ODDITIES[step.oddities],
    )
