"""A whole simulated series through ingest: its statistics and its settlements agree with what was stored."""

from dataclasses import replace

import pytest

from app.commands import match_commands
from app.domain.match import Status
from app.sandbox.simulator.fictional_world import fictional_world
from app.sandbox.simulator.match_simulation import MatchPlan
from app.store import history, markets, statistics
from app.store.connections import Store
from app.trading.settlement_check import check_settlements
from tests.integration.ingest.conftest import NOW
from tests.support.lengths import short_then_long
from tests.support.matches import execute
from tests.support.season import play


@pytest.fixture
def plan() -> MatchPlan:
    home, away = fictional_world().teams[:2]
    return MatchPlan(home, away, seed=5, begin=NOW, best_of=3, brief=True)


async def test_a_series_leaves_statistics_and_sound_settlements(store: Store, plan: MatchPlan) -> None:
    match, _, truth = await play(store, plan, "Cup")
    async with store.autocommit() as tx:
        home = await statistics.of_team(tx, match.home_id, limit=10)
        away = await statistics.of_team(tx, match.away_id, limit=10)
        accounts = [gamer.account for gamer in plan.home.players]
        players = await statistics.of_players(tx, accounts, limit=100)
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
    assert match.status is Status.FINISHED
    assert check_settlements(match, *facts, ledger) == []


@pytest.mark.parametrize("best_of", short_then_long([1, 3]))
async def test_statistics_stay_with_a_team_that_is_renamed_afterwards(
    store: Store, plan: MatchPlan, best_of: int
) -> None:
    match, _, truth = await play(store, replace(plan, best_of=best_of), "Cup")
    rename = match_commands.RenameTeam(team="team_a", name="Other Name")
    await execute(store, match, rename, NOW)
    async with store.autocommit() as tx:
        assert len(await statistics.of_team(tx, match.home_id, limit=10)) == len(truth.maps)
