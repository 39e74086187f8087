"""Matches that are played: each is created by operators, and its simulated log sent as a game server sends
it."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any, NamedTuple, Self
from uuid import uuid4

from app.sandbox.simulator.anomalies import NONE, Anomalies, LogLine
from app.sandbox.simulator.fictional_world import fictional_world
from app.sandbox.simulator.match_simulation import MatchPlan, Pace, simulate
from app.sandbox.simulator.service_client import LogSender, SendConfig, SinkRefused, sink_address
from scripts.lab.operators import Operators

_RIVAL_LINES = 600


@dataclass
class PlayedMatch:
    """A match, its UUID and its name in the feed, and how it is played."""

    id: str
    urn: str
    plan: MatchPlan
    lines: list[LogLine]
    sender: LogSender


class SentBody(NamedTuple):
    """A body of lines: when it was to be sent, and when the service had answered (Unix ms)."""

    due: float
    answered: float


class Play:
    """Matches in play until the end of the block, which their servers fall silent at. `bodies` are those that
    the lanes have sent, in order, by the match's name in the feed."""

    def __init__(self, *, batch_seconds: float = 1.0) -> None:
        self.bodies: dict[str, list[SentBody]] = {}
        self._config = SendConfig(batch_seconds=batch_seconds)
        self._tasks = set[asyncio.Task[None]]()

    async def create(self, operators: Operators, plan: MatchPlan, event: str, **fields: Any) -> PlayedMatch:
        """Create a match, as soon as the service is there, and simulate it from now on."""
        body = {
            "team_a": plan.home.name,
            "team_b": plan.away.name,
            "event": event,
            "bo_type": f"bo{plan.best_of}",
            "request_id": uuid4().hex,
            **fields,
        }
        made = await operators.insist("POST", "/ops/v1/matches", body)
        lines, _ = await asyncio.to_thread(simulate, replace(plan, begin=time.time_ns() // 1_000_000))
        sink = sink_address(operators.base_url, made["log_sink_url"])
        sender = LogSender(operators.http, sink, uuid4().hex, config=self._config)
        return PlayedMatch(made["id"], made["urn"], plan, lines, sender)

    def begin(self, played: PlayedMatch) -> None:
        """Send its log, until the sink refuses it."""
        self._start(_send(played.sender, played.lines, played.plan.pace))

    def rival(self, played: PlayedMatch) -> None:
        """Let a second server send what the first one sends from now on."""
        first = played.sender
        if rest := played.lines[first.lines :][:_RIVAL_LINES]:
            lines = [line._replace(at=line.at - rest[0].at) for line in rest]
            sender = LogSender(first.client, first.url, uuid4().hex, config=self._config)
            self._start(_send(sender, lines, Pace(played.plan.pace.speed)))

    def run_lanes(
        self, operators: Sequence[Operators], matches: int, speed: float, anomalies: Anomalies = NONE
    ) -> None:
        """Play so many matches at a time, one after another without end; the lanes take turns with the
        operators."""
        for lane in range(matches):
            self._start(self._lane(lane, operators[lane % len(operators)], speed, anomalies))

    async def _lane(self, lane: int, operators: Operators, speed: float, anomalies: Anomalies) -> None:
        await asyncio.sleep(lane * 0.1618)  # servers are not in step with one another
        teams = fictional_world().teams
        home, away = teams[2 * lane % len(teams)], teams[(2 * lane + 1) % len(teams)]
        for number in count():
            # Only the first is rushed into mid-play, so that lanes differ: servers send no such bursts.
            pace = Pace(speed, rush_until=0 if number else 200 + 37 * lane % 400, rush=100)
            seed = lane * 1000 + number
            plan = MatchPlan(home, away, seed, 0, pace=pace, brief=True, anomalies=anomalies)
            played = await self.create(operators, plan, "Bench", allow_unrated=True)
            sent = self.bodies.setdefault(played.urn, [])
            await played.sender.send(played.lines, pace, partial(_note, played.sender, sent))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.add(asyncio.create_task(work))

    def check(self) -> None:
        """Raises the error that ended a server, if one has ended so."""
        for task in self._tasks:
            if task.done():
                task.result()

    async def stop(self) -> None:
        """Every server falls silent. Raises the error that ended one."""
        for task in self._tasks:
            task.cancel()
        for done in await asyncio.gather(*self._tasks, return_exceptions=True):
            if isinstance(done, Exception):
                raise done

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()


def _note(sender: LogSender, sent: list[SentBody]) -> None:
    answered = time.time() * 1000
    sent.append(SentBody(answered - (sender.timing.clock() - sender.due) * 1000, answered))


async def _send(sender: LogSender, lines: Sequence[LogLine], pace: Pace) -> None:
    with suppress(SinkRefused):
        await sender.send(lines, pace)


async def play_on(seconds: float, check: Callable[[], None]) -> None:
    """Let it go on for so long; `check` raises what has ended by itself."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        await asyncio.sleep(min(1, left))
        check()
