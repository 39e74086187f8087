"""Compare two books: the open markets that a client has, and ours.

Books have tens of thousands of markets, so a market is a text and its quote a number: the garbage collector
does not track these.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

#: A market by its name within the match, ``13:map=1|round=3|team=home``, and its odds in thousandths:
#: above 0 while it is active, negative while it is suspended, 0 for one suspended without known odds.
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
    """The missing, extra and wrong quotes of a client for one match; one difference a market at most."""
    for market, theirs in yours.items():
        own = ours.get(market)
        if own is None:
            yield QuoteDifference(DifferenceKind.EXTRA, market, theirs, None)
        elif (theirs > 0) is not (own > 0):
            yield QuoteDifference(DifferenceKind.STALE, market, theirs, own)
        elif theirs != own and theirs > 0:
            yield QuoteDifference(DifferenceKind.WRONG_PRICE, market, theirs, own)
    for market in ours.keys() - yours.keys():
        yield QuoteDifference(DifferenceKind.MISSING, market, None, ours[market])
