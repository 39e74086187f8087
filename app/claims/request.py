"""What tenants do: claim that a result is wrong, read their claims, withdraw one."""

from collections.abc import Awaitable, Callable
from uuid import UUID, uuid4

import msgspec
from msgspec.structs import replace

from app.claims import steps
from app.domain.claims import Claim, ClaimState, ClaimStep, result_of
from app.domain.market import MarketKey, Result, market_name
from app.domain.match import Match, Status
from app.domain.tenant import Tenant
from app.kit.clock import Clock
from app.kit.errors import Conflict, Field, Invalid
from app.store import claims, matches, tenants
from app.store.claims import ClaimFilter, Place
from app.store.connections import Store
from app.store.sql import NEWEST
from app.store.transaction import Tx

FindMatch = Callable[[Tx], Awaitable[Match]]  #: the match that was named, if its sender may see it


class WantedClaim(msgspec.Struct, frozen=True, kw_only=True):
    """What a tenant claims of a market: that its result should be `expected`."""

    key: MarketKey
    expected: Result
    reason: str
    evidence: str = ""
    request_id: str | None = None


class ClaimService(msgspec.Struct, frozen=True):
    """Claims as tenants make them. A new one is due after `deadline_minutes`; a tenant may have
    `per_tenant` that are undecided. One that is withdrawn counts until it would have been due: each opens and
    ends an alert, which is no way to wake the operators as often as one likes."""

    store: Store
    clock: Clock
    deadline_minutes: int
    per_tenant: int

    async def make(self, tenant: Tenant, find_match: FindMatch, wanted: WantedClaim, *, by: str) -> Claim:
        """A new claim of the tenant, sent by `by`; of a `request_id` that is repeated, the first one.

        Raises what `find_match` does; `Invalid` for a market or a result that cannot be claimed; `Conflict`
        where the market has no result, has an undecided claim of this tenant, where the tenant has too many
        of those, or used the `request_id` for another claim.
        """
        now = self.clock()
        async with self.store.transaction() as tx:
            tenant = await tenants.lock(tx, tenant.slug)  # no other claim of it is made meanwhile
            match = await find_match(tx)
            if (known := await _known(tx, tenant, match, wanted)) is not None:
                return known
            match = await matches.lock(tx, match.id)  # its results stay as they are
            contested = await _contested(tx, tenant, match, wanted)
            await self._check_number(tx, tenant, match, wanted)
            claim = Claim(
                id=uuid4(),
                tenant_id=tenant.id,
                tenant=tenant.slug,
                match_id=match.id,
                number=match.number,
                type_id=wanted.key[0],
                specifiers=wanted.key[1],
                entry_id=contested[0],
                result=contested[1],
                expected=wanted.expected,
                reason=wanted.reason,
                evidence=wanted.evidence,
                request_id=wanted.request_id,
                opened_at=now,
                opened_by=by,
                deadline_at=now + self.deadline_minutes * 60_000,
            )
            await claims.add(tx, claim)
            details = {"expected": claim.expected.value, "entry": claim.entry_id}
            row = await steps.record(tx, claim, ClaimStep.OPENED, by=by, now=now, details=details)
            await steps.publish(tx, match, row, now=now)
        return claim

    async def withdraw(
        self, tenant: Tenant, claim_id: UUID, *, by: str, finished_only: bool = False
    ) -> Claim:
        """Withdraw an open claim; one that is withdrawn stays as it is. Raises `NotFound` for one that is not
        the tenant's, `Conflict` for one that is decided or upheld."""
        now = self.clock()
        async with self.store.transaction() as tx:
            await _own(tx, tenant, claim_id, finished_only=finished_only)
            match, claim = await steps.locked(tx, claim_id)
            if claim.state is ClaimState.WITHDRAWN:
                return claim
            if claim.state is ClaimState.UPHELD:
                what = "This claim is upheld, and its correction is on the way: it cannot be withdrawn."
                raise Conflict(what, code="claim_upheld")
            steps.require_undecided(claim)
            after = replace(claim, state=ClaimState.WITHDRAWN, ended_at=now)
            await claims.save(tx, after)
            row = await steps.record(tx, after, ClaimStep.WITHDRAWN, by=by, now=now)
            await steps.publish(tx, match, row, now=now)
        return after

    async def get(self, tenant: Tenant, claim_id: UUID, *, finished_only: bool = False) -> Claim:
        """A claim of the tenant; raises `NotFound` for one of another."""
        async with self.store.snapshot() as tx:
            return await _own(tx, tenant, claim_id, finished_only=finished_only)

    async def page(
        self, wanted: ClaimFilter, limit: int, before: Place | None = None
    ) -> tuple[list[Claim], Place | None]:
        """At most `limit` claims, newest first, and where the next page begins (None: this is the last)."""
        async with self.store.autocommit() as tx:
            found = await claims.page(tx, wanted, before=before or NEWEST, limit=limit + 1)
        shown = found[:limit]
        following = (shown[-1].opened_at, shown[-1].id) if len(found) > limit else None
        return shown, following

    async def _check_number(self, tx: Tx, tenant: Tenant, match: Match, wanted: WantedClaim) -> None:
        counting = await claims.counting_of(tx, tenant.id, self.clock())
        for each in counting:
            if each.undecided and (each.match_id, each.key) == (match.id, wanted.key):
                what = f"Claim {each.id} about this market is {each.state}: wait for it, or withdraw it."
                raise Conflict(what, code="claim_exists", claim=str(each.id))
        if len(counting) >= self.per_tenant:
            what = (
                f"{len(counting)} of your claims are undecided, or withdrawn before their deadline, as many"
                " as you may have: wait for one."
            )
            raise Conflict(what, code="too_many_claims", limit=self.per_tenant)


async def _own(tx: Tx, tenant: Tenant, claim_id: UUID, *, finished_only: bool) -> Claim:
    claim = await claims.get(tx, claim_id)
    if claim is None or claim.tenant_id != tenant.id:
        raise steps.unknown(claim_id)
    if finished_only:
        match = await matches.get(tx, claim.match_id)
        if match is None or match.status is not Status.FINISHED:
            raise steps.unknown(claim_id)
    return claim


async def _known(tx: Tx, tenant: Tenant, match: Match, wanted: WantedClaim) -> Claim | None:
    """The tenant's claim with that request id; raises `Conflict` if it is another one."""
    if wanted.request_id is None:
        return None
    found = await claims.by_request(tx, tenant.id, wanted.request_id)
    if found is None:
        return None
    same = (found.match_id, found.key, found.expected, found.reason, found.evidence)
    if same != (match.id, wanted.key, wanted.expected, wanted.reason, wanted.evidence):
        what = f"The request id {wanted.request_id!r} was used for another claim: choose a new one."
        raise Conflict(what, code="request_id_used", request_id=wanted.request_id)
    return found


async def _contested(tx: Tx, tenant: Tenant, match: Match, wanted: WantedClaim) -> tuple[int, Result]:
    """The id of the entry that says the market's present result, and this result."""
    name = market_name(*wanted.key)
    entry = await steps.present_result(tx, match.id, *wanted.key, tenant.types_off)
    if entry is None:
        what = f"Market {name} has no result now: only a result, or a void, can be wrong."
        raise Conflict(what, code="no_result", market=name)
    result = result_of(entry)
    if result is wanted.expected:
        what = f"The result is {result.value} already."
        raise Invalid(Field(("body", "expected"), what, "same_result", wanted.expected.value))
    return entry.id, result
