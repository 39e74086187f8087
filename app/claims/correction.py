"""Claims that are upheld: what the command that corrects the result requires of the claim, and what it does
to it. The command is planned, waits for consent and is executed as every other one (`commands.execution`);
these functions run in its transactions, which have locked the match.
"""

from uuid import UUID

import msgspec
from msgspec.structs import replace

from app.claims import steps
from app.domain.claims import Claim, ClaimState, ClaimStep
from app.domain.market import MarketKey, Result
from app.domain.match import Match
from app.kit.errors import Conflict, Field, Invalid
from app.store import claims
from app.store.changes import ChangeDraft
from app.store.transaction import Tx


class Correction(msgspec.Struct, frozen=True):
    """The claim that a command upholds, the market that it corrects, its new result, and what the tenant is
    answered."""

    claim_id: UUID
    key: MarketKey
    result: Result
    answer: str


async def check(tx: Tx, match: Match, correction: Correction, *, by: str) -> None:
    """Raise `NotFound`, `Invalid` or `Conflict`, unless `by` may correct the result now that the claim
    contests."""
    claim = await claims.lock(tx, correction.claim_id)
    if claim is None or (claim.match_id, claim.key) != (match.id, correction.key):
        raise steps.unknown(correction.claim_id)
    steps.require_undecided(claim)
    if claim.state is ClaimState.OPEN:
        steps.require_holder(claim, by)
    if correction.result is claim.result:
        what = f"The result is {claim.result.value} already: answer the claim."
        raise Invalid(Field(("body", "result"), what, "same_result", claim.result.value))
    present = await steps.present_result(tx, match.id, *claim.key)
    if present is None or present.id != claim.entry_id:
        now = "has no result now" if present is None else f"is decided by entry {present.id} now"
        what = f"The result was changed since the claim was made: the market {now}. Answer the claim."
        raise Conflict(what, code="claim_outdated")


async def wait(tx: Tx, match: Match, correction: Correction, consent_id: int, *, by: str, now: int) -> None:
    """The claim is upheld, and its correction waits for consent: the transaction's last statement. Raises
    `Conflict` if another one waits."""
    claim = await claims.lock(tx, correction.claim_id)
    if claim is None:
        raise steps.unknown(correction.claim_id)
    steps.require_undecided(claim)
    await steps.require_no_consent(tx, claim, now)
    after = _upheld(claim, correction, by, now, consent_id)
    row = await _upheld_step(tx, after, by=by, now=now)
    await steps.publish(tx, match, row, now=now)


async def finish(
    tx: Tx, match: Match, correction: Correction, *, by: str, consent_by: str | None, now: int
) -> None:
    """The result is corrected, after the command's own rows of the change log: the transaction's last
    statement. By a command that did not wait (`consent_by` is None) the claim is upheld, too, even if one
    that waited has upheld it before: the answer is that of the command that corrects."""
    claim = await claims.lock(tx, correction.claim_id)
    assert claim is not None
    rows: list[ChangeDraft] = []
    if consent_by is None:
        claim = _upheld(claim, correction, by, now)
        rows.append(await _upheld_step(tx, claim, by=by, now=now))
    entry = await steps.present_result(tx, match.id, *claim.key)
    corrected = entry.id if entry else None
    after = replace(claim, state=ClaimState.CORRECTED, correction_id=corrected, ended_at=now)
    await claims.save(tx, after)
    details = {"entry": corrected} | ({"consent_by": consent_by} if consent_by else {})
    rows.append(await steps.record(tx, after, ClaimStep.CORRECTED, by=by, now=now, details=details))
    await steps.publish(tx, match, *rows, now=now)


def _upheld(claim: Claim, correction: Correction, by: str, now: int, consent_id: int | None = None) -> Claim:
    return replace(
        claim,
        state=ClaimState.UPHELD,
        answer=correction.answer,
        answered_by=by,
        answered_at=now,
        consent_id=consent_id,
    )


async def _upheld_step(tx: Tx, claim: Claim, *, by: str, now: int) -> ChangeDraft:
    await claims.save(tx, claim)
    details: dict[str, object] = {"answer": claim.answer} if claim.answer else {}
    if claim.consent_id is not None:
        details["consent"] = claim.consent_id
    return await steps.record(tx, claim, ClaimStep.UPHELD, by=by, now=now, details=details)
