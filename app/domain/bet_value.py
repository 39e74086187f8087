"""What a single bet is worth."""

from decimal import Decimal

import msgspec

from app.domain.market import Result


class BetValue(msgspec.Struct, frozen=True):
    """A bet: its stake, the odds that it was taken at, and what it pays if it wins; the expectation of what
    it pays, and what to offer for it, both None while nobody can say. `result`: once it has one. Amounts are
    in the currency of the stake, with two decimals."""

    stake: Decimal
    odds: Decimal
    payout: Decimal
    fair_value: Decimal | None
    cash_out: Decimal | None
    result: Result | None = None
