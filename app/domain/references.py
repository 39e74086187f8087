"""The market's reference prices of a match, as far as they are part of its state.

Reference prices are what bookmakers and exchanges offer; operators import them. Before play the sources' fair
probability that home wins the match moves the skill that all prices rest on (`trading.market_anchor`).
"""

from typing import Literal

import msgspec

#: none: no source has a usable price; stale: those that there are became too old; disagreeing: the sources
#: differ too far from each other; switched_off: an operator does not want them followed; followed: they
#: count.
ReferenceState = Literal["none", "stale", "disagreeing", "switched_off", "followed"]


class MarketAnchor(msgspec.Struct, frozen=True):
    """`home` is the sources' fair probability that home wins the match, `weight` (0 to 1) how much it counts
    beside our own, by how many `sources` stand behind it and how old it was; `at`: when its oldest price was
    set (Unix ms)."""

    home: float
    weight: float
    sources: int
    at: int
