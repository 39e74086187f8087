"""Claims as JSON: how they are made and shown."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from app.domain.claims import MAX_EVIDENCE, MAX_REASON, Claim, ClaimState
from app.domain.ids import match_urn
from app.domain.market import NAME_PATTERN, Result
from app.kit.clock import iso_millis

_UUID = "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"


class NewClaim(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The result of the market `market_offer_id` (as lists of settlements have it) of a `match` (its UUID or
    `od:match:<n>`) should be `expected`. `reason` says why, `evidence` what shows it: times of a recording,
    addresses, a score. `request_id` is your own: a repeated request with it gets the claim of the first."""

    match: Annotated[str, Meta(pattern=f"^(od:match:[1-9][0-9]{{0,17}}|{_UUID})$")]
    market_offer_id: Annotated[str, Meta(max_length=200, pattern=NAME_PATTERN)]
    expected: Result
    reason: Annotated[str, Meta(min_length=1, max_length=MAX_REASON)]
    evidence: Annotated[str, Meta(max_length=MAX_EVIDENCE)] = ""
    request_id: Annotated[str, Meta(pattern=r"^[A-Za-z0-9._:/+=-]{1,64}$")] | UnsetType = UNSET


class ClaimView(msgspec.Struct, frozen=True, kw_only=True):
    """A claim as it stands. `settlement_id` is the entry of the settlement ledger that it contests, which
    says `result`. By `deadline_at` it should be answered or corrected. `taken_at`: an operator works on it
    since then; `answer` is what we say, since `answered_at`; `correction_id` the entry with the
    corrected result. What has not happened is absent."""

    id: str
    state: ClaimState
    match_id: str
    match_urn: str
    market_offer_id: str
    market_id: int
    specifiers: str
    settlement_id: int
    result: Result
    expected: Result
    reason: str
    evidence: str
    request_id: str | UnsetType = UNSET
    opened_at: str
    deadline_at: str
    taken_at: str | UnsetType = UNSET
    answered_at: str | UnsetType = UNSET
    answer: str | UnsetType = UNSET
    correction_id: int | UnsetType = UNSET
    ended_at: str | UnsetType = UNSET


def claim_view(claim: Claim) -> ClaimView:
    return ClaimView(
        id=str(claim.id),
        state=claim.state,
        match_id=str(claim.match_id),
        match_urn=match_urn(claim.number),
        market_offer_id=claim.market,
        market_id=claim.type_id,
        specifiers=claim.specifiers,
        settlement_id=claim.entry_id,
        result=claim.result,
        expected=claim.expected,
        reason=claim.reason,
        evidence=claim.evidence,
        request_id=UNSET if claim.request_id is None else claim.request_id,
        opened_at=iso_millis(claim.opened_at),
        deadline_at=iso_millis(claim.deadline_at),
        taken_at=_time(claim.taken_at),
        answered_at=_time(claim.answered_at),
        answer=claim.answer or UNSET,
        correction_id=UNSET if claim.correction_id is None else claim.correction_id,
        ended_at=_time(claim.ended_at),
    )


def _time(at: int | None) -> str | UnsetType:
    return UNSET if at is None else iso_millis(at)
