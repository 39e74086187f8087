"""The audit of a match: every settlement recomputed from the stored facts."""

from collections.abc import Sequence

import msgspec

from app.domain.match import Match
from app.store import history
from app.store.transaction import Tx
from app.trading.settlement_check import SettlementDifference, check_settlements


class SettlementAudit(msgspec.Struct, frozen=True):
    """How many entries the match's ledger has, and what differs from the facts."""

    entries: int
    differences: Sequence[SettlementDifference]


async def audit_settlements(tx: Tx, match: Match) -> SettlementAudit:
    """Recompute every settlement of a match."""
    ledger = await history.ledger(tx, match.id)
    if not ledger:
        return SettlementAudit(0, ())
    facts = await history.rounds(tx, match.id), await history.timeline(tx, match.id)
    return SettlementAudit(len(ledger), check_settlements(match, *facts, ledger))
