"""Reproducible, and plausible: the simulator's figures lie where real matches' do."""

import math
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from app.sandbox.simulator.anomalies import COMMON, NONE, Anomalies
from app.sandbox.simulator.fictional_world import fictional_world
from app.sandbox.simulator.map_play import rounds_to_win
from app.sandbox.simulator.match_simulation import MatchPlan, Pace, simulate
from app.sandbox.simulator.round_plan import (
    BOMB_SECONDS,
    PLANT_SECONDS,
    ROUND_SECONDS,
    Fighter,
    RoundPlanner,
    edge_for,
)
from app.sandbox.simulator.truth import MapTruth, RoundTruth, Side
from tests.support.lengths import short_then_long
from tests.support.simulated import BEGIN, outcome, plan_between


@pytest.fixture(scope="module", params=short_then_long([100, 300]))
def played(request: pytest.FixtureRequest) -> list[MapTruth]:
    """Maps between pairs as a tournament draws them."""
    rng = Random(11)
    maps: list[MapTruth] = []
    for seed in range(request.param):
        home, away = fictional_world().pair(rng)
        maps.extend(outcome(MatchPlan(home, away, seed, BEGIN, brief=True)).maps)
    return maps


def rounds(maps: list[MapTruth]) -> Iterator[RoundTruth]:
    return (a_round for a_map in maps for a_round in a_map.rounds)


def some_plan() -> MatchPlan:
    return plan_between(3, 8, 42, best_of=3)


def test_same_seed_same_lines() -> None:
    assert simulate(some_plan()) == simulate(some_plan())


@pytest.mark.parametrize("anomalies", [NONE, COMMON])
def test_the_outcome_is_that_of_the_log(anomalies: Anomalies) -> None:
    plan = replace(some_plan(), anomalies=anomalies)
    assert outcome(plan) == simulate(plan)[1]


def test_other_seed_other_match() -> None:
    assert simulate(some_plan())[0] != simulate(replace(some_plan(), seed=43))[0]


def test_time_only_goes_forward() -> None:
    times = [line.at for line in simulate(some_plan())[0]]
    assert times == sorted(times)


def test_speed_squeezes_the_stamps() -> None:
    slow = simulate(replace(some_plan(), timestamps="millis"))[0]
    fast = simulate(replace(some_plan(), timestamps="millis", pace=Pace(10)))[0]
    assert [line.at for line in slow] == [line.at for line in fast]
    assert fast[0].text[:25] == slow[0].text[:25]
    assert fast[-1].text[:25] < slow[-1].text[:25]


def test_mean_rounds(played: list[MapTruth]) -> None:
    mean = sum(len(a_map.rounds) for a_map in played) / len(played)
    assert 20.7 < mean < 22.8


def test_overtime_share(played: list[MapTruth]) -> None:
    """Near that of the real maps of 2026, 0.109; two and a half standard errors are 0.05 of 300 maps."""
    share = sum(len(a_map.rounds) > 24 for a_map in played) / len(played)
    assert abs(share - 0.109) < 2.5 * math.sqrt(0.109 * 0.891 / len(played))


def test_first_kill_wins_seven_rounds_in_ten(played: list[MapTruth]) -> None:
    scoring = ((r, [kill for kill in r.kills if kill.side != kill.victim_side]) for r in rounds(played))
    firsts = [(kills[0], r) for r, kills in scoring if kills]
    assert 0.69 < sum(kill.side == r.side for kill, r in firsts) / len(firsts) < 0.75


def test_sides_by_map(played: list[MapTruth]) -> None:
    """Every map's CT share is near the one it is made with: within 0.02 and three standard errors, by maps,
    since the rounds of a map go together."""
    for map_profile in fictional_world().maps:
        maps = [a_map.rounds for a_map in played if a_map.name == map_profile.name]
        surplus = [sum((r.side == "CT") - map_profile.ct_share for r in a_map) for a_map in maps]
        number = sum(map(len, maps))
        error = math.sqrt(sum(one**2 for one in surplus)) / number
        assert abs(sum(surplus) / number) < 0.02 + 3 * error, map_profile.name


def test_every_way_to_win_happens(played: list[MapTruth]) -> None:
    reasons = [r.reason for r in rounds(played)]
    shares = {reason: reasons.count(reason) / len(reasons) for reason in ("kills", "bomb", "defuse", "time")}
    assert 0.55 < shares["kills"] < 0.7
    assert min(shares.values()) > 0.02


@pytest.mark.parametrize("matches", short_then_long([40, 60]))
def test_stronger_team_wins_more(matches: int) -> None:
    wins = [outcome(plan_between(0, 30, seed, brief=True)).winner == "home" for seed in range(matches)]
    assert sum(wins) / len(wins) > 0.75


def even_fighters() -> dict[Side, list[Fighter]]:
    """Five rifles with armour a side, three kits."""
    ct = [Fighter(weight=3.0, damage=32, kit=index < 3) for index in range(5)]
    return {"CT": ct, "T": [Fighter(weight=3.0, damage=35) for _ in range(5)]}


@pytest.mark.parametrize("chance", [0.3, 0.5, 0.7])
def test_edge_gives_the_chance_wanted(chance: float) -> None:
    rng = Random(7)
    plans = [RoundPlanner(rng, edge_for(chance), even_fighters()).play() for _ in range(3000)]
    assert abs(sum(plan.winner == "CT" for plan in plans) / 3000 - chance) < 0.035


def test_rounds_keep_to_the_clock_and_the_fuse() -> None:
    """A round without a plant ends within its time, a planted bomb within 40 s; a plant takes 3.2 s, a defuse
    10 s, with a kit 5 s, unless its player dies or lets go."""
    rng = Random(3)
    interrupted = 0
    for _ in range(1500):
        fighters = even_fighters()
        plan = RoundPlanner(rng, 0.0, fighters).play()
        times = [event.at for event in plan.events]
        assert times == sorted(times)
        done = {event.kind: event for event in plan.events if event.kind in ("plant", "defuse", "explode")}
        begun = {event.kind: event for event in plan.events if event.kind.startswith("begin")}
        if "plant" not in done:
            assert plan.ends_at <= ROUND_SECONDS and plan.reason in ("kills", "time")
            continue
        assert done["plant"].at <= ROUND_SECONDS
        assert done["plant"].at - begun["begin plant"].at == pytest.approx(PLANT_SECONDS, abs=0.01)
        assert plan.ends_at <= done["plant"].at + BOMB_SECONDS + 0.001
        assert ("defuse" in done) == (plan.reason == "defuse")
        if "defuse" in done:
            _, who = done["defuse"].actor or ("CT", 0)
            seconds = 5 if fighters["CT"][who].kit else 10
            assert done["defuse"].at - begun["begin defuse"].at == pytest.approx(seconds, abs=0.01)
        else:
            interrupted += "begin defuse" in begun
    assert interrupted > 20


def test_hits_add_up() -> None:
    """Nobody is hit beyond their health, and only the living are hit."""
    rng = Random(4)
    for _ in range(500):
        health = {(side, index): 100 for side in ("CT", "T") for index in range(5)}
        for event in RoundPlanner(rng, 0.0, even_fighters()).play().events:
            if event.target is None:
                continue
            assert health[event.target] > event.amount
            health[event.target] = health[event.target] - event.amount if event.kind == "hit" else 0


def test_more_players_health_and_better_weapons_win() -> None:
    rng = Random(5)

    def ct_wins(weight: float, health: int) -> float:
        won = 0
        for _ in range(600):
            fighters = even_fighters()
            for one in fighters["CT"]:
                one.weight, one.health = weight, health
            won += RoundPlanner(rng, 0.0, fighters).play().winner == "CT"
        return won / 600

    poor, wounded, even = ct_wins(1.0, 100), ct_wins(3.0, 30), ct_wins(3.0, 100)
    assert poor < 0.25
    assert poor < wounded < even - 0.05


@pytest.mark.parametrize(("played", "wins"), [(0, 13), (23, 13), (24, 16), (29, 16), (30, 19), (36, 22)])
def test_rounds_to_win(played: int, wins: int) -> None:
    assert rounds_to_win(played) == wins


def test_squads_are_spread_like_the_ranking() -> None:
    points = [team.points for team in fictional_world().teams]
    assert points == sorted(points, reverse=True)
    assert 1950 <= points[0] <= 2050
    assert 1230 <= points[-1] <= 1300
    names = [player.name for team in fictional_world().teams for player in team.players]
    assert len(set(names)) == len(names) == 200
