"""A profile: how a tenant's own prices follow from the model's probabilities.

    inverse odds = probability * (1 + margin * (1 - long_shots)) + margin * long_shots / markets of the group

The margin is the profile's for the market's family and the phase in which the price was made, times the
factor by which a trader has changed it on the match. Odds that a profile makes depend on nothing but the
market's own row: live messages, recoveries, lists and past changes all have the same.

A profile is immutable: another version of it has another number. Without one, a tenant has the standard odds.
"""

import math
from collections.abc import Mapping, Sequence
from decimal import ROUND_FLOOR, Decimal
from typing import Literal, TypeVar

import msgspec
from propcache.api import cached_property

from app.domain.market import ACTIVE, SUSPENDED, Market, PricePhase
from app.domain.trading_controls import MarginControl

REASON = "its odds would be below the lowest of the profile"
LOWEST_ODDS, HIGHEST_ODDS = 1.01, 50.0  #: that any profile may have
MOST_MARGIN = 0.5
MOST_MOVE = 0.25
MOST_STAKE_FACTOR, MOST_DELAY_SECONDS = 10.0, 60
_THOUSANDTH = Decimal("0.001")
_TINY = 1e-9  #: so that a quotient that is a whole number but for rounding counts as one


class StakeRule(msgspec.Struct, frozen=True, omit_defaults=True):
    """For the markets of one `family` ("": all) in one `phase` ("": all): what advised maximum stakes are
    multiplied by, and the seconds that are added to advised bet delays."""

    family: str = ""
    phase: PricePhase | Literal[""] = ""
    factor: float = 1.0
    delay_seconds: int = 0

    @property
    def key(self) -> tuple[str, str]:
        return self.family, self.phase


R = TypeVar("R", MarginControl, StakeRule)
Place = tuple[str, str]  #: the family and the phase of a rule, "" for all


class Profile(msgspec.Struct, frozen=True, omit_defaults=True, dict=True):
    """One version of a profile.

    `margins`: the one for a market's family and phase counts before that for its family, that before the one
    for its phase, and that before the one for all, which every profile has. Odds above `max_odds` are
    lowered to it; a market with odds below `min_odds` is suspended. With a `min_move`, a fraction, odds are
    rounded down to a ladder whose steps are so far apart: a smaller move changes them rarely.
    """

    name: str
    version: int
    margins: tuple[MarginControl, ...]
    min_odds: float = LOWEST_ODDS
    max_odds: float = HIGHEST_ODDS
    min_move: float = 0.0
    stakes: tuple[StakeRule, ...] = ()

    @property
    def key(self) -> tuple[str, int]:
        """The profile and its version: tenants with the same one share what is rendered."""
        return self.name, self.version

    def margin(self, market: Market) -> MarginControl:
        """The margin of a market, without what a trader has changed on its match."""
        return _rule_of(self._margins, market) or MarginControl(0.0)

    def stake_rule(self, market: Market) -> StakeRule:
        """What changes for the advice on a market."""
        return _rule_of(self._stakes, market) or StakeRule()

    def priced(self, market: Market) -> Market:
        """The market with this profile's odds."""
        if not market.probability:
            return market
        odds = self.odds(market)
        if odds is not None:
            return market if odds == market.odds else msgspec.structs.replace(market, odds=odds)
        lowest = _decimal(self.min_odds)
        if market.status is not ACTIVE:
            return msgspec.structs.replace(market, odds=lowest)
        return msgspec.structs.replace(market, odds=lowest, status=SUSPENDED, reason=REASON)

    def odds(self, market: Market) -> Decimal | None:
        """Odds with three decimals; None where they would be below the lowest."""
        rule = self.margin(market)
        margin = rule.margin * market.margin_factor
        equal = margin * rule.long_shots
        share = market.probability * (1 + margin - equal) + equal / market.group_size
        found = 1 / share
        if found < self.min_odds - _TINY:
            return None
        return _decimal(self._on_ladder(min(found, self.max_odds)))

    @cached_property
    def _margins(self) -> Mapping[Place, MarginControl]:
        return {rule.key: rule for rule in self.margins}

    @cached_property
    def _stakes(self) -> Mapping[Place, StakeRule]:
        return {rule.key: rule for rule in self.stakes}

    def _on_ladder(self, odds: float) -> float:
        if not self.min_move:
            return odds
        step = math.log1p(self.min_move)
        steps = math.floor(math.log(odds / self.min_odds) / step + _TINY)
        return self.min_odds * math.exp(step * steps)


def _rule_of(known: Mapping[Place, R], market: Market) -> R | None:
    """The rule that counts for a market: the most specific one, by family before phase."""
    family, phase = market.family, market.phase
    return (
        known.get((family, phase)) or known.get((family, "")) or known.get(("", phase)) or known.get(("", ""))
    )


def _decimal(odds: float) -> Decimal:
    """Three decimals, rounded down: never better than the margin says."""
    return Decimal(repr(round(odds, 9))).quantize(_THOUSANDTH, ROUND_FLOOR)


class ProfileChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """From the change `seq` of the log on, at `at` (Unix ms), a tenant has this profile; None: standard
    odds."""

    seq: int
    at: int
    profile: Profile | None = None


ProfileChanges = Sequence[ProfileChange]  #: of one tenant, in order


def profile_at(changes: ProfileChanges, seq: int) -> Profile | None:
    """The profile that a tenant had at the change `seq`."""
    return next((one.profile for one in reversed(changes) if one.seq < seq), None)
