"""How much a bookmaker should take on a market, and how long to wait before a bet is accepted.

An informed bettor bets where the true chance, as that bettor knows it, is above the odds' inverse. If ours
is off by a normal error of standard deviation `s`, a unit staked so wins on average

    odds * s * (density(d) - d * (1 - distribution(d))),    d = (1 / odds - probability) / s

the mean of what a normal error exceeds a threshold by. What the public stakes on a group of markets, its
*liquidity*, returns the margin; a market's part of it is taken to be its probability. The most to take from
one bettor is the stake at which the first does not exceed a share of the second, and with which no bet pays
back more than the liquidity. That a margin is what uninformed bettors pay for the losses to informed ones is
how prices of market makers are explained: L. R. Glosten and P. R. Milgrom, "Bid, ask and transaction prices
in a specialist market with heterogeneously informed traders", Journal of Financial Economics 14 (1985).

The error of a price has two parts that a bettor may know throughout: skill, which we know as a distribution
only, and reference prices, which may be old or differ from ours. The third is play that somebody has seen and
our log has not. Who sees it can wait for a moment that has value, so that the gain counts per unit staked. A
price is a martingale: until the round ends its variance is that of where it will stand then, and the part of
it that falls into some seconds is theirs of those that are left.
"""

import math
from typing import NamedTuple

import msgspec

from app.domain.market import Market
from app.domain.match import Match
from app.trading.coefficients import load
from app.trading.conditional_forecast import after_round, with_skill
from app.trading.divergence import blended_chance
from app.trading.forecast import Forecast
from app.trading.model import Skill, logit
from app.trading.registry import RULES
from app.trading.rules import Specifiers, parse_specifiers
from app.trading.skill import match_chance, match_format, skill_prior

#: Seconds by which somebody may see play before our log, as far as a delay can answer.
LEAD_SECONDS = 10
#: The part of the public's margin that one bettor may win: two kinds of them may be informed.
_BUDGET = 0.5
#: The part of the liquidity that a bet pays back at most where no reference price is followed.
UNREFERENCED = 0.5
#: Logits by which a fair chance may be wrong for other reasons (docs/pricing.md, calibration).
_MODEL_ERROR = 0.08
#: Logits that a market's price of a match moves by in an hour: assumed, no data has prices of several times.
_DRIFT = 0.1
_HOUR = 3_600_000
_BATCH_SECONDS = 1  #: that a line waits for its batch, and a price for its message
#: Seconds that are left of a round whose clock is not known.
_UNKNOWN_SECONDS = 60.0
_QUIET_SECONDS = 60.0  #: until play, where it is not about to begin
_CERTAIN = 1e-9  #: an error smaller than this is none
#: Standard deviations: from the first on an excess is near to its limit, from the second on there is none.
_FAR, _NEVER = 25.0, 1e6
_STEP = 0.1  #: logits of a round to either side, to see how the chance of the match follows
_FAVOURITE = 0.5  #: logits of a round: a favourite beyond this wins too surely for a logit of use


class StakeInputs(msgspec.Struct, frozen=True, kw_only=True):
    """What advice on a market rests on.

    `probability` is the model's now, without margin, `odds` those on offer. `margin`: what the public pays,
    as a fraction. Standard deviations of the probability: `skill_spread`, because skill is not known,
    `reference_spread`, because reference prices are old or differ from ours, and `round_spread`, of where the
    result of the current round will leave it. `round_seconds`: in which that is expected, from now on or from
    when play begins; `seconds_to_play`: until then, 0 while a round is played. `silent_seconds`: since the
    newest line of a round in progress. `reference_age_seconds`: of the oldest reference price that is
    followed, None without one. `liquidity`: what the public stakes on the market's group, in the units in
    which operators set it."""

    probability: float
    odds: float
    margin: float
    skill_spread: float
    reference_spread: float
    round_spread: float
    round_seconds: float
    seconds_to_play: float
    silent_seconds: float
    reference_age_seconds: float | None
    liquidity: float


class StakeAdvice(msgspec.Struct, frozen=True):
    """`max_stake`: the most that all stakes of one bettor on the market should come to, in units of
    liquidity; `bet_delay_seconds`: how long to wait before a bet is accepted, if its price then still
    stands."""

    max_stake: float
    bet_delay_seconds: int
    inputs: StakeInputs


#: Seconds for which advice holds, unless a message about the match comes: while a round is in progress, and
#: otherwise.
_VALID_IN_ROUND, _VALID_BETWEEN = 5, 60


class _Reference(NamedTuple):
    """By how many logits of winning the match the market may know better, and how old its price is."""

    error: float
    age_seconds: float | None


class StakeAdvisor:
    """Advice on the markets of one match at one moment. `liquidity`: what the public stakes on a group of its
    markets; `bet_delay_seconds`: the delay that prices in play assume. What all markets share is as in
    `StakeInputs`."""

    def __init__(self, forecast: Forecast, liquidity: float, bet_delay_seconds: int) -> None:
        self._forecast, self._liquidity, self._delay = forecast, liquidity, bet_delay_seconds
        self._by_skill = [(case.weight, with_skill(forecast, case.skill)) for case in forecast.cases]
        self._after_round = [after_round(forecast, home_wins) for home_wins in (True, False)]
        self._held = {one.group for one in forecast.match.controls.held}
        reference = _reference(forecast.match, forecast.now)
        self.reference_age_seconds = reference.age_seconds
        self._widening = _widening(forecast, reference.error)
        self.silent_seconds = _silent_seconds(forecast)
        self.seconds_to_play = _seconds_to_play(forecast)
        self.round_seconds = _round_seconds(forecast)

    def advise(self, market: Market) -> StakeAdvice:
        """Advice on a market on offer."""
        specifiers, odds = parse_specifiers(market.specifiers), float(market.odds)
        by_skill = [(weight, _price(known, market, specifiers)) for weight, known in self._by_skill]
        now = market.probability
        if market.group not in self._held:
            now = _price(self._forecast, market, specifiers)
        spread = _deviation(by_skill)
        inputs = StakeInputs(
            probability=now,
            odds=odds,
            margin=1 / (odds * market.probability) - 1,
            skill_spread=spread,
            reference_spread=spread * self._widening,
            round_spread=self._round_spread(market, specifiers, now),
            round_seconds=self.round_seconds,
            seconds_to_play=self.seconds_to_play,
            silent_seconds=self.silent_seconds,
            reference_age_seconds=self.reference_age_seconds,
            liquidity=self._liquidity,
        )
        return advise(inputs, self._delay)

    @property
    def valid_until(self) -> int:
        """When (Unix ms) advice should be made anew."""
        in_round = self._forecast.current_round is not None
        return self._forecast.now + 1000 * (_VALID_IN_ROUND if in_round else _VALID_BETWEEN)

    def _round_spread(self, market: Market, specifiers: Specifiers, now: float) -> float:
        current = self._forecast.current_round
        if current is None:
            return 0.0
        if (specifiers.map, specifiers.round) == (current.map, current.number):
            return math.sqrt(now * (1 - now))
        won, lost = (_price(ahead, market, specifiers) for ahead in self._after_round)
        chance = self._forecast.round_win(current.map, current.number)
        return math.sqrt(chance * (1 - chance)) * abs(won - lost)


def advise(inputs: StakeInputs, bet_delay_seconds: int) -> StakeAdvice:
    """The advice that follows from these inputs; `bet_delay_seconds` is the delay that prices in play
    assume, below which none is advised while a round is played."""
    covered = _covered_seconds(inputs, bet_delay_seconds)
    least = 1 if inputs.seconds_to_play else bet_delay_seconds
    delay = max(math.floor(covered - inputs.seconds_to_play + 0.5), least)
    return StakeAdvice(_max_stake(inputs, covered), delay, inputs)


def informed_gain(odds: float, probability: float, deviation: float) -> float:
    """What somebody wins on average per unit offered who knows the true chance, and stakes only where it is
    above the odds' inverse; ours differs from it by a normal error of this standard deviation."""
    if deviation < _CERTAIN:
        return max(odds * probability - 1, 0.0)
    return odds * deviation * _excess((1 / odds - probability) / deviation)


def awaited_gain(odds: float, probability: float, deviation: float) -> float:
    """The same of somebody who waits for the moment: per unit staked."""
    if deviation < _CERTAIN:
        return max(odds * probability - 1, 0.0)
    distance = (1 / odds - probability) / deviation
    if distance > _FAR:
        return odds * deviation * distance / (distance**2 + 2)
    return odds * deviation * _excess(distance) / _beyond(distance)


def _excess(distance: float) -> float:
    """By how much a standard normal variable exceeds this on average, where it does; else 0."""
    density = math.exp(-(distance**2) / 2) / math.sqrt(2 * math.pi) if abs(distance) < _NEVER else 0.0
    return max(density - distance * _beyond(distance), 0.0)


def _beyond(distance: float) -> float:
    """How likely a standard normal variable exceeds this."""
    return math.erfc(distance / math.sqrt(2)) / 2


def _covered_seconds(inputs: StakeInputs, bet_delay_seconds: int) -> float:
    """The delay of a round in play: what prices assume where play can tell somebody nothing of value, and as
    much longer as what it can tell is worth, up to the longest lead where that is the margin."""
    gain = informed_gain(inputs.odds, inputs.probability, _news_spread(inputs, LEAD_SECONDS))
    income = _income(inputs)
    worth = min(gain / income, 1.0) if income > 0 else 1.0
    return bet_delay_seconds + max(LEAD_SECONDS - bet_delay_seconds, 0) * worth


def _max_stake(inputs: StakeInputs, covered_seconds: float) -> float:
    of_public = 1 / (inputs.odds * (1 + inputs.margin))
    income = _BUDGET * _income(inputs) * of_public
    if income <= 0:
        return 0.0
    ahead = LEAD_SECONDS + inputs.silent_seconds + _BATCH_SECONDS
    unseen = _news_spread(inputs, ahead - max(covered_seconds, inputs.seconds_to_play))
    model = _MODEL_ERROR * inputs.probability * (1 - inputs.probability)
    known = math.hypot(inputs.skill_spread, inputs.reference_spread, model)
    offered = inputs.odds, inputs.probability
    gain = informed_gain(*offered, known) + awaited_gain(*offered, unseen)
    part = 1.0 if inputs.reference_age_seconds is not None else UNREFERENCED
    share = part / inputs.odds if not gain else min(part / inputs.odds, income / gain)
    return math.floor(inputs.liquidity * share * 100) / 100


def _income(inputs: StakeInputs) -> float:
    """What a unit of the public's stakes returns."""
    return inputs.margin / (1 + inputs.margin)


def _news_spread(inputs: StakeInputs, seconds: float) -> float:
    """The standard deviation of what the probability moves by in so many seconds of play."""
    part = min(max(seconds, 0.0) / max(inputs.round_seconds, 1.0), 1.0)
    return inputs.round_spread * math.sqrt(part)


def _price(forecast: Forecast, market: Market, specifiers: Specifiers) -> float:
    return RULES[market.type_id].price(forecast, specifiers)


def _deviation(weighted: list[tuple[float, float]]) -> float:
    mean = sum(weight * value for weight, value in weighted)
    return math.sqrt(sum(weight * (value - mean) ** 2 for weight, value in weighted))


def _reference(match: Match, now: int) -> _Reference:
    """The market knows better by what prices do not follow it, and by what it has moved since. Without
    reference prices that count, by how far our own are off."""
    anchor = match.anchor
    if anchor is None:
        return _Reference(math.sqrt(load().market.own_error), None)
    left = logit(anchor.home) - logit(blended_chance(match))
    age = max(min(now, match.started_at or now) - anchor.at, 0)
    return _Reference(math.hypot(left, _DRIFT * math.sqrt(age / _HOUR)), age / 1000)


def _widening(forecast: Forecast, error: float) -> float:
    """How large the spread of a probability by an error in what is known before play is beside that by skill.
    Rounds narrow both."""
    match, spread = forecast.match, forecast.skill.spread
    mean, before = skill_prior(match)
    mean = max(-_FAVOURITE, min(_FAVOURITE, mean))
    form = match_format(match)
    above, below = (logit(match_chance(form, Skill(mean + step, before))) for step in (_STEP, -_STEP))
    slope = (above - below) / (2 * _STEP)
    return error / slope * spread / before**2


def _silent_seconds(forecast: Forecast) -> float:
    if forecast.current_round is None:
        return 0.0
    return max(forecast.now - forecast.match.last_arrived_at, 0) / 1000


def _seconds_to_play(forecast: Forecast) -> float:
    """Until a round is played: none of a freeze time whose clock is not known."""
    current, match = forecast.current_round, forecast.match
    if current is None:
        return match.clock_rules.freeze_seconds if match.map is not None else _QUIET_SECONDS
    if current.phase != "freeze" or forecast.round_state is None:
        return 0.0
    return forecast.round_state.seconds_left or 0.0


def _round_seconds(forecast: Forecast) -> float:
    """Half of what is left of clock or fuse: when a round ends on average."""
    current, state = forecast.current_round, forecast.round_state
    if current is None or current.phase == "freeze":
        return forecast.match.clock_rules.round_seconds / 2
    left = state.seconds_left if state is not None else None
    return (_UNKNOWN_SECONDS if left is None else left) / 2
