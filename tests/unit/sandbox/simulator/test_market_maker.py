"""The simulated market: near the truth in the middle, with every fault that it should have."""

from collections import Counter
from random import Random
from statistics import mean

import pytest

from app.sandbox.simulator.fictional_world import fictional_world
from app.sandbox.simulator.market_maker import FAULTS, SOURCES, MarketMaker, home_chance
from app.sandbox.simulator.match_simulation import MatchPlan
from tests.support.lengths import short_then_long
from tests.support.simulated import outcome

NOW = 1_800_000_000_000


def plan(seed: int, best_of: int = 1) -> MatchPlan:
    home, away = fictional_world().pair(Random(seed))
    return MatchPlan(home, away, seed, NOW, best_of=best_of, brief=True)


def test_a_seed_gives_the_same_quotes() -> None:
    first, second = (
        [maker.quotes(plan(at), f"m{at}", NOW + at) for at in range(20)]
        for maker in (MarketMaker(7), MarketMaker(7))
    )
    assert first == second != [MarketMaker(8).quotes(plan(at), f"m{at}", NOW + at) for at in range(20)]


def test_most_quotes_are_near_the_truth_and_every_fault_occurs() -> None:
    maker = MarketMaker(1)
    seen: Counter[str] = Counter()
    errors = []
    for at in range(300):
        one = plan(at)
        rows = maker.quotes(one, f"m{at}", NOW)
        assert {row["source"] for row in rows} <= SOURCES.keys()
        truth = home_chance(one.home.points - one.away.points, one.best_of)
        for name in SOURCES:
            odds = {row["specifiers"]: row["odds"] for row in rows if row["source"] == name}
            late = any(row["at"] < NOW for row in rows if row["source"] == name)
            seen["absent"] += not odds
            seen["late"] += late
            if not odds:
                continue
            home, away = odds["team=home"], odds["team=away"]
            seen["impossible"] += home == away == 1.01
            seen["certain"] += (home, away) == (1.01, 15.0)
            if 1 < 1 / home + 1 / away < 1.1 and not late:
                errors.append(abs(away / (home + away) - truth))
    for fault, share in FAULTS.items():
        if fault != "swapped":
            assert seen[fault] == pytest.approx(900 * share, abs=25), fault
    assert sorted(errors)[int(0.85 * len(errors))] < 0.06


@pytest.mark.parametrize("matches", short_then_long([150, 1500]))
def test_the_chance_of_a_match_is_that_of_the_simulator(matches: int) -> None:
    """The stronger team of simulated matches wins as often as it is quoted."""
    quoted, won = [], []
    for seed in range(matches):
        one = plan(seed)
        stronger = "home" if one.home.points >= one.away.points else "away"
        truth = outcome(one)
        quoted.append(home_chance(abs(one.home.points - one.away.points), one.best_of))
        won.append(truth.maps_won(stronger) > 0)
    assert mean(won) == pytest.approx(mean(quoted), abs=3 * 0.5 / matches**0.5)
