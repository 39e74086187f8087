"""The market's reference prices of a match, as far as they are part of its state.

Reference prices are what bookmakers and exchanges offer; operators import them. Before play the sources' fair
probability that home wins the match moves the skill that all prices rest on (`trading.market_anchor`). In
play that stays as it was when play began.
"""

from typing import Literal

import msgspec
from msgspec.structs import replace

#: none: no source has a usable price; stale: those that there are became too old; disagreeing: the sources
#: differ too far from each other; switched_off: an operator does not want them followed; followed: they
#: count; diverged: they count, and are further from ours than a setting.
ReferenceState = Literal["none", "stale", "disagreeing", "switched_off", "followed", "diverged"]


class MarketAnchor(msgspec.Struct, frozen=True):
    """`home` is the sources' fair probability that home wins the match, `weight` (0 to 1) how much it counts
    beside our own, by how many `sources` stand behind it and how old it was; `at`: when its oldest price was
    set (Unix ms)."""

    home: float
    weight: float
    sources: int
    at: int


class ReferenceStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """What reference prices said when they were last looked at.

    `home`: the sources' fair probability that home wins, None where none counts, with how many `sources` and
    since when (`at`, Unix ms) as in `MarketAnchor`. `refused`: why sources do not count, by source.
    `divergence`: their logit minus ours; `far`: it was past the setting that suspends the match. `since`:
    prices that were received before (Unix ms) are those of other teams."""

    state: ReferenceState = "none"
    home: float | None = None
    sources: int = 0
    at: int = 0
    refused: tuple[str, ...] = ()
    divergence: float = 0.0
    far: bool = False
    since: int = 0


NO_REFERENCES = ReferenceStatus()


def of_other_teams(now: int) -> ReferenceStatus:
    """The status of a match whose teams are others from `now` (Unix ms) on."""
    return replace(NO_REFERENCES, since=now)
