"""Execution of operators' commands on a match, and what a command would do if it were executed now.

Each command is one transaction that ends as one of a log batch does: trading reacts, all of it is written.
Which published results it changes, and when they were published, is found before. A preview is planned as for
its execution, in a transaction that is rolled back; what happens in the match meanwhile may change it.
"""

import hashlib
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple
from uuid import UUID

import msgspec
from msgspec.structs import replace

from app.claims import correction
from app.claims.correction import Correction
from app.commands import match_entrants, match_reaction, match_references, match_update, source_switch
from app.commands.effects import Effect, effect_of
from app.commands.match_commands import (
    Command,
    FollowReferences,
    FollowSource,
    OnBets,
    RollBackMarket,
    SettleMarket,
    UpholdClaim,
    VoidMarket,
)
from app.commands.match_inputs import Commanded
from app.commands.match_reaction import MatchUpdate
from app.commands.trading_commands import Undo
from app.commands.undo import CommandState, state_of, undo
from app.domain import lifecycle
from app.domain.market import Market, MarketKey, Result
from app.domain.match import Match
from app.domain.settlement import LedgerEntry, LedgerStatus, VoidWindow, standing_windows, void_windows
from app.kit.errors import Conflict, Field, Invalid
from app.store import audit, history, operator_commands
from app.store.audit import AuditRecord
from app.store.changes import ChangeDraft, envelope_of
from app.store.operator_commands import ExecutedCommand, RecordedCommand
from app.store.transaction import Tx, Write
from app.trading.pricing import PricingConfig

_encode = msgspec.json.Encoder(order="sorted").encode


class Sender(msgspec.Struct, frozen=True):
    """Who sends a command: `actor` as the audit log has it; `person`, the same whatever key they use; and who
    has consented, where the command waited for that."""

    actor: str
    person: str
    consent_by: str | None = None


class Plan(msgspec.Struct, frozen=True):
    """A command that is about to be executed: what it changes, and what is written beside that."""

    command: Command
    update: MatchUpdate
    extra_writes: list[Write]
    undone: int | None = None

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.update.reaction.entries)

    @property
    def before(self) -> CommandState:
        assert self.update.before is not None
        return state_of(self.update.before, self.update.book, self.command)

    @property
    def after(self) -> CommandState:
        changed = {market.key: market for market in self.update.reaction.markets}
        return state_of(self.update.after, self.update.book | changed, self.command)


class MovedMarket(NamedTuple):
    """A market before and after; before is None for a new one."""

    before: Market | None
    after: Market


class PreviewedEnvelope(NamedTuple):
    """A message of the feed, and how many markets it would carry."""

    message: str
    markets: int


class Preview(msgspec.Struct, frozen=True):
    """`match` before and `after` it, the markets that would change, the ledger's new entries in order, and
    the envelopes in order. `needs_consent`: a second operator must consent before it is executed;
    `fingerprint` is that of its effect on results."""

    match: Match
    after: Match
    markets: tuple[MovedMarket, ...]
    entries: tuple[LedgerEntry, ...]
    envelopes: tuple[PreviewedEnvelope, ...]
    fingerprint: str
    needs_consent: bool


def previewed(match: Match, planned: Plan, waits: bool) -> Preview:
    """What this plan would do to the match; `waits`: a second operator must consent before."""
    update = planned.update
    changed = match_reaction.changed_markets(update)
    moved = tuple(MovedMarket(update.book.get(each.key), each) for each in changed)
    envelopes = _envelopes(match_reaction.change_rows(update, changed))
    entries, effect = update.reaction.entries, planned.fingerprint
    return Preview(match, update.after, moved, entries, envelopes, effect, waits)


def _envelopes(drafts: list[ChangeDraft]) -> tuple[PreviewedEnvelope, ...]:
    """The envelopes of these drafts: as many as the change log would have."""
    found = []
    for (message, _), group in groupby(drafts, key=envelope_of):
        if message:
            carried = sum(each.entity in ("market", "settlement") for each in group)
            found.append(PreviewedEnvelope(message, carried))
    return tuple(found)


async def needs_consent(tx: Tx, planned: Plan, consent_seconds: int) -> bool:
    """Whether a planned command changes a result that was published more than so many seconds ago."""
    entries = planned.update.reaction.entries
    if not consent_seconds or not entries:
        return False
    oldest = oldest_changed(entries, await history.ledger(tx, planned.update.after.id))
    return oldest is not None and oldest < planned.update.now - consent_seconds * 1000


async def plan(
    tx: Tx, match: Match, command: Command, sender: Sender, now: int, pricing: PricingConfig
) -> Plan:
    """What `command` changes on this match, which must be locked in `tx`; `carry_out` writes it. Raises
    `Invalid` and `Conflict` as `CommandService.execute`."""
    await _check_revision(tx, match, command, sender)
    if isinstance(command, UpholdClaim):
        await correction.check(tx, match, correction_of(command), by=sender.actor)
    effect, extra_writes = await _effect(tx, command, match, now, pricing)
    await _check_window(tx, match.id, command)
    computed = replace(effect.after, revision=match.revision + 1)
    after = await match_entrants.resolve(tx, match, computed, now)
    is_computed = not isinstance(command, FollowReferences | FollowSource)
    update = await match_update.prepare(
        tx,
        match,
        after,
        effect.changes,
        now=now,
        may_price=after.over or not after.applied_late,
        pricing=pricing,
        action=effect.action,
        cause=Commanded(msgspec.Raw(encoded(_without_claim(command)))) if is_computed else None,
        computed=computed if is_computed else None,
    )
    return Plan(command, update, extra_writes, command.of if isinstance(command, Undo) else None)


async def carry_out(tx: Tx, planned: Plan, sender: Sender) -> Match:
    """Write a planned command with its audit row; returns the match after it."""
    update = planned.update
    after, now = update.after, update.now
    details = msgspec.to_builtins(planned.command)
    action = f"match.{details.pop('command')}"
    del details["revision"]
    if sender.consent_by is not None:
        details["consent_by"] = sender.consent_by
    await audit.add(tx, AuditRecord(now, sender.actor, action, str(after.id), None, details))
    executed = ExecutedCommand(
        revision=after.revision,
        at=now,
        actor=sender.actor,
        person=sender.person,
        command=encoded(planned.command),
        before=_encode(planned.before),
        after=_encode(planned.after),
        consent_by=sender.consent_by,
    )
    await tx.write([operator_commands.add_statement(after.id, executed)])
    if planned.undone is not None:
        await tx.write([operator_commands.undone_statement(after.id, planned.undone, after.revision)])
    written = await match_update.write(tx, update, planned.extra_writes)
    if isinstance(planned.command, UpholdClaim):
        own = correction_of(planned.command)
        await correction.finish(tx, written, own, by=sender.actor, consent_by=sender.consent_by, now=now)
    return written


def correction_of(command: UpholdClaim) -> Correction:
    """What a command does to the claim that it upholds."""
    return Correction(command.claim, command.key, Result(command.result), command.answer)


def _without_claim(command: Command) -> Command:
    """The command that has the same effect without a claim: a match's file is read by others than the tenant
    whose claim it was."""
    if not isinstance(command, UpholdClaim):
        return command
    of, about, why = command.market_id, command.specifiers, command.reason
    if command.result == "void":
        reason_id = command.void_reason_id
        return VoidMarket(market_id=of, specifiers=about, reason=why, void_reason_id=reason_id)
    return SettleMarket(market_id=of, specifiers=about, reason=why, result=command.result)


async def _check_revision(tx: Tx, match: Match, command: Command, sender: Sender) -> None:
    """Refuse a command whose sender has not seen a later one of somebody else."""
    seen = command.revision
    if seen is None:
        return
    if seen > match.revision:
        what = f"The match is at revision {match.revision}."
        raise Invalid(Field(("body", "revision"), what, "in_the_future", seen))
    later = await operator_commands.newest_of_others(tx, match.id, seen, sender.person)
    if later is not None:
        raise Conflict(
            f"{later.actor} sent {later.name} since (revision {later.revision}; yours is {seen}). "
            "Look at the match again, and send yours again if it still holds.",
            code="later_command",
            actor=later.actor,
            command=later.name,
        )


async def _check_window(tx: Tx, match_id: UUID, command: Command) -> None:
    """Bets of a window are voided once, and only a window that is void can be rolled back."""
    if not isinstance(command, OnBets) or command.window is None:
        return
    void = command.window in void_windows(await history.ledger(tx, match_id), command.key)
    if void is not isinstance(command, RollBackMarket):
        state = "void already" if void else "not void"
        raise Conflict(f"The bets of exactly this window are {state} on this market.")


async def _effect(
    tx: Tx, command: Command, match: Match, now: int, pricing: PricingConfig
) -> tuple[Effect, list[Write]]:
    """The effect of `command`, and what is to be written with it."""
    if isinstance(command, Undo):
        return await undo(tx, command, match), []
    if isinstance(command, FollowReferences):
        lifecycle.require_not_over(match, "changed")
        return Effect(*await match_references.switched(tx, match, command, now, pricing)), []
    if not isinstance(command, FollowSource):
        return effect_of(command, match, now), []
    after, changes, writes = await source_switch.follow(tx, match, command.source, now)
    return Effect(after, tuple(changes)), writes


def encoded(command: Command) -> bytes:
    """A command without the revision that its sender saw, which is not part of what they want."""
    fields = msgspec.to_builtins(command)
    del fields["revision"]
    return _encode(fields)


async def is_repeated(tx: Tx, match_id: UUID, command: Command, owner: str, now: int) -> bool:
    """Whether its owner has sent the command before, by its id, which is recorded. Raises `Conflict` where it
    is another command's."""
    if command.request_id is None:
        return False
    request = encoded(command)
    known = await operator_commands.record_once(tx, owner, command.request_id, match_id, request, now)
    if known is not None and known != RecordedCommand(match_id, request):
        raise Conflict(f"Request {command.request_id!r} belongs to another command: use a new id.")
    return known is not None


def oldest_changed(entries: Iterable[LedgerEntry], ledger: Sequence[LedgerEntry]) -> int | None:
    """When the oldest of the results was published (Unix ms) that `entries` would change, if they were added
    to this ledger; None if they change none.

    A result is that of a market, or the void of the bets of a window. Bets that are voided on a market with a
    result change that result.
    """
    results, windows = _published(ledger)
    changed = []
    for entry in entries:
        if entry.void_window is not None and entry.window_rolled_back:
            changed.append(windows.get((entry.key, entry.void_window)))
        elif entry.void_window is not None or entry.previous_status is not LedgerStatus.PENDING:
            changed.append(results.get(entry.key))
    return min((at for at in changed if at is not None), default=None)


def _published(
    ledger: Sequence[LedgerEntry],
) -> tuple[dict[MarketKey, int], dict[tuple[MarketKey, VoidWindow | None], int]]:
    """When the present result of each market, and the void of each window, was published."""
    results: dict[MarketKey, int] = {}
    for entry in ledger:
        if entry.void_window is not None:
            continue
        if entry.new_status is LedgerStatus.PENDING:
            results.pop(entry.key, None)
        else:
            results[entry.key] = entry.at
    return results, {(entry.key, entry.void_window): entry.at for entry in standing_windows(ledger)}


def fingerprint(entries: Iterable[LedgerEntry]) -> str:
    """A short text that is another one if the effect of a command on results is: which entries it would add
    to the ledger."""
    effect = [
        (
            entry.type_id,
            entry.specifiers,
            entry.previous_status,
            entry.new_status,
            entry.result,
            entry.void_reason_id,
            entry.void_window,
            entry.window_rolled_back,
        )
        for entry in entries
    ]
    return hashlib.sha256(msgspec.json.encode(effect)).hexdigest()[:16]
