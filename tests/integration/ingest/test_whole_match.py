"""A whole simulated series through ingest: its statistics and its settlements agree with what was stored."""

import pytest

from app.domain.match import Match, Status
from app.ingest import commands, operator
from app.ingest.apply import apply
from app.ingest.batch import Batch
from app.ingest.operator import NewMatch
from app.simulator.series import Plan, simulate
from app.simulator.truth import SeriesTruth
from app.simulator.world import world
from app.store import history, markets, matches, statistics
from app.store.connections import Store
from app.trading.audit import audit
from tests.integration.ingest.conftest import NOW, TERMS

_LINES = 60


@pytest.fixture
def plan() -> Plan:
    home, away = world().squads[:2]
    return Plan(home, away, seed=5, begin=NOW, best_of=3, brief=True)


async def play(store: Store, plan: Plan) -> tuple[Match, SeriesTruth]:
    log, truth = simulate(plan)
    asked = NewMatch(home=plan.home.name, away=plan.away.name, event="Cup", best_of=3, scheduled_at=NOW)
    match = await operator.create(store, asked, NOW, TERMS)
    for start in range(0, len(log), _LINES):
        lines = log[start : start + _LINES]
        body = "".join(f"{line.text}\n" for line in lines).encode()
        at = NOW + round(lines[-1].at * 1000)
        batch = Batch(id=str(start), match_id=match.id, number=match.number, arrived_at=at, body=body)
        await apply(store, batch, at, TERMS)
    return match, truth


async def test_a_series_leaves_statistics_and_sound_settlements(store: Store, plan: Plan) -> None:
    match, truth = await play(store, plan)
    async with store.reading() as tx:
        home = await statistics.of_team(tx, match.home, None, limit=10)
        away = await statistics.of_team(tx, match.away, None, limit=10)
        players = await statistics.of_roster(tx, match.home, limit=100)
        facts = await history.rounds(tx, match.id), await history.timeline(tx, match.id)
        ledger = await history.ledger(tx, match.id)
        book = await markets.book(tx, match.id)
    rounds = [len(a_map.rounds) for a_map in reversed(truth.maps)]
    assert [one.map_name for one in home] == [a_map.name for a_map in reversed(truth.maps)]
    assert [one.line.rounds_ct + one.line.rounds_t for one in home] == rounds
    assert sum(one.line.wins for one in home) == sum(one.line.losses for one in away)
    assert len({one.account for one in players}) == 5
    assert sum(one.tally.kills for one in players) == sum(one.line.kills for one in home)
    assert not any(market.open for market in book.values())
    finished = await _named(store, match)
    assert finished.status is Status.FINISHED
    assert audit(finished, *facts, ledger) == []


async def test_statistics_follow_a_team_that_is_renamed_afterwards(store: Store, plan: Plan) -> None:
    match, _ = await play(store, plan)
    rename = commands.RenameTeam(team="team_a", name="Other Name")
    await operator.order(store, str(match.id), rename, by="tester", now=NOW, terms=TERMS)
    async with store.reading() as tx:
        assert await statistics.of_team(tx, match.home, None, limit=10) == []
        assert len(await statistics.of_team(tx, "other name", None, limit=10)) >= 2


async def _named(store: Store, match: Match) -> Match:
    async with store.transaction() as tx:
        return await matches.lock(tx, match.id)
