"""Matches to write about."""

from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import Any

import pytest

from app.domain.market import Market, MarketStatus, Result
from app.domain.match import Match
from app.domain.settlement import LedgerEntry, LedgerStatus
from app.store.changes import ChangeDraft
from tests.support.story import Story

NewMatch = Callable[..., Awaitable[Match]]
NewMarket = Callable[..., Market]


@pytest.fixture
def new_match(story: Story) -> NewMatch:
    """Insert a match in play with these fields, the rest invented."""
    return story.match


@pytest.fixture
async def match(new_match: NewMatch) -> Match:
    return await new_match()


@pytest.fixture
def market() -> NewMarket:
    """A market that is on offer, unless the fields say otherwise."""

    def make(specifiers: str = "map=1|round=1", **fields: Any) -> Market:
        defaults: dict[str, Any] = {
            "type_id": 13,
            "status": MarketStatus.ACTIVE,
            "odds": Decimal("1.50"),
            "probability": 0.6,
        }
        return Market(specifiers=specifiers, **defaults | fields)

    return make


@pytest.fixture
def draft() -> Callable[..., ChangeDraft]:
    """A change of this message: "" for one that the feed does not publish."""

    def make(message: str = "odds_change", entity: str = "market", key: str = "k") -> ChangeDraft:
        return ChangeDraft(entity, key, "frame", message, b'{"a":1}')

    return make


@pytest.fixture
def settlement() -> ChangeDraft:
    entry = LedgerEntry(
        13, "map=1|round=1", LedgerStatus.PENDING, LedgerStatus.SETTLED, Result.WON, "round won", (7,)
    )
    return ChangeDraft("settlement", "13/map=1|round=1", "bet_settlement", entry.message, entry=entry)
