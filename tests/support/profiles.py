"""Profiles in tests: content as operators send it, and open markets whose odds follow from a probability."""

from decimal import Decimal
from typing import Any

from app.domain.market import Market, MarketStatus
from app.domain.match import Match
from tests.support.story import Story

CONTENT: dict[str, Any] = {
    "margins": [{"margin": 0.05}, {"margin": 0.1, "family": "match_winner"}],
    "min_odds": 1.05,
    "max_odds": 20,
}


def pair(type_id: int, family: str, first: float, before: str = "") -> tuple[Market, Market]:
    """The two markets of a group without any margin."""
    made = [
        Market(
            type_id,
            f"{before}team={side}",
            MarketStatus.ACTIVE,
            Decimal(str(round(1 / chance, 3))),
            chance,
            f"{family}:{before}",
        )
        for side, chance in (("home", first), ("away", 1 - first))
    ]
    return made[0], made[1]


async def match_with_markets(story: Story) -> Match:
    """A match with four open markets: its winner, and that of a map, of which one result is all but sure."""
    return await story.match(*pair(1, "match_winner", 0.5), *pair(6, "map_winner", 0.96, "map=1|"))
