"""What every step of a claim writes."""

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from app.domain.claims import Claim, ClaimChange, ClaimState, ClaimStep, result_entry
from app.domain.ids import match_urn
from app.domain.match import Match
from app.domain.settlement import LedgerEntry
from app.domain.types_off import Intervals
from app.kit.clock import iso_seconds
from app.kit.errors import Conflict, NotFound
from app.kit.logging import get_logger
from app.store import alerts, audit, changes, claims, consent_requests, matches, settlements
from app.store.alerts import AlertKind, AlertSubject
from app.store.audit import AuditRecord
from app.store.changes import ChangeDraft
from app.store.consent_requests import ConsentState
from app.store.transaction import Tx

log = get_logger(__name__)
_encode = msgspec.json.Encoder().encode


async def record(
    tx: Tx, claim: Claim, step: ClaimStep, *, by: str, now: int, details: dict[str, Any] | None = None
) -> ChangeDraft:
    """Write the audit row of a step of `by` and begin or end the alerts of the claim, which the caller has
    stored as it is after it; returns the row for the change log, which `publish` appends."""
    about = {"match": match_urn(claim.number), "market": claim.market} | (details or {})
    await audit.add(tx, AuditRecord(now, by, f"claim.{step}", str(claim.id), claim.tenant_id, about))
    if claim.undecided:
        await alerts.begin(tx, alert_about(claim, AlertKind.CLAIM_OPEN), alert_detail(claim), now)
    else:
        for kind in (AlertKind.CLAIM_OPEN, AlertKind.CLAIM_LATE):
            await alerts.end(tx, alert_about(claim, kind), now)
    log.info("claim", step=step.value, claim=str(claim.id), match_id=str(claim.match_id), tenant=claim.tenant)
    key = changes.tenant_market_key(claim.tenant_id, str(claim.id))
    nobody = msgspec.structs.replace(claim, opened_by="", taken_by=None, answered_by=None)
    return ChangeDraft(changes.CLAIM, key, "", "", _encode(ClaimChange(step, nobody)))


async def publish(tx: Tx, match: Match, *drafts: ChangeDraft, now: int) -> None:
    """Append these rows to the change log: the transaction's last statement. The match must be locked."""
    await changes.append(tx, match, drafts, now)


def alert_about(claim: Claim, kind: AlertKind) -> AlertSubject:
    """What an alert of this kind about the claim is about."""
    return AlertSubject(kind, claim.match_id, claim.tenant, str(claim.id))


def alert_detail(claim: Claim) -> str:
    """The detail of both alerts."""
    what = f"{claim.market} should be {claim.expected.value}, not {claim.result.value}"
    waits = f"; upheld, command {claim.consent_id} needs consent" if claim.state is ClaimState.UPHELD else ""
    return f"{what}; due at {iso_seconds(claim.deadline_at)}{waits}"


async def locked(tx: Tx, claim_id: UUID) -> tuple[Match, Claim]:
    """The match and the claim, both locked. Raises `NotFound`."""
    found = await claims.get(tx, claim_id)
    if found is None:
        raise unknown(claim_id)
    match = await matches.lock(tx, found.match_id)
    claim = await claims.lock(tx, claim_id)
    if claim is None:
        raise unknown(claim_id)
    return match, claim


def unknown(claim_id: object) -> NotFound:
    """That there is no such claim."""
    return NotFound(f"There is no claim {claim_id}.", code="no_claim", claim=claim_id)


def require_undecided(claim: Claim) -> None:
    """Refuse what comes too late: nothing more happens to a claim that is decided."""
    if claim.undecided:
        return
    at = iso_seconds(claim.ended_at or 0)
    what = f"This claim is {claim.state} since {at}: it cannot be changed any more."
    raise Conflict(what, code="claim_decided", at=at)


async def require_no_consent(tx: Tx, claim: Claim, now: int) -> None:
    """Raise `Conflict` while a command that corrects the result waits for consent."""
    waiting = await consent_requests.get(tx, claim.consent_id) if claim.consent_id is not None else None
    if waiting is not None and waiting.state(now) is ConsentState.WAITING:
        what = f"The correction waits for consent: decide about command {waiting.id} first."
        raise Conflict(what, code="claim_waits", consent=waiting.id)


def require_holder(claim: Claim, by: str) -> None:
    """Refuse what only who has taken the claim may do."""
    if claim.taken_by in (None, by):
        return
    since = iso_seconds(claim.taken_at or 0)
    what = f"{claim.taken_by} has this claim since {since}: speak to them, or take it instead of them."
    raise Conflict(what, code="claim_taken", actor=claim.taken_by, since=since)


async def present_result(
    tx: Tx, match_id: UUID, type_id: int, specifiers: str, off: Intervals = ()
) -> LedgerEntry | None:
    """The entry that says the market's present result; None while it has none. With `off`, which market types
    are off, as the tenant sees it."""
    return result_entry(await settlements.of_market(tx, match_id, type_id, specifiers, off))


class ShownClaim(NamedTuple):
    """A claim, every entry of the ledger about its market in order, and whether the result that it contests
    was changed since."""

    claim: Claim
    ledger: Sequence[LedgerEntry]
    outdated: bool


async def show(tx: Tx, claim_id: UUID) -> ShownClaim:
    """A claim and the settlement beside it. Raises `NotFound`."""
    claim = await claims.get(tx, claim_id)
    if claim is None:
        raise unknown(claim_id)
    ledger = await settlements.of_market(tx, claim.match_id, *claim.key)
    present = result_entry(ledger)
    return ShownClaim(claim, ledger, present is None or present.id != claim.entry_id)
