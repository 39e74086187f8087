"""Accept a recovery request or reject it."""

import asyncio
import re
from collections.abc import Iterator
from uuid import UUID

import msgspec

from app.domain.ids import is_node_or_request_id
from app.domain.recovery import RecoveryInFlight, RecoveryJob, RecoveryKind, RecoveryRequest
from app.domain.tenant import Tenant
from app.kit.clock import Clock, iso_seconds
from app.kit.errors import Conflict, Field, Invalid, NotFound, with_others
from app.store import changes, matches, recovery_jobs, tenants
from app.store.connections import Store
from app.store.transaction import Tx
from app.wire.xml.dialect import SPECIFICATION, Dialect

_NUMBER = re.compile(r"[0-9]+\Z")
_MAX_DIGITS = 15  #: a longer number of milliseconds is in the future in any case
#: Clients send the newest timestamp that they have received, which may be ahead of the clock by a few ms.
#: Some send exactly the window's edge, which is older when it arrives (`Dialect.edge_millis`).
_AHEAD_MILLIS = 250

#: A client may receive `snapshot_complete`, and send its next request, before the job is recorded as
#: completed: so the response waits for that, one second at most.
_ENDING_CHECKS, _ENDING_SECONDS = 20, 0.05
_QUEUED_SECONDS = 5  #: replaying one match takes far less than a second, so a full queue has room soon


class RecoveryParameters(msgspec.Struct, frozen=True):
    """The parameters as they were sent, None for those that were not; `wrong` is what is wrong already, which
    a refusal names, too."""

    after: str | None = None
    request_id: str | None = None
    node_id: str | None = None
    wrong: tuple[Field, ...] = ()


class _Received(msgspec.Struct, frozen=True):
    """A request as `RecoveryService.accept` receives it."""

    tenant: Tenant
    kind: RecoveryKind
    parameters: RecoveryParameters
    match_ref: str | None
    finished_only: bool
    dialect: Dialect
    by: str


class RecoveryService(msgspec.Struct, frozen=True):
    """Accepts recoveries and finds them; an incremental one may reach back `recovery_window_millis`."""

    store: Store
    clock: Clock
    recovery_window_millis: int

    async def accept(
        self,
        tenant: Tenant,
        kind: RecoveryKind,
        parameters: RecoveryParameters,
        match_ref: str | None = None,
        *,
        by: str,
        finished_only: bool = False,
        dialect: Dialect = SPECIFICATION,
    ) -> RecoveryJob:
        """The durable job of a request that is accepted; of one that is repeated before it has ended, the job
        of the first, where requests are queued.

        `match_ref` (UUID or ``od:match:<n>``) names the match of an event-level request. Raises `Invalid`,
        `NotFound` for a match that the tenant does not have, or that is not finished where the key sees
        `finished_only`; `Conflict` when the tenant has no vhost, when too many requests are queued, or when a
        recovery is in flight for its node id: the dialect may queue full requests instead. Event-level ones
        are queued always, and delay only each other. `by` names who requested it in the audit log.
        """
        received = _Received(tenant, kind, parameters, match_ref, finished_only, dialect, by)
        request, outcome = await self._accept(received)
        for _ in range(_ENDING_CHECKS):
            if outcome is None or not outcome.ending:
                break
            await asyncio.sleep(_ENDING_SECONDS)
            request, outcome = await self._accept(received)
        if outcome is None:
            what = "recoveries" if dialect.queues_recoveries else "event-level recoveries"
            raise Conflict(
                f"{dialect.max_queued} {what} are queued: wait for the snapshot_complete of some.",
                retry_after=_QUEUED_SECONDS,
                code="recoveries_queued",
                limit=dialect.max_queued,
            )
        if isinstance(outcome, RecoveryInFlight):
            raise _in_flight(request, outcome)
        return outcome

    async def find(self, tenant: Tenant, request_id: str, node_id: str | None = None) -> RecoveryJob:
        """The tenant's newest recovery with that request id; raises `NotFound`."""
        async with self.store.autocommit() as tx:
            job = await recovery_jobs.find(tx, tenant.id, request_id, node_id)
        if job is None:
            raise NotFound(f"There is no recovery {request_id!r}.", code="no_recovery", recovery=request_id)
        return job

    async def _accept(
        self, received: _Received
    ) -> tuple[RecoveryRequest, RecoveryJob | RecoveryInFlight | None]:
        """The request, and its job, or the one in flight that blocks it; None if too many are queued."""
        now = self.clock()
        async with self.store.transaction() as tx:
            match_id = await _requested_match_id(tx, received)
            # Clients send the timestamp of one of our messages: that of a process whose clock is ahead of
            # ours is not in the future.
            latest = max(now, await changes.newest_stamp(tx))
            earliest = now - self.recovery_window_millis
            request = _validated(received, match_id, earliest=earliest, latest=latest)
            await _check_vhost(tx, received.tenant)
            given = (tx, received.tenant.id, request, now)
            if match_id is None and not received.dialect.queues_recoveries:
                return request, await recovery_jobs.accept(*given, by=received.by)
            limit = received.dialect.max_queued
            return request, await recovery_jobs.queue(*given, limit, by=received.by)


def _validated(received: _Received, match_id: UUID | None, *, earliest: int, latest: int) -> RecoveryRequest:
    """The request, if its parameters are valid; raises `Invalid` with every field that is not.

    Where a request may come without a request id, one is generated when the job is written.
    """
    event, parameters, dialect = match_id is not None, received.parameters, received.dialect
    request_id = parameters.request_id
    if dialect.generates_request_ids and request_id and not request_id.strip("0"):
        request_id = None
    own = [
        *_wrong_after(None if event else parameters.after, earliest, latest, dialect.edge_millis),
        *_wrong_id("request_id", request_id, required=not event and not dialect.generates_request_ids),
        *_wrong_id("node_id", parameters.node_id, required=False),
    ]
    if wrong := with_others(parameters.wrong, own):
        raise Invalid(*wrong)
    after = 0 if event else int((parameters.after or "").lstrip("0") or 0)
    return RecoveryRequest(received.kind, request_id or "", after, parameters.node_id, match_id)


async def _check_vhost(tx: Tx, tenant: Tenant) -> None:
    present = await tenants.get(tx, tenant.id)
    if present is None or not present.amqp:
        what = "Recoveries are replayed over AMQP, and this tenant has no vhost yet: ask for it."
        raise Conflict(what, code="no_vhost")


async def _requested_match_id(tx: Tx, received: _Received) -> UUID | None:
    """The match of an event-level request; None for a full one."""
    if received.match_ref is None:
        return None
    match = await matches.by_ref(
        tx, received.match_ref, finished_only=received.finished_only, parameter=("path", "event_id")
    )
    if not await tenants.booked(tx, received.tenant.id, [match.id]):
        ref = received.match_ref
        what = f"Your tenant has not booked match {ref!r}, and a recovery replays booked ones: book it first."
        raise NotFound(what, code="not_booked", match=ref)
    return match.id


def _wrong_after(after: str | None, earliest: int, latest: int, edge: int) -> Iterator[Field]:
    if after is None:
        return
    if not _NUMBER.match(after):
        what = "Send whole Unix milliseconds, or 0 for a full snapshot."
        yield _field("after", what, "integer", after)
        return
    digits = after.lstrip("0")
    moment = int(digits[: _MAX_DIGITS + 1] or 0)
    ctx = {"earliest": earliest, "latest": latest}
    hint = f"the earliest that is accepted now is {earliest} ({iso_seconds(earliest)})"
    if moment > latest + _AHEAD_MILLIS:
        yield _field(
            "after",
            f"This lies in the future; the service's clock shows {latest}, {hint}.",
            "in_the_future",
            after,
            ctx,
        )
    elif 0 < moment < earliest - edge:
        yield _field(
            "after",
            f"This time (in ms) is older than the recovery window: {hint}; 0 asks for a full snapshot.",
            "too_old",
            after,
            ctx,
        )


def _wrong_id(name: str, value: str | None, *, required: bool) -> Iterator[Field]:
    if value is None and required:
        yield Field(("query", name), "This parameter is required.", "missing")
    elif value is not None and not is_node_or_request_id(value):
        what = "Send a positive whole number: digits only, the first one not 0, at most 64."
        yield _field(name, what, "positive_integer", value)


def _field(name: str, what: str, kind: str, value: str, ctx: dict[str, int] | None = None) -> Field:
    return Field(("query", name), what, kind, value, ctx)


def _in_flight(request: RecoveryRequest, present: RecoveryInFlight) -> Conflict:
    """Names the request in flight and when to try again: clients wait for its end."""
    seconds = -(-present.remaining // 1000)
    whose = f"node_id {request.node_id}" if request.node_id else "requests without node_id"
    same = (present.request_id, present.after, present.kind) == (
        request.request_id,
        request.after,
        request.kind,
    )
    again = "This very request is in flight already" if same else "A recovery is in flight already"
    return Conflict(
        f"{again} for {whose}: request_id {present.request_id}, after {present.after}, accepted at "
        f"{present.accepted_at}. Wait for its snapshot_complete; at the latest {seconds} s from now "
        "another request is accepted.",
        retry_after=max(1, seconds),
        code="recovery_in_flight",
        request=present.request_id,
    )
