"""Advice on stakes and delays, as JSON."""

import msgspec
from msgspec import UNSET, UnsetType


class StakeInputsView(msgspec.Struct, frozen=True, kw_only=True):
    """What the advice rests on. `skill_spread` and `reference_spread`: standard deviations of the market's
    probability, because nobody knows exactly which team is better, and because reference prices are old,
    differ from ours or are absent. For tenants that receive probabilities also the `probability` itself, the
    `margin` on it, and `round_spread`: the standard deviation of where the result of the current round will
    leave it."""

    skill_spread: float
    reference_spread: float
    probability: float | UnsetType = UNSET
    margin: float | UnsetType = UNSET
    round_spread: float | UnsetType = UNSET


class StakeView(msgspec.Struct, frozen=True, kw_only=True):
    """Advice on one offer, for the price `odds`. `max_stake`: the most that all stakes of one bettor on it
    should come to, in units of `liquidity`. `bet_delay_seconds`: accept a bet so long after it was placed, if
    its price then still stands unchanged."""

    market_offer_id: str
    odds: float
    max_stake: float
    bet_delay_seconds: int
    inputs: StakeInputsView


class StakesView(msgspec.Struct, frozen=True, kw_only=True):
    """Advice on the markets of a match that are active. It holds until `valid_until` or the next message
    about the match; `seq` is the number of the latest one. `liquidity` is what the public is expected to
    stake on a group of markets of such a match, in the operator's unit. `silent_seconds`: since the newest
    line of a round in progress; `seconds_to_play`: until the next round is played, 0 while one is;
    `round_seconds`: in which its result is expected; `reference_age_seconds`: of the reference price that
    prices follow, null without one."""

    seq: int
    valid_until: str | None
    liquidity: float
    silent_seconds: float
    seconds_to_play: float
    round_seconds: float
    reference_age_seconds: float | None
    markets: tuple[StakeView, ...]
