"""Simulated matches with all that may happen to one, played into a database as an ingest process would, on a
clock of their own: servers that crash and load backups, lines that are late, lost, repeated or out of order,
sources that fall silent, the clock between lines, and operators who trade, settle, void and undo.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from random import Random
from typing import Any

import msgspec

from app.commands import creation
from app.commands.command_service import CommandService
from app.commands.creation import NewMatch
from app.commands.execution import Sender
from app.commands.match_commands import Command
from app.commands.trading_commands import AnyCommand
from app.domain.market import Market
from app.domain.match import Match
from app.ingest import lost_lines, match_checks
from app.ingest.batches import Batch
from app.ingest.log_update import IngestConfig, apply_batch
from app.kit.errors import Refusal
from app.sandbox.simulator.anomalies import COMMON
from app.sandbox.simulator.fictional_world import fictional_world
from app.sandbox.simulator.match_simulation import MatchPlan, simulate
from app.store import markets, matches
from app.store.connections import Store

BEGIN = 1_800_000_000_000
_BETWEEN_MATCHES = 86_400_000
_COMMANDS = 0.06  #: of the batches are followed by a command
_LOST, _LATE, _SWAPPED, _REPEATED = 0.004, 0.01, 0.02, 0.02  #: of the batches are


class Played(msgspec.Struct, frozen=True):
    """A match in the end, and how many commands were executed on it, refused ones not counted."""

    match: Match
    commands: int


class TradedMatch:
    """One match, by its seed. `config` and the database are those of the process."""

    def __init__(self, store: Store, seed: int, config: IngestConfig) -> None:
        self._store, self._seed, self._config = store, seed, config
        self._rng = Random(f"what happens to {seed}")
        self._now = BEGIN + seed * _BETWEEN_MATCHES
        self._executed = 0
        self._match: Match | None = None
        self._left: Iterator[Batch] = iter(())

    async def play(self, batches: int | None = None) -> Played:
        """Play so many batches more (default: all that are left)."""
        if self._match is None:
            self._match = await self._create()
            self._left = self._disordered(list(self._batches(self._match)))
        match = self._match
        for batch in islice(self._left, batches):
            await self._pass_time(match, batch.arrived_at)
            self._now = batch.arrived_at + (5_000 if self._rng.random() < _LATE else 20)
            await apply_batch(self._store, batch, self._now, self._config)
            if self._rng.random() < _COMMANDS:
                await self._command(match)
        if batches is None:
            await self._pass_time(match, self._now + 60_000)
        return Played(await self._present(match), self._executed)

    async def _present(self, match: Match) -> Match:
        async with self._store.autocommit() as tx:
            return await matches.by_ref(tx, str(match.id))

    async def _create(self) -> Match:
        home, away = self._teams
        rated = self._seed % 5 > 0  # or by what matches before this one say
        new = NewMatch(
            home=home,
            away=away,
            event="Cup",
            scheduled_at=self._now,
            allow_unrated=True,
            home_strength=1500.0 + self._seed if rated else 0.0,
            away_strength=1550.0 if rated else 0.0,
        )
        return await creation.create_match(self._store, new, self._now, self._config.pricing)

    @property
    def _teams(self) -> tuple[str, str]:
        plan = self._plan
        return plan.home.name, plan.away.name

    @property
    def _plan(self) -> MatchPlan:
        home, away = fictional_world().pair(Random(self._seed))
        begin = BEGIN + self._seed * _BETWEEN_MATCHES + 60_000
        rounds = (24, 12, 12, 12)[self._seed % 4]  # short maps have halves and overtimes, too
        return MatchPlan(home, away, self._seed, begin, brief=True, rounds=rounds, anomalies=COMMON)

    def _batches(self, match: Match) -> Iterator[Batch]:
        """The log, cut after some seconds of play."""
        plan, rng = self._plan, self._rng
        lines, _ = simulate(plan)
        run, sent, waiting, due = 0, 0, list[str](), 3.0
        for line in (*lines, None):
            if line is not None and line.at < due and line.run == run:
                waiting.append(line.text)
                continue
            if waiting:
                body = "".join(f"{text}\n" for text in waiting).encode("utf-8", "surrogateescape")
                yield Batch(
                    id=f"{match.number}/{run}/{sent}",
                    match_id=match.id,
                    number=match.number,
                    arrived_at=plan.begin + int(due * 1000),
                    body=body,
                    instance=f"run-{run}",
                    unique="server",
                    begin=sent,
                    end=sent + len(body),
                )
                sent += len(body)
            if line is not None:
                if line.run != run:
                    run, sent = line.run, 0
                waiting = [line.text]
                while due <= line.at:
                    due += rng.choice((1.0, 3.0, 6.0))

    def _disordered(self, batches: list[Batch]) -> Iterator[Batch]:
        """Some are lost, some come twice, some after the next one."""
        waiting: Batch | None = None
        for batch in batches:
            chance = self._rng.random()
            if chance < _LOST:
                continue
            yield batch
            if waiting is not None:
                yield msgspec.structs.replace(waiting, arrived_at=batch.arrived_at)
                waiting = None
            if chance > 1 - _REPEATED:
                yield batch
            elif chance > 1 - _REPEATED - _SWAPPED:
                waiting = batch

    async def _pass_time(self, match: Match, until: int) -> None:
        """The checks of an ingest process up to then."""
        for _ in range(200):
            async with self._store.autocommit() as tx:
                due = await matches.due(tx, until)
            if match.id not in due:
                break
            self._now = min(self._now + 250, until)
            await match_checks.reprice_due(self._store, lambda: self._now, self._config)
        self._now = max(self._now, until)
        await lost_lines.skip_missing(self._store, self._now, self._config)
        await match_checks.suspend_silent(self._store, self._now, self._config)
        await match_checks.refresh_ratings(self._store, self._now, self._config)

    async def _command(self, match: Match) -> None:
        async with self._store.autocommit() as tx:
            book = await markets.book(tx, match.id)
        listed = sorted(book.values(), key=lambda one: one.key)
        command = random_command(self._rng, listed, await self._present(match))
        try:
            service = CommandService(self._store, self._config.pricing)
            await service.execute(str(match.id), command, Sender("trader", "trader"), self._now)
            self._executed += 1
        except Refusal:
            pass  # the state forbids it


def random_command(rng: Random, book: Sequence[Market], match: Match) -> Command:
    """Some command on one of these markets, or on the match."""
    market = rng.choice(book) if book else None
    place = {"market_id": market.type_id, "specifiers": market.specifiers} if market else _WINNER
    group = market.group if market and market.group else "match"
    end = match.last_arrived_at - rng.randint(0, 30_000)
    window = {"start_time": end - 30_000, "end_time": end}
    kinds: list[dict[str, Any]] = [
        *({"command": kind, **place} for kind in _ON_OFFER),
        *({"command": kind, "group": group} for kind in ("suspend_group", "release_group")),
        *({"command": kind, "market_id": place["market_id"]} for kind in _ON_TYPES),
        {"command": "set_margin", "margin": 0.08},
        {"command": "set_margin", "margin": 0.03, "market_id": place["market_id"]},
        {"command": "set_max_move", "max_move": rng.choice((0, 0.5))},
        {"command": "shift_strength", "team": "team_b", "points": rng.randint(-100, 100)},
        {"command": "hold_probability", **place, "probability": rng.choice((0.4, 0.6))},
        *({"command": "undo", "of": max(match.revision - back, 1)} for back in (0, 1)),
        {"command": "suspend", "reason": "checked"},
        {"command": "unsuspend"},
        {"command": "unsuspend"},
        {"command": "settle_market", **place, "result": rng.choice(("won", "lost")), "reason": "seen"},
        {"command": "void_market", **place, "reason": "wrong"},
        {
            "command": "void_market",
            **place,
            **window,
            "reason": "wrong",
        },
        {"command": "roll_back_market", **place, "reason": "checked", "release": rng.random() < 0.5},
        {"command": "rate", "strength_a": 1500 + rng.randint(0, 90)},
        {"command": "accept_restart"},
    ]
    command: Command = msgspec.convert(rng.choice(kinds), AnyCommand)
    return command


_WINNER = {"market_id": 1, "specifiers": "team=home"}
_ON_OFFER = ("suspend_market", "release_market", "add_line", "withdraw_line", "release_probability")
_ON_TYPES = ("close_type", "open_type", "clear_margin")
