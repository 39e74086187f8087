"""Computes odds from probabilities, and has the settings for that.

A group's inverse odds sum to 1 + margin. Odds stay within 1.01 and 50: where the cap applies, the
other members of the group take the difference, so that the sum still holds. No price is better than fair:
with a small margin and many long shots at the cap one would be, and the group has no prices then.
"""

from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache

import msgspec


class PricingConfig(msgspec.Struct, frozen=True, kw_only=True):
    """`margin` is that of every book, a fraction.

    `bet_delay_seconds`: bookmakers accept a bet only if its price is unchanged so long after it was placed; a
    market whose result would be all but certain within that time is closed before. `price_step`: during a
    round prices are published when the odds of one are too long by this fraction or more, or too short by
    `offers.FALLS` times as much, or when a market opens or closes.

    `references_followed`: whether a match follows reference prices unless an operator says otherwise; those
    set more than `reference_stale_seconds` ago do not count. Where ours and theirs differ by
    `reference_alert_logits` or more an alert opens, and by `reference_suspend_logits` the match is suspended.
    """

    margin: float = 0.06
    bet_delay_seconds: int = 5
    price_step: float = 0.055
    references_followed: bool = True
    reference_stale_seconds: int = 21_600
    reference_alert_logits: float = 1.2
    reference_suspend_logits: float = 2.0


MIN_ODDS, MAX_ODDS = 1.01, 50.0
#: Inverse odds at the caps. Where one of a group is at the highest, the others share a fixed rest, whatever
#: the probabilities are.
MIN_SHARE, MAX_SHARE = 1 / MAX_ODDS, 1 / MIN_ODDS
#: From this inverse on odds, which have three decimals, are the lowest.
LOWEST_ODDS_SHARE = 1 / (MIN_ODDS + 0.0005)


def shares(probabilities: Sequence[float], margin: float, long_shots: float = 0.0) -> tuple[float, ...]:
    """Inverse odds of a complete group, within the caps, summing to 1 + margin; none where the caps would
    make a price better than fair. `probabilities` must sum to about 1.

    They are proportional to `probabilities` but for the part `long_shots` of the margin, from 0 to 1, which
    all bear equally.
    """
    total = 1 + margin
    equal = margin * long_shots / len(probabilities) if long_shots else 0.0
    scale = (total - equal * len(probabilities)) / sum(probabilities)
    plain = tuple([probability * scale + equal for probability in probabilities])
    if min(plain) >= MIN_SHARE and max(plain) <= MAX_SHARE:
        return plain
    capped = _within_caps(plain, total)
    return () if is_above_fair(probabilities, capped) else capped


def is_above_fair(probabilities: Sequence[float], shares: Sequence[float]) -> bool:
    """Whether one of these inverse odds pays more than its result is worth."""
    return any(share < probability - 1e-9 for probability, share in zip(probabilities, shares, strict=True))


def _capped(share: float) -> float:
    return min(max(share, MIN_SHARE), MAX_SHARE)


def _within_caps(plain: tuple[float, ...], total: float) -> tuple[float, ...]:
    """Cap each, and distribute what is then missing or too much over those that are not at the cap."""
    shares = [_capped(share) for share in plain]
    for _ in shares:
        missing = total - sum(shares)
        bound = MAX_SHARE if missing > 0 else MIN_SHARE
        free = sum(share for share in shares if share != bound)
        if abs(missing) < 1e-12 or not free:
            break
        shares = [share if share == bound else _capped(share * (1 + missing / free)) for share in shares]
    return tuple(shares)


def odds(share: float) -> Decimal:
    """Decimal odds, three decimals, within the caps."""
    return _decimal(round(1 / share, 3))


@lru_cache(maxsize=50_000)
def _decimal(rounded: float) -> Decimal:
    """Exactly those odds, within the caps."""
    return Decimal(f"{min(max(rounded, MIN_ODDS), MAX_ODDS):.3f}")
