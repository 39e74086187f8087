"""What operators do about claims, but for the correction of a result: take one, answer one."""

from uuid import UUID

from msgspec.structs import replace

from app.claims import steps
from app.domain.claims import Claim, ClaimState, ClaimStep
from app.store import claims
from app.store.connections import Store


async def take(store: Store, claim_id: UUID, *, by: str, now: int, instead_of: str = "") -> Claim:
    """Have `by` work on the claim from now on; returns the claim after it. `instead_of`: who has it, as the
    sender knows. Raises `NotFound`; `Conflict` if it is decided, or if somebody else has it."""
    async with store.transaction() as tx:
        match, claim = await steps.locked(tx, claim_id)
        steps.require_undecided(claim)
        if claim.taken_by == by:
            return claim
        if claim.taken_by is not None and claim.taken_by != instead_of:
            steps.require_holder(claim, by)
        after = replace(claim, taken_by=by, taken_at=now)
        await claims.save(tx, after)
        row = await steps.record(tx, after, ClaimStep.TAKEN, by=by, now=now)
        await steps.publish(tx, match, row, now=now)
    return after


async def answer(store: Store, claim_id: UUID, text: str, *, by: str, now: int) -> Claim:
    """Answer a claim: the result stands, for the reason in `text`. Returns the claim after it; one that has
    this answer already stays as it is. Raises `NotFound`; `Conflict` if it is decided, if somebody else has
    it, or if a correction waits for consent."""
    async with store.transaction() as tx:
        match, claim = await steps.locked(tx, claim_id)
        if claim.state is ClaimState.ANSWERED and (claim.answer, claim.answered_by) == (text, by):
            return claim
        steps.require_undecided(claim)
        steps.require_holder(claim, by)
        await steps.require_no_consent(tx, claim, now)
        after = replace(
            claim, state=ClaimState.ANSWERED, answer=text, answered_by=by, answered_at=now, ended_at=now
        )
        await claims.save(tx, after)
        row = await steps.record(tx, after, ClaimStep.ANSWERED, by=by, now=now, details={"answer": text})
        await steps.publish(tx, match, row, now=now)
    return after
