"""Advice on stakes and delays: what may never raise a stake, and what a match makes of it."""

import math
from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from app.domain.entrants import MAX_STRENGTH
from app.domain.market import ACTIVE, Market
from app.domain.match import Match
from app.domain.references import MarketAnchor
from app.domain.trading_controls import HeldProbability, TradingControls
from app.trading.conditional_forecast import after_round, with_skill
from app.trading.forecast import Forecast
from app.trading.match_facts import collect_facts
from app.trading.pricing import PricingConfig
from app.trading.registry import RULES
from app.trading.rules import parse_specifiers
from app.trading.stake_advice import (
    LEAD_SECONDS,
    UNREFERENCED,
    StakeAdvice,
    StakeAdvisor,
    StakeInputs,
    advise,
    awaited_gain,
    informed_gain,
)
from tests.unit.domain.play import Server, new_match
from tests.unit.trading.trader import Trader

DELAY = PricingConfig().bet_delay_seconds
LIQUIDITY = 1000.0
HOUR = 3_600_000
CENT = 0.011  #: stakes are rounded down to a hundredth

amounts = st.floats(0, 0.4)
inputs = st.builds(
    lambda probability, margin, **others: StakeInputs(
        probability=probability, odds=1 / (probability * (1 + margin)), margin=margin, **others
    ),
    probability=st.floats(0.03, 0.9),
    margin=st.floats(0.0, 0.1),
    skill_spread=amounts,
    reference_spread=amounts,
    round_spread=amounts,
    round_seconds=st.floats(0, 120),
    seconds_to_play=st.one_of(st.just(0.0), st.floats(0, 60)),
    silent_seconds=st.floats(0, 30),
    reference_age_seconds=st.one_of(st.none(), st.floats(0, 21_600)),
    liquidity=st.floats(0, 1e6),
)


def stake(of: StakeInputs) -> float:
    return advise(of, DELAY).max_stake


@given(inputs)
def test_a_stake_is_finite_and_pays_back_no_more_than_the_liquidity(of: StakeInputs) -> None:
    found = advise(of, DELAY)
    assert math.isfinite(found.max_stake) and 0 <= found.max_stake * of.odds <= of.liquidity + 1e-6
    if of.reference_age_seconds is None:
        assert found.max_stake * of.odds <= UNREFERENCED * of.liquidity + 1e-6


@given(inputs, st.integers(0, 60))
def test_a_delay_lies_between_what_prices_assume_and_the_longest_lead(of: StakeInputs, assumed: int) -> None:
    found = advise(of, assumed).bet_delay_seconds
    assert found <= max(LEAD_SECONDS, assumed, 1)
    assert found >= (assumed if of.seconds_to_play == 0 else 1)


@given(inputs, st.sampled_from(("skill_spread", "reference_spread")), amounts)
def test_who_is_less_sure_takes_less(of: StakeInputs, which: str, more: float) -> None:
    assert stake(replace(of, **{which: getattr(of, which) + more})) <= stake(of) + CENT


@given(inputs, st.floats(0, 60))
def test_a_longer_silence_never_raises_a_stake(of: StakeInputs, more: float) -> None:
    assert stake(replace(of, silent_seconds=of.silent_seconds + more)) <= stake(of) + CENT


@given(inputs, st.floats(0.03, 0.9))
def test_longer_odds_never_raise_a_stake(of: StakeInputs, other: float) -> None:
    """Of the same margin, where the price is as unsure and play reveals nothing."""
    assume(other <= of.probability)
    short = replace(of, round_spread=0.0)
    longer = replace(short, probability=other, odds=1 / (other * (1 + of.margin)))
    assert stake(longer) <= stake(short) + CENT


@given(inputs, st.floats(0, 60))
def test_a_round_that_is_nearer_never_raises_a_stake(of: StakeInputs, nearer: float) -> None:
    later = replace(of, seconds_to_play=max(of.seconds_to_play - nearer, 0.0))
    assert stake(later) <= stake(of) + CENT
    assert advise(later, DELAY).bet_delay_seconds >= advise(of, DELAY).bet_delay_seconds


@given(inputs)
def test_a_reference_never_lowers_what_is_taken_without_one(of: StakeInputs) -> None:
    assert stake(replace(of, reference_age_seconds=None)) <= stake(replace(of, reference_age_seconds=60.0))


def test_without_a_margin_nothing_pays_for_informed_bets() -> None:
    of = StakeInputs(
        probability=0.5,
        odds=2.0,
        margin=0.0,
        skill_spread=0.1,
        reference_spread=0.0,
        round_spread=0.0,
        round_seconds=57.5,
        seconds_to_play=60.0,
        silent_seconds=0.0,
        reference_age_seconds=60.0,
        liquidity=LIQUIDITY,
    )
    assert stake(of) == 0
    assert stake(replace(of, odds=1.9, margin=1 / 0.95 - 1)) > 0
    assert stake(replace(of, odds=1.9, margin=1 / 0.95 - 1, liquidity=0.0)) == 0


@given(st.floats(1.02, 50), st.floats(0.001, 0.97), st.floats(0, 0.5), st.floats(0, 0.2))
def test_what_is_known_better_is_worth_no_less(
    odds: float, probability: float, deviation: float, more: float
) -> None:
    for gain in (informed_gain, awaited_gain):
        least = gain(odds, probability, deviation)
        assert least >= max(odds * probability - 1, 0) - 1e-9
        assert gain(odds, probability, deviation + more) >= least - 1e-6
    assert awaited_gain(odds, probability, deviation) >= informed_gain(odds, probability, deviation) - 1e-9


def test_the_gain_is_the_mean_of_what_exceeds_the_odds() -> None:
    """By summing over the errors, one by one."""
    odds, probability, deviation = 1.9, 0.5, 0.1
    errors = [(each + 0.5) / 1000 for each in range(-5000, 5000)]
    weights = [math.exp(-(error**2) / 2) for error in errors]
    values = [max(odds * (probability + deviation * error) - 1, 0) for error in errors]
    mean = sum(value * each for value, each in zip(values, weights, strict=True)) / sum(weights)
    assert informed_gain(odds, probability, deviation) == pytest.approx(mean, abs=1e-6)
    staked = sum(each for value, each in zip(values, weights, strict=True) if value > 0) / sum(weights)
    assert awaited_gain(odds, probability, deviation) == pytest.approx(mean / staked, abs=1e-3)


def advisor(match: Match, now: int) -> StakeAdvisor:
    return StakeAdvisor(Forecast(collect_facts(match, ()), now), LIQUIDITY, DELAY)


def market(type_id: int, specifiers: str, trader: Trader) -> Market:
    found = trader.of(type_id, specifiers)
    assert found.status is ACTIVE
    return found


def anchored(age_hours: float, home: float = 0.5) -> Match:
    return replace(new_match(3), anchor=MarketAnchor(home, 0.9, 1, 10 * HOUR - int(age_hours * HOUR)))


def winner_advice(match: Match) -> StakeAdvice:
    trader = Trader.opened(match)
    return advisor(match, 10 * HOUR).advise(market(1, "team=home", trader))


def test_before_play_references_decide_how_much() -> None:
    agreeing, old, differing, none = (
        winner_advice(match) for match in (anchored(0), anchored(4), anchored(0, 0.8), new_match(3))
    )
    assert agreeing.max_stake > old.max_stake > none.max_stake > 0
    assert agreeing.inputs.reference_spread < differing.inputs.reference_spread
    assert agreeing.inputs.reference_age_seconds == 0 and old.inputs.reference_age_seconds == 4 * 3600
    assert none.inputs.reference_age_seconds is None
    assert agreeing.inputs.reference_spread < old.inputs.reference_spread < none.inputs.reference_spread
    assert agreeing.bet_delay_seconds == 1


@pytest.mark.parametrize("best_of", [1, 5])
@pytest.mark.parametrize("strengths", [(0.0, MAX_STRENGTH), (MAX_STRENGTH, 0.0), (4000.0, 1.0)])
def test_the_strongest_favourite_leaves_advice_on_what_is_still_open(
    strengths: tuple[float, float], best_of: int
) -> None:
    home, away = strengths
    match = replace(new_match(best_of), home_strength=home, away_strength=away)
    trader, advice = Trader.opened(match, checking=False), advisor(match, 0)
    for each in trader.active():
        assert advice.advise(each).max_stake >= 0


class Play:
    """A match in its second round."""

    def __init__(self) -> None:
        self.server = Server.started()
        self.server.rounds("home")
        self.trader = Trader.opened(self.server.match, checking=False)

    def advice(self, type_id: int, specifiers: str, later_seconds: int = 0) -> StakeAdvice:
        found = market(type_id, specifiers, self.trader)
        return advisor(self.server.match, self.server.now + later_seconds * 1000).advise(found)


ROUND = 13, "map=1|round=2|team=home"
MATCH, MAP = (1, "team=home"), (6, "map=1|team=home")


def test_a_round_in_play_takes_less_after_a_longer_delay() -> None:
    play = Play()
    waiting = play.advice(*ROUND)
    play.server.go_live()
    play.trader = Trader.opened(play.server.match, checking=False)
    live, of_match = play.advice(*ROUND), play.advice(*MATCH)
    assert live.inputs.round_spread == pytest.approx(
        math.sqrt(live.inputs.probability * (1 - live.inputs.probability))
    )
    assert live.bet_delay_seconds == LEAD_SECONDS > of_match.bet_delay_seconds >= DELAY
    assert waiting.bet_delay_seconds <= live.bet_delay_seconds
    silent = play.advice(*ROUND, later_seconds=7)
    assert silent.inputs.silent_seconds == 7 + live.inputs.silent_seconds
    assert silent.max_stake < live.max_stake
    now = play.server.now
    assert advisor(play.server.match, now).valid_until == now + 5000
    assert advisor(new_match(), now).valid_until == now + 60_000


def test_a_price_is_the_mean_over_the_skills_that_home_may_have() -> None:
    """So that their spread is that of the price."""
    play = Play()
    play.server.go_live()
    forecast = Forecast(collect_facts(play.server.match, ()), play.server.now)
    for type_id, text in (MATCH, MAP, ROUND, (8, "map=1|threshold=20.5")):
        rule, specifiers = RULES[type_id], parse_specifiers(text)
        by_skill = [
            case.weight * rule.price(with_skill(forecast, case.skill), specifiers) for case in forecast.cases
        ]
        assert sum(by_skill) == pytest.approx(rule.price(forecast, specifiers), abs=2e-3)
        assert rule.price(after_round(forecast, True), specifiers) != pytest.approx(
            rule.price(after_round(forecast, False), specifiers), abs=1e-3
        )


def test_the_result_of_a_round_moves_the_map_by_more_near_its_end() -> None:
    play = Play()
    early = play.advice(*MAP)
    play.server.rounds(*(("away", "home") * 5))
    play.server.round("away")
    play.server.change_sides()
    play.server.rounds(*(("away", "home") * 5))
    play.trader = Trader.opened(play.server.match, checking=False)
    late = play.advice(*MAP)
    assert late.inputs.round_spread > 2 * early.inputs.round_spread
    assert late.bet_delay_seconds >= early.bet_delay_seconds


def test_a_probability_that_a_trader_holds_counts_as_ours() -> None:
    play = Play()
    found = market(*ROUND, play.trader)
    held = HeldProbability(
        type_id=found.type_id, specifiers=found.specifiers, probability=0.3, group=found.group
    )
    shown = replace(found, probability=0.3, odds=Decimal("3.145"))
    match = replace(play.server.match, controls=TradingControls(held=(held,)))
    advice = advisor(match, play.server.now).advise(shown)
    assert advice.inputs.probability == 0.3 and advice.max_stake > 0
    assert advisor(play.server.match, play.server.now).advise(shown).max_stake < advice.max_stake
