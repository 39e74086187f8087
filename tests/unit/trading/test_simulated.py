"""Simulated matches, read from their log lines: the book agrees with the simulator's ground truth."""

import pytest

from app.domain.market import Market, Result
from app.domain.match import CurrentRound, Status
from app.sandbox.simulator.truth import MapTruth, RoundTruth, SeriesTruth
from app.trading.pricing import MIN_ODDS
from app.trading.rules import parse_specifiers
from tests.support.simulated import plan_between
from tests.unit.trading.trader import Trader, trade, traded


def run(seed: int, *, best_of: int, seconds: float) -> tuple[Trader, SeriesTruth]:
    plan = plan_between(seed, seed + 7, seed, best_of=best_of, brief=True)
    trader, truth = traded(plan, checking=seconds > 1, seconds=seconds)
    assert trader.match.status is Status.FINISHED
    return trader, truth


def opening(played: RoundTruth) -> str | None:
    return next((kill.side for kill in played.kills if kill.side != kill.victim_side), None)


def team_that_won(played: RoundTruth, side: str | None) -> str:
    loser = "away" if played.winner == "home" else "home"
    return played.winner if side == played.side else loser


def check_rounds(trader: Trader, number: int, true: MapTruth) -> int:
    seen = 0
    for played in true.rounds:
        kills = [kill for kill in played.kills if kill.side != kill.victim_side]
        for market in trader.book.values():
            specifiers = parse_specifiers(market.specifiers)
            if (specifiers.map, specifiers.round) != (number, played.number):
                continue
            expected = {
                13: played.winner == specifiers.team,
                14: team_that_won(played, opening(played)) == specifiers.team,
                15: bool(kills) and kills[0].headshot,
                16: any(kill.weapon == "awp" for kill in kills),
                17: bool(played.bomb_site),
                18: played.reason == "defuse",
                19: len(kills) > specifiers.threshold,
                20: len(kills) < specifiers.threshold,
                21: played.reason == "bomb",
                29: played.reason == "time",
                30: played.reason == "kills",
                32: bool(kills) and not kills[0].headshot,
                33: all(kill.weapon != "awp" for kill in kills),
                34: not played.bomb_site,
            }[market.type_id]
            assert market.result is (Result.WON if expected else Result.LOST), (market, played)
            seen += 1
    return seen


def check_map(trader: Trader, number: int, true: MapTruth) -> int:
    seen, total = 0, true.home_score + true.away_score
    for market in trader.book.values():
        specifiers = parse_specifiers(market.specifiers)
        if specifiers.map != number or market.type_id not in (6, 8, 9, 10, 27, 31):
            continue
        expected = {
            6: true.winner == specifiers.team,
            8: total > specifiers.threshold,
            9: total < specifiers.threshold,
            10: total > 24,
            27: total % 2 == 1,
            31: total <= 24,
        }[market.type_id]
        assert market.result is (Result.WON if expected else Result.LOST), market
        seen += 1
    return seen


@pytest.mark.parametrize(
    ("seed", "best_of", "seconds"), [(1, 1, 1.0), (2, 1, 5.0), (3, 3, 20.0), (4, 1, 90.0)]
)
def test_results_agree_with_the_truth(seed: int, best_of: int, seconds: float) -> None:
    trader, truth = run(seed, best_of=best_of, seconds=seconds)
    played = [(number, true) for number, true in enumerate(truth.maps, start=1)]
    assert sum(check_rounds(trader, number, true) for number, true in played) > 50
    assert sum(check_map(trader, number, true) for number, true in played) > 5
    for team in ("home", "away"):
        winner = trader.of(1, f"team={team}")
        assert winner.result is (Result.WON if truth.winner == team else Result.LOST)
        assert len(winner.rests_on) == len(truth.maps)


@pytest.fixture(scope="module")
def in_play() -> list[tuple[CurrentRound, list[Market]]]:
    """What is on offer after each second of the rounds of two maps."""
    return [
        (current, trader.active())
        for seed in (11, 12)
        for trader in trade(plan_between(5, 6, seed, brief=True, knife=False))
        if (current := trader.match.current) is not None and current.phase == "live"
    ]


def _lead(counts: tuple[int, int, int]) -> int:
    return counts[1] - counts[2]


def test_kills_move_the_price_of_their_round(in_play: list[tuple[CurrentRound, list[Market]]]) -> None:
    moves: list[bool] = []
    before: tuple[tuple[int, int, int], float] = ((0, 0, 0), 0.0)
    for current, active in in_play:
        key = 13, f"map=1|round={current.number}|team=home"
        market = next((one for one in active if one.key == key), None)
        if market is None:
            continue
        after = ((current.number, current.alive_home, current.alive_away), market.probability)
        if before[0][0] == after[0][0] and _lead(before[0]) != _lead(after[0]):
            moves.append(before[1] != after[1])
        before = after
    # Now and then a kill makes up for the seconds that a planted bomb has ticked.
    assert len(moves) > 40 and sum(moves) > 0.97 * len(moves)


def test_what_is_on_offer_in_play_can_move(in_play: list[tuple[CurrentRound, list[Market]]]) -> None:
    """A favourite at the lowest odds would hold its opponent's odds where they are."""
    offers = [active for _, active in in_play if active]
    assert len(offers) > 100
    assert all(float(market.odds) > MIN_ODDS for active in offers for market in active)
