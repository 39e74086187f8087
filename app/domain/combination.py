"""Combinations: legs that win together or not at all, as they were priced; and how the settlement ledger
settles them."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_DOWN, Decimal
from enum import StrEnum
from uuid import UUID

import msgspec

from app.domain.market import MarketKey, Result
from app.domain.settlement import LedgerEntry, LedgerStatus, standing_windows

MIN_LEGS, MAX_LEGS = 2, 10
STAKE_BACK = Decimal("1.000")  #: the odds of a combination without a leg that counts
_STEP = Decimal("0.001")


class CombinationStatus(StrEnum):
    """What the ledger says of a combination, and of each of its legs."""

    OPEN = "open"
    WON = "won"
    LOST = "lost"
    VOID = "void"


class CombinationLeg(msgspec.Struct, frozen=True):
    """A market of a match with its odds, and its probability without margin, when the combination was
    priced."""

    match_id: UUID
    type_id: int
    specifiers: str
    odds: Decimal
    probability: float

    @property
    def key(self) -> MarketKey:
        return self.type_id, self.specifiers


class CombinedMatch(msgspec.Struct, frozen=True):
    """The price of the legs of one match together, by the match's state after the change `seq`, which is
    stored as `state`. `priced_at` is when they were priced; `valid_until`, when the price may next change
    because time passes, None if not before something happens (Unix ms)."""

    match_id: UUID
    number: int
    seq: int
    priced_at: int
    valid_until: int | None
    state: str
    odds: Decimal
    probability: float


class Price(msgspec.Struct, frozen=True):
    """Odds, and the probability without margin."""

    odds: Decimal
    probability: float


class Combination(msgspec.Struct, frozen=True, kw_only=True):
    """A combination of a tenant as it was priced at `created_at` (Unix ms). `legs` are in the tenant's order,
    `matches` in that of their first leg. `request_id` is the tenant's own. `remade` are the prices that were
    made again from the legs that were left (`places_name`)."""

    id: UUID
    tenant_id: UUID
    created_at: int
    odds: Decimal
    probability: float
    legs: tuple[CombinationLeg, ...]
    matches: tuple[CombinedMatch, ...]
    request_id: str | None = None
    remade: Mapping[str, Price] = {}

    @property
    def price(self) -> Price:
        return Price(self.odds, self.probability)


def product(prices: Iterable[Price]) -> Price:
    """The price of independent combinations together: odds are rounded down."""
    odds, probability = Decimal(1), 1.0
    for price in prices:
        odds, probability = odds * price.odds, probability * price.probability
    return Price(odds.quantize(_STEP, ROUND_DOWN), probability)


def places_name(places: Iterable[int]) -> str:
    """The name of a set of legs, by their places: ``0,2``."""
    return ",".join(map(str, places))


class CombinationSettlement(msgspec.Struct, frozen=True):
    """How a combination stands. `legs` is the status of each leg, `counting` the places of those that are not
    void: from these the price is made that is paid."""

    status: CombinationStatus
    legs: tuple[CombinationStatus, ...]
    counting: tuple[int, ...]

    @property
    def reduced(self) -> bool:
        """Whether legs are void, and others are left."""
        return 0 < len(self.counting) < len(self.legs)


def settlement_of(
    combination: Combination, ledger: Mapping[tuple[UUID, MarketKey], Sequence[LedgerEntry]]
) -> CombinationSettlement:
    """How the combination stands by the entries of its legs' markets, each market's in the ledger's order.

    A leg is what the latest entry of its market says. It is void, too, if the bets of a window are void that
    contains `created_at`, until that is rolled back. A leg that is lost loses the combination at once, a void
    leg falls out, and a combination of void legs is void.
    """
    placed_at = combination.created_at
    legs = tuple(_leg_status(ledger.get((leg.match_id, leg.key), ()), placed_at) for leg in combination.legs)
    counting = tuple(place for place, status in enumerate(legs) if status is not CombinationStatus.VOID)
    return CombinationSettlement(_status(legs, counting), legs, counting)


def _leg_status(entries: Sequence[LedgerEntry], placed_at: int) -> CombinationStatus:
    windows = [entry.void_window for entry in standing_windows(entries)]
    if any(window and window.start_time <= placed_at <= window.end_time for window in windows):
        return CombinationStatus.VOID
    if not entries or entries[-1].new_status is LedgerStatus.PENDING:
        return CombinationStatus.OPEN
    result = entries[-1].result
    return CombinationStatus.VOID if result in (None, Result.VOID) else CombinationStatus(result)


def _status(legs: Sequence[CombinationStatus], counting: Sequence[int]) -> CombinationStatus:
    left = {legs[place] for place in counting}
    for status in (CombinationStatus.LOST, CombinationStatus.OPEN, CombinationStatus.WON):
        if status in left:
            return status
    return CombinationStatus.VOID
