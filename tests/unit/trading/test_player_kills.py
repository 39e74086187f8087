"""Players' kills: distributions with the means that follow from scores, levels and the round in play."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from app.domain.match import Match, MatchPlayer, PlayerForm
from app.trading.forecast import Forecast
from app.trading.half_walk import economies
from app.trading.map_scores import MapParameters, MapState, finals
from app.trading.match_facts import collect_facts
from app.trading.player_forecast import in_classes, kills_on_map
from app.trading.player_kills import PlayerRecord, kill_model
from app.trading.round_endings import kills_of_teams, more_kills
from app.trading.round_kills import kill_state
from tests.unit.domain.play import TEAMS, new_match
from tests.unit.trading.test_engine import TradedServer

FOX = TEAMS["home"][0].account
MEANS = st.lists(st.tuples(st.floats(0, 40), st.floats(0.01, 1)), min_size=1, max_size=8)


def shares(means: list[tuple[float, float]]) -> list[tuple[float, float]]:
    weight = sum(chance for _, chance in means)
    return [(mean, chance / weight) for mean, chance in means]


@given(MEANS, st.integers(0, 40))
def test_kills_are_a_distribution_with_the_mean_of_what_is_to_come(
    means: list[tuple[float, float]], seen: int
) -> None:
    found = kill_model().count(shares(means), seen)
    expected = seen + sum(mean * chance for mean, chance in shares(means))
    assert sum(chance for _, chance in found.chances) == pytest.approx(1)
    assert found.mean == pytest.approx(expected, rel=0.01, abs=1 / 32)  # nobody gets more than 60
    assert found.variance >= 0


@given(MEANS, st.integers(0, 40))
def test_over_falls_with_the_line_and_rises_with_every_kill(
    means: list[tuple[float, float]], seen: int
) -> None:
    found, more = kill_model().count(shares(means), seen), kill_model().count(shares(means), seen + 1)
    overs = [found.over(line + 0.5) for line in range(105)]
    assert overs == sorted(overs, reverse=True)
    assert all(over == 1.0 for over in map(round, overs[:seen]))
    assert all(more.over(line + 0.5) >= over - 1e-12 for line, over in enumerate(overs))


def test_nobody_kills_when_nothing_is_to_come() -> None:
    found = kill_model().count([(0.0, 1.0)], 7)
    assert (found.over(6.5), found.over(7.5)) == (1.0, 0.0)


@given(st.integers(0, 300), st.floats(0, 300))
def test_a_level_lies_between_that_of_all_and_the_players_own(kills: int, expected: float) -> None:
    own = kills / expected if expected > 0.01 else float("inf") if kills else 1.0
    assert (
        min(1.0, own) - 1e-9
        <= kill_model().level(PlayerRecord(kills, expected), None)
        <= max(1.0, own) + 1e-9
    )


def test_older_matches_count_less() -> None:
    newest, older = (kill_model().form(1, one) for one in ([(30, 20), (0, 20)], [(0, 20), (30, 20)]))
    assert newest.rounds == older.rounds and newest.kills > older.kills


def forecast(match: Match) -> Forecast:
    return Forecast(collect_facts(match, ()), match.last_arrived_at)


def server_in_freeze() -> TradedServer:
    """After two rounds in which all ten players were seen."""
    server = TradedServer.started(new_match(best_of=3))
    for _ in range(2):
        server.go_live()
        for one in range(4):
            server.kill("home", one, one)
            server.kill("away", one + 1 if one < 3 else 4, one) if one < 2 else None
        server.win("home")
        server.freeze()
    return server


def mean(match: Match, account: int = FOX) -> float:
    return kills_on_map(forecast(match), (1, account)).mean


def test_earlier_matches_move_a_player_and_the_team_keeps_its_sum() -> None:
    match = server_in_freeze().match
    strong = replace(match, player_forms=(PlayerForm(FOX, 300.0, 300.0),))
    assert mean(strong) > mean(match) + 0.5
    others = [one.account for one in match.roster if one.team == "home" and one.account != FOX]
    assert others and all(mean(strong, one) < mean(match, one) for one in others)


def test_kills_of_a_teams_players_in_the_current_round_sum_to_those_of_its_model() -> None:
    match = server_in_freeze().match
    now = forecast(match)
    assert match.current
    key = (1, match.current.number)
    both = kills_of_teams(*kill_state(now, key))
    assert sum(both) == pytest.approx(
        sum(count * chance for count, chance in enumerate(more_kills(*kill_state(now, key))))
    )
    counted = {one.account for one in match.roster if one.team == "home"}
    dead = replace(
        match,
        current=replace(match.current, dead=tuple(MatchPlayer(one, str(one)) for one in counted)),
    )
    lost = sum(mean(match, one) - mean(dead, one) for one in counted)
    assert lost == pytest.approx(both[0] * len(counted) / 5, rel=0.1)


def test_a_dead_player_has_fewer_kills_to_come_than_a_living_one() -> None:
    server = server_in_freeze()
    server.go_live()
    before = mean(server.match)
    server.kill("away", 0, 0)
    assert mean(server.match) < before - 0.3


def test_a_win_is_worth_more_kills_than_a_loss() -> None:
    assert kill_model().expected(1, 0) > kill_model().expected(0, 1) > 0


@pytest.mark.parametrize("score", [(0, 0), (6, 6), (5, 12), (12, 5), (11, 12), (12, 12)])
@pytest.mark.parametrize("skill", [-0.6, 0.0, 0.6])
def test_final_scores_that_are_taken_together_hardly_move_a_line(
    score: tuple[int, int], skill: float
) -> None:
    known = MapParameters(skill, 0.0, True, 24, 6, economies())
    state = MapState(*score, (None,) * known.position(*score)[1])
    model = kill_model()
    every = [
        (model.expected(home - score[0], away - score[1]), chance)
        for (home, away), chance in finals(known, state)
    ]
    exact, found = model.count(every), model.count(in_classes(*zip(*every, strict=True)))
    evens = exact.lines().first_at_most(0.5)
    for line in range(max(evens - 2, 0), evens + 3):
        assert found.over(line + 0.5) == pytest.approx(exact.over(line + 0.5), abs=0.006)


means_to_come = st.floats(0, 25)


@given(means_to_come, means_to_come, st.integers(-15, 15))
def test_a_duel_has_three_ends(mean: float, other: float, ahead: int) -> None:
    model = kill_model()
    found, turned = model.duel(mean, other, ahead), model.duel(other, mean, -ahead)
    assert found.more + found.level + turned.more == pytest.approx(1)
    assert found.level == pytest.approx(turned.level)
    assert model.duel(mean, other, ahead + 1).more >= found.more - 1e-12
    assert model.duel(mean + 1, other, ahead).more >= found.more - 1e-12


def test_drawn_counts_agree_about_duels_and_the_most_kills() -> None:
    random, means, count = np.random.default_rng(4), np.array([20.0, 17.5, 16.0, 15.0, 12.0]), 200_000
    odds = kill_model().known.dispersion - 1
    drawn = random.negative_binomial(means / odds, 1 / (1 + odds), (count, len(means)))
    exact = 4 * 0.5 / count**0.5
    duel = kill_model().duel(means[0], means[1], -2)
    lead = drawn[:, 0] - 2 - drawn[:, 1]
    assert duel.more == pytest.approx(np.mean(lead > 0), abs=exact)
    assert duel.level == pytest.approx(np.mean(lead == 0), abs=exact)
    best, second = np.sort(drawn, axis=1)[:, -1], np.sort(drawn, axis=1)[:, -2]
    for player, chance in enumerate(kill_model().most(means)):
        alone = (drawn[:, player] == best) & (best > second)
        assert chance == pytest.approx(np.mean(alone), abs=exact)


def test_kills_of_the_current_round_depend_on_who_lives() -> None:
    server = TradedServer.started(new_match(best_of=3))
    server.go_live()
    server.kill("home", 0, 0)
    now = forecast(server.match)
    assert kill_state(now, (1, 1))[:2] == (5, 4)
    assert kill_state(now, (1, 2))[:2] == (5, 5)


def test_a_kill_with_an_awp_is_on_offer_where_teams_can_have_one() -> None:
    server = TradedServer.started(new_match(best_of=3))
    offered = []
    for _ in range(4):
        offered.append({one.type_id for one in server.trader.active()} & {16, 33})
        server.rounds("home")
    assert offered == [set(), set(), {16, 33}, {16, 33}]
