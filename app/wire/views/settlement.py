"""Settlement entries as JSON."""

from typing import Literal
from uuid import UUID

import msgspec

from app.domain.settlement import LedgerEntry
from app.kit.clock import iso_millis
from app.wire.views.market import offer_id


class SettlementView(msgspec.Struct, frozen=True):
    """One transition of the ledger. `rests_on` names rounds and events of the match by `id`: the proof."""

    id: int
    market_offer_id: str
    match_id: UUID
    market_id: int
    specifiers: str
    previous_status: str
    new_status: str
    outcome: str | None
    settled_by: Literal["engine", "system", "admin"]
    reason: str
    is_resettlement: bool
    void_reason_id: int | None
    rests_on: list[int]
    created_at: str


def settlement_view(match_id: UUID, match_number: int, entry: LedgerEntry) -> SettlementView:
    return SettlementView(
        id=entry.id,
        market_offer_id=offer_id(match_number, entry.type_id, entry.specifiers),
        match_id=match_id,
        market_id=entry.type_id,
        specifiers=entry.specifiers,
        previous_status=str(entry.previous_status),
        new_status=str(entry.new_status),
        outcome=str(entry.outcome) if entry.outcome else None,
        settled_by=entry.settled_by,
        reason=entry.reason,
        is_resettlement=entry.is_resettlement,
        void_reason_id=entry.void_reason_id,
        rests_on=list(entry.rests_on),
        created_at=iso_millis(entry.at),
    )
