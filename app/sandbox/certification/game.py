"""Matches for certification: played step by step, each line with the time at which it is sent, so that play
may stand still between two steps; and operators' commands on them."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any
from uuid import uuid4

import httpx

from app.sandbox.certification.evidence import Evidence
from app.sandbox.simulator.anomalies import NONE, LogLine
from app.sandbox.simulator.fictional_world import FictionalTeam, fictional_world
from app.sandbox.simulator.log_lines import stamped
from app.sandbox.simulator.map_state import ROUNDS
from app.sandbox.simulator.match_simulation import REAL_TIME, MatchPlan, simulate
from app.sandbox.simulator.service_client import (
    CreatedMatch,
    LogSender,
    OperatorClient,
    SendConfig,
    SinkRefused,
    sink_address,
)

_STAMP = re.compile(r"^\d\d/\d\d/\d{4} - \d\d:\d\d:\d\d\.\d{3} - ")
_RESTORE = "mp_backup_restore_load_file"
_ROUND_BEGINS, _ROUND_ENDS = 'triggered "Round_Start"', 'triggered "Round_End"'
#: What a batch of lines ends with: each changes prices.
_TURNS = ("Starting Freeze period", " killed ", _ROUND_ENDS, "Bomb", _ROUND_BEGINS)
_SEEDS = 1_000
_APPLIED_SECONDS, _LOOK_SECONDS = 30.0, 0.01


class Game:
    """One match. `urn` is its name in the feed; `rounds_played` counts all that have ended."""

    def __init__(
        self, match: CreatedMatch, lines: Sequence[LogLine], sender: LogSender, service: "Games"
    ) -> None:
        self.match, self._lines, self._sender, self._games = match, lines, sender, service
        self._next = 0
        self.rounds_played = 0

    @property
    def urn(self) -> str:
        return f"od:match:{self.match.number}"

    @property
    def over(self) -> bool:
        return self._next >= len(self._lines)

    async def play(self, rounds: int = 1) -> None:
        """Play so many rounds, and on to the beginning of the next one, when its markets are on offer."""
        for _ in range(rounds):
            await self._until(lambda line: _ROUND_ENDS in line)
            self.rounds_played += 1
        await self._until(lambda line: _ROUND_BEGINS in line)

    async def play_to_results(self) -> None:
        """Play rounds until markets are settled: one that is all but decided before it begins is not on
        offer."""
        known = len(await self.settlements())
        while len(await self.settlements()) == known and not self.over:
            await self.play()

    async def kick_off(self) -> None:
        await self._until(lambda line: _ROUND_BEGINS in line)

    async def finish(self) -> None:
        await self._until(lambda line: False)

    async def load_backup(self) -> None:
        """Play until the server has loaded a backup, and the round that follows has begun."""
        await self._until(lambda line: _RESTORE in line)
        await self._until(lambda line: _ROUND_BEGINS in line)

    async def _until(self, last: Callable[[str], bool]) -> None:
        """Send the lines up to the first of which `last` is true, a batch for each turn of play."""
        batch: list[LogLine] = []
        while not self.over:
            line = self._lines[self._next]
            self._next += 1
            batch.append(line)
            ends = last(line.text)
            if ends or any(turn in line.text for turn in _TURNS):
                await self._send(batch)
                batch = []
            if ends:
                return
        await self._send(batch)

    async def _send(self, batch: Sequence[LogLine]) -> None:
        if batch:
            now = time.time_ns() // 1_000_000
            await self._sender.send(
                [LogLine(0.0, stamped(now, _STAMP.sub("", line.text), "millis"), line.run) for line in batch],
                REAL_TIME,
            )
            await self._applied()

    async def _applied(self) -> None:
        """The sink answers before lines are applied, and all that wait are applied at once: in a round that
        came in one piece no market would have been on offer. Raises `SinkRefused`."""
        deadline = time.monotonic() + _APPLIED_SECONDS
        run, offset = self._sender.instance, self._sender.offset
        while not await self._games.has_applied(self.match.id, run, offset):
            if time.monotonic() > deadline:
                raise SinkRefused(
                    f"the service has not applied a match's lines within {_APPLIED_SECONDS:.0f} s"
                )
            await asyncio.sleep(_LOOK_SECONDS)

    async def command(self, name: str, **fields: Any) -> None:
        """An operator's command on the match."""
        await self._games.command(self, {"command": name, **fields})

    async def offers(self) -> list[dict[str, Any]]:
        """The markets on offer, as REST lists them to an operator."""
        return await self._games.rows(f"/cs2/v1/matches/{self.match.id}/markets", {})

    async def settlements(self) -> list[dict[str, Any]]:
        """The match's ledger, oldest entry first."""
        return await self._games.rows(f"/cs2/v1/matches/{self.match.id}/settlements", {"limit": 200})

    async def newest_settled(self) -> dict[str, Any]:
        """The newest entry by which a market is settled."""
        last = {entry["market_offer_id"]: entry for entry in await self.settlements()}
        return [entry for entry in last.values() if entry["new_status"] == "settled"][-1]


class Games:
    """Creates matches; `client` has the service's address and an operator's key as a header. `has_applied`
    is that of the service."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        base_url: str,
        operator_key: str,
        has_applied: Callable[[str, str, int], Awaitable[bool]],
        rng: Random,
        evidence: Evidence,
    ) -> None:
        self._client, self._rng, self._evidence = client, rng, evidence
        self.has_applied = has_applied
        self.operator = OperatorClient(client, base_url, operator_key)

    async def begin(self, *, rename: Callable[[str], str] = str, rounds: int = ROUNDS) -> Game:
        """A new match between two fictional teams, in its first round. `rename` makes the names of teams and
        players."""
        plan = self._plan(rounds=rounds)
        return await self._begun(
            replace(plan, home=_renamed(plan.home, rename), away=_renamed(plan.away, rename))
        )

    async def with_backup(self) -> Game:
        """A match in its first round, in which the server will load a backup, and nothing else goes wrong."""
        for _ in range(_SEEDS):
            plan = self._plan(anomalies=replace(NONE, restore=0.08))
            lines, truth = simulate(plan)
            restores = [index for index, line in enumerate(lines) if _RESTORE in line.text]
            ends = [index for index, line in enumerate(lines) if _ROUND_ENDS in line.text]
            if len(restores) == 1 and truth.maps[0].voided and restores[0] < ends[7]:
                return await self._begun(plan)
        raise AssertionError("no seed gives a restore")

    def _plan(self, **fields: Any) -> MatchPlan:
        home, away = fictional_world().pair(self._rng)
        seed = self._rng.randrange(2**31)
        return MatchPlan(home, away, seed, 0, timestamps="millis", knife=False, brief=True, **fields)

    async def _begun(self, plan: MatchPlan) -> Game:
        """The match of this plan, created, and in its first round."""
        now = time.time_ns() // 1_000_000
        match = await self.operator.create(
            plan, "Certification", scheduled_at=now, reference=f"certify-{uuid4().hex}"
        )
        lines, _ = simulate(plan)
        address = sink_address(self.operator.base_url, match.log_sink_url)
        sender = LogSender(self._client, address, uuid4().hex, config=SendConfig(batch_seconds=0.0))
        game = Game(match, lines, sender, self)
        await game.kick_off()
        return game

    async def command(self, game: Game, body: dict[str, Any]) -> None:
        """Have a command executed; the evidence of its market has it, in both forms of a name."""
        about = f"{body.get('specifiers', '')}".strip()
        self._evidence.note(
            f"operator: {body['command']} {game.urn} {body.get('market_id', '')} {about}".rstrip(),
            f'event_id="{game.urn}" id="{body.get("market_id")}" "{about}"'
            f' "specifiers":"{about}" "id":{body.get("market_id")},',
        )
        await self.operator.call("POST", f"/ops/v1/matches/{game.match.id}/commands", body)

    async def rows(self, path: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
        """The rows of all pages of a list."""
        found: list[dict[str, Any]] = []
        cursor: str | None = ""
        while cursor is not None:
            answer = await self._client.get(
                self.operator.base_url + path,
                params=parameters | ({"cursor": cursor} if cursor else {}),
                headers=self.operator.headers,
            )
            page = answer.raise_for_status().json()
            found += page["data"]
            cursor = page["meta"].get("next_cursor")
        return found


def _renamed(team: FictionalTeam, rename: Callable[[str], str]) -> FictionalTeam:
    players = tuple(replace(player, name=rename(player.name)) for player in team.players)
    return replace(team, name=rename(team.name), players=players)
