"""A small world of test data: two teams with players, a tournament, soccer, and matches in every state.

Numbers are the same each time: matches 1 to 4 are live, finished, upcoming and cancelled; the teams are 11
and 12, the tournament is 21, players are 1101 to 1205; soccer's competitors and its tournament have the same
numbers, and its matches are 1 and 2.
"""

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from app.access import profiles
from app.commands import entrant_import, match_commands
from app.commands.command_service import CommandService
from app.commands.entrant_import import RowKind
from app.commands.execution import Sender
from app.commands.soccer_season import read_season_file
from app.domain.market import Result
from app.domain.match import Match
from app.domain.service_status import Incident, IncidentKind, IncidentUpdate, PartState
from app.domain.trading_controls import MarginControl
from app.ingest.log_update import IngestConfig, apply_batch
from app.kit.clock import system_clock
from app.sandbox.simulator.fictional_world import FictionalTeam
from app.sandbox.simulator.fictional_world import fictional_world as invented
from app.sandbox.simulator.match_simulation import MatchPlan, simulate
from app.store import alerts, incidents
from app.store.alerts import AlertKind, AlertSubject
from app.store.connections import Store
from tests.support import season, stored
from tests.support.matches import create_match, execute

CONFIG = IngestConfig()
EVENT = "Norland Masters"
_KINDS: dict[str, RowKind] = {
    "category": "category",
    "team": "team",
    "player": "player",
    "tournament": "tournament",
    "soccer competitor": "soccer_competitor",
    "soccer tournament": "soccer_tournament",
}
_LINES = 200
_SEASON = {
    "name": "Norland Cup 2030/31",
    "matches": [
        {
            "round": "Matchday 1",
            "date": "2030-08-17",
            "time": "15:00",
            "team1": "Port Alder",
            "team2": "Millbrook",
            "score": {"ht": [1, 0], "ft": [2, 1]},
        },
        {"round": "Matchday 2", "date": "2031-05-24", "team1": "Millbrook", "team2": "Port Alder"},
    ],
}


def _shown(begin: int) -> match_commands.Describe:
    """Where the live match, which began then, is to be seen."""
    anchor = match_commands.VodAnchorGiven(at=begin, offset_seconds=600)
    stream = match_commands.StreamGiven(
        url="https://video.example/norland", language="en", name="Norland TV", vod_anchors=(anchor,)
    )
    return match_commands.Describe(streams=(stream,), demo_url="https://demos.example/norland.dem")


class World(msgspec.Struct, frozen=True):
    """The matches, by the state that they are in."""

    live: Match
    finished: Match
    upcoming: Match
    cancelled: Match


async def made(store: Store) -> World:
    """Fill an empty database with the world, as files, operators and game servers would."""
    now = system_clock()
    home, away = invented().teams[:2]
    async with store.transaction() as tx:
        lines = "\n".join(json.dumps(row) for row in _rows(home, away))
        rows = entrant_import.read_profiles("world.jsonl", lines.encode(), _KINDS)
        season = read_season_file("world.json", json.dumps(_SEASON).encode())
        rows += entrant_import.season_rows("world.json", season)
        await entrant_import.import_rows(tx, rows, [season], by="tester", now=now)
    made = [await _match(store, home, away, now) for _ in range(4)]
    await _play(store, made[0], _plan(home, away, now, seed=6), now, share=0.4)
    await _play(store, made[1], _plan(home, away, now, seed=5), now)
    await execute(store, made[0], _shown(now), now)
    await _request_consent(store, made[0], now)
    async with store.transaction() as tx:
        about = AlertSubject(AlertKind.TENANT_RIGHTS, tenant="acme", subject="queues")
        await alerts.begin(tx, about, "it has more queues than it may have", now)
        await incidents.add(tx, _incident(now))
        await profiles.publish(
            tx, "tight", profiles.ProfileDraft((MarginControl(0.04),)), by="tester", now=now
        )
    cancel = match_commands.Cancel()
    await execute(store, made[3], cancel, now)
    return World(*[await stored.present(store, match) for match in made])


def _incident(now: int) -> Incident:
    """An incident that is over."""
    updates = (
        IncidentUpdate(now - 600_000, "No process applies logs.", PartState.DOWN),
        IncidentUpdate(now - 540_000, "Nothing is wrong any more.", PartState.OK),
    )
    return Incident(0, IncidentKind.INGEST, now - 615_000, now - 540_000, updates)


async def _request_consent(store: Store, match: Match, now: int) -> None:
    """A command on the live match that waits for consent: another result of a round's winner."""
    book = await stored.book(store, match)
    won = next(one for _, one in sorted(book.items()) if one.type_id == 13 and one.result is Result.WON)
    command = match_commands.SettleMarket(
        market_id=13, specifiers=won.specifiers, result="lost", reason="the referee has corrected it"
    )
    later, by = now + 120_000, "operator ann@ops.example"
    service = CommandService(store, CONFIG.pricing, consent_seconds=60)
    await service.send(str(match.id), command, Sender(by, by), later)


def _rows(home: FictionalTeam, away: FictionalTeam) -> Iterator[dict[str, Any]]:
    yield {"kind": "category", "id": 1, "name": "Norland"}
    for number, squad in ((11, home), (12, away)):
        about = {"country_code": "NO", "region": "EU", "icon_url": f"https://img.example/teams/{number}.png"}
        yield {"kind": "team", "id": number, "name": squad.name, "weeks_in_top30": number, **about}
        for seat, gamer in enumerate(squad.players, start=1):
            seen = {"account": gamer.account, "team": squad.name}
            yield {"kind": "player", "id": number * 100 + seat, "name": gamer.name, **seen}
    teams = [home.name, away.name]
    yield {"kind": "tournament", "id": 21, "name": EVENT, "category": "Norland", "teams": teams, "tier": "A"}
    places = ["Port Alder", "Millbrook"]
    for number, name in enumerate(places, start=11):
        about = {"country": "Norland", "country_code": "NOR", "abbreviation": name[:3].upper()}
        yield {"kind": "soccer competitor", "id": number, "name": name, **about}
    yield {"kind": "soccer tournament", "id": 21, "name": "Norland Cup", "competitors": places}


def _plan(home: FictionalTeam, away: FictionalTeam, now: int, *, seed: int) -> MatchPlan:
    return MatchPlan(home, away, seed=seed, begin=now, best_of=1, brief=True)


async def _match(store: Store, home: FictionalTeam, away: FictionalTeam, now: int) -> Match:
    return await create_match(store, now, home=home.name, away=away.name, event=EVENT, scheduled_at=now)


async def _play(store: Store, match: Match, plan: MatchPlan, now: int, share: float = 1.0) -> None:
    """Apply so much of a simulated match's log, every batch as if it had just arrived."""
    log, _ = simulate(plan)
    for batch in season.batches(match, log[: round(len(log) * share)], now, _LINES):
        await apply_batch(store, msgspec.structs.replace(batch, arrived_at=now), now, CONFIG)
