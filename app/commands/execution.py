"""Execution of operators' commands on a match.

Each command is one transaction that ends as one of a log batch does: trading reacts, all of it is written.
"""

from uuid import UUID

import msgspec

from app.commands import entrant_links, match_update, source_switch
from app.commands.effects import Effect, effect_of
from app.commands.match_commands import Command, FollowSource, OnBets, RollBackMarket
from app.domain.match import Match
from app.domain.settlement import void_windows
from app.kit.errors import Conflict
from app.store import audit, history, matches, operator_commands
from app.store.audit import AuditRecord
from app.store.connections import Store
from app.store.operator_commands import RecordedCommand
from app.store.transaction import Tx, Write
from app.trading.pricing_config import PricingConfig

_encode = msgspec.json.Encoder(order="sorted").encode


async def execute(
    store: Store,
    ref: str,
    command: Command,
    *,
    by: str,
    now: int,
    pricing: PricingConfig,
    owner: str | None = None,
) -> Match:
    """Execute a command of `by` on the match `ref` and write its audit row; returns the match after it.

    A repeated `request_id` of the same `owner` (default: `by`) does nothing. Raises `NotFound`; `Invalid`
    with the offending field; `Conflict` when the present state does not allow it, or when that id belongs to
    another command. Nothing is written then.
    """
    async with store.transaction() as tx:
        found = await matches.by_ref(tx, ref)
        done = await _is_repeated(tx, found.id, command, owner or by, now)
        match = await matches.lock(tx, found.id)
        if done:
            return match
        effect, extra_writes = await _effect(tx, command, match, now)
        await check_window(tx, match.id, command)
        after = await entrant_links.resolve(tx, match, effect.after, now)
        details = msgspec.to_builtins(command)
        await audit.add(
            tx, AuditRecord(now, by, f"match.{details.pop('command')}", str(match.id), None, details)
        )
        return await match_update.react_and_write(
            tx,
            match,
            after,
            effect.changes,
            now=now,
            may_price=after.over or not after.applied_late,
            pricing=pricing,
            action=effect.action,
            extra_writes=extra_writes,
        )


async def check_window(tx: Tx, match_id: UUID, command: Command) -> None:
    """Bets of a window are voided once, and only a window that is void can be rolled back."""
    if not isinstance(command, OnBets) or command.window is None:
        return
    void = command.window in void_windows(await history.ledger(tx, match_id), command.key)
    if void is not isinstance(command, RollBackMarket):
        state = "void already" if void else "not void"
        raise Conflict(f"The bets of exactly this window are {state} on this market.")


async def _effect(tx: Tx, command: Command, match: Match, now: int) -> tuple[Effect, list[Write]]:
    """The effect of `command`, and what is to be written with it."""
    if not isinstance(command, FollowSource):
        return effect_of(command, match, now), []
    after, changes, writes = await source_switch.follow(tx, match, command.source, now)
    return Effect(after, tuple(changes)), writes


async def _is_repeated(tx: Tx, match_id: UUID, command: Command, owner: str, now: int) -> bool:
    if command.request_id is None:
        return False
    encoded = _encode(command)
    known = await operator_commands.record_once(tx, owner, command.request_id, match_id, encoded, now)
    if known is not None and known != RecordedCommand(match_id, encoded):
        raise Conflict(f"Request {command.request_id!r} belongs to another command: use a new id.")
    return known is not None
