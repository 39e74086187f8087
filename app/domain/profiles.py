"""A profile: how a tenant's own prices follow from the model's probabilities.

    inverse odds = probability * (1 + margin * (1 - long_shots)) + margin * long_shots / markets of the group

The margin is the profile's for the market's family and the phase in which the price was made, times the
factor by which a trader has changed it on the match. Odds that a profile makes depend on nothing but the
market's own row: live messages, recoveries, lists and past changes all have the same.

A profile is immutable: another version of it has another number. Without one, a tenant has the standard odds.
"""

import math
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Literal, TypeVar

import msgspec
from propcache.api import cached_property

from app.domain.market import ACTIVE, SUSPENDED, Market, PricePhase
from app.domain.trading_controls import MarginControl

REASON = "its odds would be below the lowest of the profile"
LOWEST_ODDS, HIGHEST_ODDS = 1.01, 50.0  #: that any profile may have
MOST_MARGIN = 0.5
LEAST_MOVE, MOST_MOVE = 0.001, 0.25  #: of a `min_move` that is not 0: odds have three decimals
MOST_STAKE_FACTOR, MOST_DELAY_SECONDS = 10.0, 60
_TINY = 1e-6  #: so that a quotient that is a whole number but for rounding counts as one


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


class _Margins(dict[tuple[str, str], tuple[float, float]]):
    """Margin and long-shot part by family and phase, each looked for once."""

    def __init__(self, rules: Sequence[MarginControl]) -> None:
        self._rules = rules

    def __missing__(self, key: tuple[str, str]) -> tuple[float, float]:
        rule = _rule_of(self._rules, *key) or MarginControl(0.0)
        found = self[key] = rule.margin, rule.long_shots
        return found


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

    def stake_rule(self, market: Market) -> StakeRule:
        """What changes for the advice on a market."""
        return _rule_of(self.stakes, market.family, market.phase) or StakeRule()

    @cached_property
    def _margins(self) -> _Margins:
        return _Margins(self.margins)

    @cached_property
    def _lowest(self) -> int:
        """The lowest odds that are not below `min_odds`, in thousandths."""
        return math.ceil(self.min_odds * 1000 - _TINY)

    @cached_property
    def _ladder(self) -> float:
        """The logarithm of a step of the ladder; 0 without one."""
        return math.log1p(self.min_move) if self.min_move >= LEAST_MOVE else 0.0

    def priced(self, market: Market) -> Market:
        """The market with this profile's odds."""
        if not market.probability:
            return market
        odds = self.odds(market)
        if odds is not None:
            return market if odds == market.odds else msgspec.structs.replace(market, odds=odds)
        lowest = _decimal(self._lowest)
        if market.status is not ACTIVE:
            return msgspec.structs.replace(market, odds=lowest)
        return msgspec.structs.replace(market, odds=lowest, status=SUSPENDED, reason=REASON)

    def odds(self, market: Market) -> Decimal | None:
        """Odds with three decimals, rounded down: never better than the margin says. None where they would be
        below the lowest."""
        margin, long_shots = self._margins[market.group.partition(":")[0], market.phase]
        margin *= market.margin_factor
        equal = margin * long_shots
        found = 1 / (market.probability * (1 + margin - equal) + equal / market.group_size)
        if found > self.max_odds:
            found = self.max_odds
        if step := self._ladder:
            lowest = self._lowest / 1000
            found = lowest * math.exp(step * math.floor(math.log(found / lowest) / step + _TINY))
        thousandths = int(found * 1000 + _TINY)
        return _decimal(thousandths) if thousandths >= self._lowest else None


def _rule_of(rules: Sequence[R], family: str, phase: str) -> R | None:
    """The rule that counts for a family in a phase: the most specific one, by family before phase."""
    wanted = ((family, phase), (family, ""), ("", phase), ("", ""))
    known = {rule.key: rule for rule in rules}
    return next((known[key] for key in wanted if key in known), None)


@lru_cache(maxsize=50_000)
def _decimal(thousandths: int) -> Decimal:
    """Odds with three decimals."""
    return Decimal(f"{thousandths / 1000:.3f}")


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
