"""The commands of operators as they are sent: executed, previewed, or stored until a second person consents.

Commands that change results which were published long ago wait for consent. `send` executes a command, or
stores it as waiting. `give` executes it later, planned again on the match as it is then. Who consents has
seen what it would do now, by its `fingerprint`.
"""

from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from app.claims import correction
from app.commands import execution
from app.commands.execution import Preview, Sender
from app.commands.match_commands import Command, UpholdClaim
from app.commands.trading_commands import AnyCommand
from app.domain.match import Match
from app.kit.errors import Conflict, Forbidden, NotFound
from app.store import audit, consent_requests, matches
from app.store.audit import AuditRecord
from app.store.connections import Store
from app.store.consent_requests import ConsentRequest, ConsentState
from app.store.transaction import Tx
from app.trading.pricing import PricingConfig

LASTS_SECONDS = 3600  #: so long a command waits for consent
_LARGEST = 2**63 - 1  #: the largest number that the database has
_decode = msgspec.json.Decoder(AnyCommand).decode


class ConsentNeeded(Conflict):
    """The command changes a result that was published too long ago for one person to change it; `fingerprint`
    is that of its effect."""

    def __init__(self, fingerprint: str) -> None:
        what = "This changes a result that was published long ago: a second operator must consent."
        super().__init__(what, code="consent_needed")
        self.fingerprint = fingerprint


class ShownRequest(NamedTuple):
    """A request, and while it waits what its command would do now, or what that would be refused with."""

    request: ConsentRequest
    preview: Preview | None = None
    obstacle: Conflict | None = None


class CommandService(msgspec.Struct, frozen=True):
    """Operators' commands on a match, which `ref` names. A second person must consent to one that changes a
    result which was published more than `consent_seconds` ago (0: to none)."""

    store: Store
    pricing: PricingConfig
    consent_seconds: int = 0

    async def execute(self, ref: str, command: Command, sender: Sender, now: int) -> Match:
        """Execute a command and write its audit row; returns the match after it.

        A repeated `request_id` of the same person does nothing. Raises `NotFound`; `Invalid` with the
        offending field; `Conflict` when the present state does not allow it, when a command of somebody else
        has been executed since the `revision` of this one, or when its id belongs to another command;
        `ConsentNeeded`. Nothing is written then.
        """
        async with self.store.transaction() as tx:
            found = await matches.by_ref(tx, ref)
            done = await execution.is_repeated(tx, found.id, command, sender.person, now)
            match = await matches.lock(tx, found.id)
            if done:
                return match
            planned = await execution.plan(tx, match, command, sender, now, self.pricing)
            if await execution.needs_consent(tx, planned, self.consent_seconds):
                raise ConsentNeeded(planned.fingerprint)
            return await execution.carry_out(tx, planned, sender)

    async def preview(self, ref: str, command: Command, sender: Sender, now: int) -> Preview:
        """What the command would do. Raises what its execution would, but `ConsentNeeded`."""
        async with self.store.dry_run() as tx:
            match = await matches.lock(tx, (await matches.by_ref(tx, ref)).id)
            planned = await execution.plan(tx, match, command, sender, now, self.pricing)
            waits = await execution.needs_consent(tx, planned, self.consent_seconds)
        return execution.previewed(match, planned, waits)

    async def send(self, ref: str, command: Command, sender: Sender, now: int) -> Match | ConsentRequest:
        """Execute a command, or store it as waiting where that needs consent. A repeated command that waited
        returns its request, whatever has become of it."""
        try:
            match = await self.execute(ref, command, sender, now)
        except ConsentNeeded as needed:
            return await _request(self.store, ref, command, sender, needed.fingerprint, now)
        return await _known(self.store, command, sender) or match

    async def show(self, request_id: int, now: int) -> ShownRequest:
        """A request, as it is now. Raises `NotFound`."""
        async with self.store.autocommit() as tx:
            request = await find(tx, request_id)
        if request.state(now) is not ConsentState.WAITING:
            return ShownRequest(request)
        consented = replace(self, consent_seconds=0)
        sender = Sender(request.actor, request.person)
        try:
            found = await consented.preview(str(request.match_id), command_of(request), sender, now)
        except Conflict as obstacle:
            return ShownRequest(request, obstacle=obstacle)
        return ShownRequest(request, found)

    async def give(self, request_id: int, fingerprint: str, by: Sender, now: int) -> ConsentRequest:
        """Consent to a command, as somebody who has seen its effect with that fingerprint: it is executed.
        Returns the request after it.

        Raises `NotFound`; `Forbidden` for the person who sent it; `Conflict` where it does not wait any more,
        where its effect is another one now, and where the match's present state does not allow it.
        """
        async with self.store.transaction() as tx:
            request = await _waiting(tx, request_id, now)
            if by.person == request.person:
                raise Forbidden("A second person must consent, not the one who sent it.", code="own_consent")
            match = await matches.lock(tx, request.match_id)
            sender = Sender(request.actor, request.person, consent_by=by.actor)
            planned = await execution.plan(tx, match, command_of(request), sender, now, self.pricing)
            if planned.fingerprint != fingerprint:
                what = "It would do something else now than what you have seen: look again, then decide."
                raise Conflict(what, code="stale_consent")
            revision = planned.update.after.revision
            after = _decided(request, ConsentState.GIVEN, by.actor, now, revision=revision)
            await consent_requests.save_decision(tx, after)
            await _record(tx, after, "consent.give", by.actor, now)
            await execution.carry_out(tx, planned, sender)
        return after

    async def refuse(self, request_id: int, reason: str, by: Sender, now: int) -> ConsentRequest:
        """Refuse consent, or withdraw one's own command; it is never executed. Returns the request after it.
        Raises `NotFound`; `Conflict` where it does not wait any more."""
        async with self.store.transaction() as tx:
            request = await _waiting(tx, request_id, now)
            own = by.person == request.person
            state = ConsentState.WITHDRAWN if own else ConsentState.REFUSED
            after = _decided(request, state, by.actor, now, reason=reason)
            await consent_requests.save_decision(tx, after)
            await _record(tx, after, "consent.withdraw" if own else "consent.refuse", by.actor, now)
        return after


async def _known(store: Store, command: Command, sender: Sender) -> ConsentRequest | None:
    """The request of this command, if it was sent before and waited."""
    if command.request_id is None:
        return None
    async with store.autocommit() as tx:
        found = await consent_requests.by_reference(tx, sender.person, command.request_id)
    return found if found and found.command == execution.encoded(command) else None


async def _request(
    store: Store, ref: str, command: Command, sender: Sender, fingerprint: str, now: int
) -> ConsentRequest:
    async with store.transaction() as tx:
        match = await matches.by_ref(tx, ref)
        if await execution.is_repeated(tx, match.id, command, sender.person, now):
            found = await consent_requests.by_reference(tx, sender.person, command.request_id or "")
            if found is not None:
                return found
        made = await consent_requests.add(
            tx,
            match.id,
            execution.encoded(command),
            actor=sender.actor,
            person=sender.person,
            reference=command.request_id,
            fingerprint=fingerprint,
            at=now,
            expires_at=now + LASTS_SECONDS * 1000,
        )
        await _record(tx, made, "consent.request", sender.actor, now)
        if isinstance(command, UpholdClaim):
            match = await matches.lock(tx, match.id)
            own = execution.correction_of(command)
            await correction.wait(tx, match, own, made.id, by=sender.actor, now=now)
    return made


def command_of(request: ConsentRequest) -> Command:
    """The command that waits."""
    command: Command = _decode(request.command)
    return command


async def find(tx: Tx, request_id: int) -> ConsentRequest:
    """The request with that number; raises `NotFound`."""
    found = await consent_requests.get(tx, request_id) if 0 < request_id <= _LARGEST else None
    if found is None:
        raise NotFound(f"There is no request for consent {request_id}.")
    return found


async def _waiting(tx: Tx, request_id: int, now: int) -> ConsentRequest:
    """The request, locked. Raises `Conflict` if it does not wait."""
    await find(tx, request_id)
    request = await consent_requests.lock(tx, request_id)
    assert request is not None
    if (state := request.state(now)) is not ConsentState.WAITING:
        by_whom = f" by {request.decided_by}" if request.decided_by else ""
        raise Conflict(f"This was decided before: {state}{by_whom}.", code=f"consent_{state}")
    return request


def _decided(
    request: ConsentRequest,
    state: ConsentState,
    by: str,
    now: int,
    *,
    reason: str = "",
    revision: int | None = None,
) -> ConsentRequest:
    return replace(
        request, outcome=state.value, decided_at=now, decided_by=by, reason=reason, revision=revision
    )


async def _record(tx: Tx, request: ConsentRequest, action: str, by: str, now: int) -> None:
    details: dict[str, object] = {"consent": request.id, "command": request.name, "sent_by": request.actor}
    if request.reason:
        details["reason"] = request.reason
    await audit.add(tx, AuditRecord(now, by, action, str(request.match_id), None, details))
