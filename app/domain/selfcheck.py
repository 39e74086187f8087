"""Two books held against each other: what a client believes is on offer, and what is; pure.

Books come with tens of thousands of markets, so a market is a text and its quote a number: plain values
that the collector of garbage need not follow.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

#: A market by its name within the match, ``13:map=1|round=3|team=home``, and its odds in thousandths:
#: above 0 while it is active, negative while it is suspended, 0 for one suspended at odds not told.
Quotes = dict[str, int]


class DifferenceKind(StrEnum):
    MISSING = "missing"  #: open, and the client does not know it
    EXTRA = "extra"  #: the client has it open, and it is settled, voided, withdrawn, or not the client's
    STALE = "stale"  #: open on both sides, suspended on one only
    WRONG_PRICE = "wrong_price"  #: active on both sides, at other odds


class QuoteDifference(NamedTuple):
    """`yours` and `ours` as in `Quotes`, None where the market is not open."""

    kind: DifferenceKind
    market: str
    yours: int | None
    ours: int | None


def differences(yours: Quotes, ours: Quotes) -> Iterator[QuoteDifference]:
    """What one match's quotes of a client lack, have too many or have wrong; one for a market at most."""
    for market, told in yours.items():
        held = ours.get(market)
        if held is None:
            yield QuoteDifference(DifferenceKind.EXTRA, market, told, None)
        elif (told > 0) is not (held > 0):
            yield QuoteDifference(DifferenceKind.STALE, market, told, held)
        elif told != held and told > 0:
            yield QuoteDifference(DifferenceKind.WRONG_PRICE, market, told, held)
    for market in ours.keys() - yours.keys():
        yield QuoteDifference(DifferenceKind.MISSING, market, None, ours[market])
