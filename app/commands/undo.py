"""How a command is taken back.

What it changed must be as it left it: what somebody has changed since is not overwritten.
"""

from uuid import UUID

import msgspec
from msgspec.structs import replace

from app.commands import market_actions
from app.commands import match_commands as c
from app.commands.effects import Effect
from app.commands.market_actions import ManualMarketAction
from app.commands.match_commands import Command, OnBets, OnMarket, RollBackMarket
from app.commands.trading_commands import AnyCommand, OfMarket, TradingCommand, Undo
from app.domain import lifecycle
from app.domain.changes import ControlsChanged
from app.domain.doubts import OPERATOR
from app.domain.market import Book, Market, Result
from app.domain.match import Match
from app.domain.settlement import void_windows
from app.domain.trading_controls import NO_CONTROLS, TradingControls, taken_back
from app.kit.errors import Conflict, NotFound
from app.store import history, operator_commands
from app.store.operator_commands import ExecutedCommand
from app.store.transaction import Tx
from app.trading.engine import Reaction
from app.trading.rules import NOT_PLAYED

_ON_MARKETS = (c.SettleMarket, c.VoidMarket, c.RollBackMarket)
_UNDOABLE = (TradingCommand, c.Suspend, c.Unsuspend, c.Schedule, *_ON_MARKETS)
_decode_command = msgspec.json.Decoder(AnyCommand).decode


class CommandState(msgspec.Struct, frozen=True, omit_defaults=True):
    """The controls of a match, an operator's reason to suspend it ("": none), when it is scheduled, and the
    market that the command names."""

    controls: TradingControls = NO_CONTROLS
    suspended: str = ""
    scheduled_at: int | None = None
    market: Market | None = None


def state_of(match: Match, book: Book, command: Command) -> CommandState:
    named = command.key if isinstance(command, OnMarket | OfMarket) else None
    return CommandState(
        match.controls,
        next((doubt.reason for doubt in match.doubts if doubt.kind == OPERATOR), ""),
        match.scheduled_at,
        None if named is None else book.get(named),
    )


_decode_state = msgspec.json.Decoder(CommandState).decode


async def undo(tx: Tx, command: Undo, match: Match) -> Effect:
    """The effect of taking back the command of an earlier revision. Raises `NotFound`, `Conflict`."""
    executed = await operator_commands.get(tx, match.id, command.of)
    if executed is None:
        raise NotFound(f"No command on this match has the revision {command.of}.")
    if executed.undone_by is not None:
        raise Conflict(f"That command was undone already (revision {executed.undone_by}).")
    undone = _decode_command(executed.command)
    await _check_window_undone(tx, match.id, undone)
    before, after = _decode_state(executed.before), _decode_state(executed.after)
    return undo_effect(undone, before, after, match, command.reason or f"revision {command.of} undone")


async def _check_window_undone(tx: Tx, match_id: UUID, undone: Command) -> None:
    """The bets that a command voided are still void, or those that it made valid still are."""
    if isinstance(undone, OnBets) and undone.window is not None:
        void = undone.window in void_windows(await history.ledger(tx, match_id), undone.key)
        if void is isinstance(undone, RollBackMarket):
            raise _changed_since()


def is_undoable(executed: ExecutedCommand) -> bool:
    """Whether the command can be taken back, unless what it changed has been changed since: it is of such a
    kind, has changed something and has not been undone."""
    command = _decode_command(executed.command)
    if executed.undone_by is not None or not of_undoable_kind(command):
        return False
    return _on_bets(command) or _changed(_decode_state(executed.before), _decode_state(executed.after))


def of_undoable_kind(command: Command) -> bool:
    """Whether commands of this kind can be taken back at all."""
    return isinstance(command, _UNDOABLE)


def _on_bets(command: Command) -> bool:
    """Whether it is about bets of a window, which the ledger shows; the market's state does not."""
    return isinstance(command, OnBets) and command.window is not None


def _changed(before: CommandState, after: CommandState) -> bool:
    """Whether they differ in what can be set back."""
    if before.market and after.market and _result(before) != _result(after):
        return True
    rescheduled = before.scheduled_at not in (None, after.scheduled_at)
    return rescheduled or (before.controls, before.suspended) != (after.controls, after.suspended)


def undo_effect(
    command: Command, before: CommandState, after: CommandState, match: Match, reason: str
) -> Effect:
    """The effect of taking back `command`, which led from `before` to `after`, on this match.

    Raises `Conflict` where it cannot be taken back; where the book does not allow it, the effect's `action`
    does.
    """
    if not of_undoable_kind(command):
        raise Conflict("A command of this kind cannot be undone.")
    if isinstance(command, c.OnBets) and command.window is not None:
        return _undo_on_bets(command, match, reason)
    if not isinstance(command, _ON_MARKETS):
        lifecycle.require_not_over(match, "changed")
    present = state_of(match, {}, command)
    if before.controls != after.controls:
        controls = taken_back(match.controls, before.controls, after.controls)
        if controls is None:
            raise _changed_since()
        return Effect(replace(match, controls=controls), (ControlsChanged(),))
    if before.suspended != after.suspended:
        if present.suspended != after.suspended:
            raise _changed_since()
        suspended = lifecycle.suspend(match, before.suspended) if before.suspended else None
        return Effect(*(suspended or lifecycle.unsuspend(match)))
    if before.scheduled_at != after.scheduled_at and before.scheduled_at is not None:
        if present.scheduled_at != after.scheduled_at:
            raise _changed_since()
        return Effect(*lifecycle.schedule(match, before.scheduled_at))
    if before.market is not None and after.market is not None and _result(before) != _result(after):
        return Effect(match, (), _market_as_before(before.market, after.market, reason))
    raise Conflict("It changed nothing that can be taken back.")


def _undo_on_bets(command: c.OnBets, match: Match, reason: str) -> Effect:
    """Void the bets of a window again, or make them valid again."""
    window, key = command.window, command.key
    assert window is not None
    if isinstance(command, c.VoidMarket):
        return Effect(match, (), market_actions.restore_bets(key, window, reason))
    return Effect(match, (), market_actions.void_bets(key, window, NOT_PLAYED, reason))


def _market_as_before(before: Market, after: Market, reason: str) -> ManualMarketAction:
    def act(book: Book) -> Reaction:
        if _decision(book.get(before.key)) != _decision(after):
            raise _changed_since()
        return _inverse(before, reason)(book)

    return act


def _inverse(before: Market, reason: str) -> ManualMarketAction:
    """The action that gives a market the operator's result that it had, or else opens it again: held, if it
    was, or for the engine to decide."""
    key = before.key
    if before.closed and before.settled_by == "admin":
        if before.result is Result.VOID:
            return market_actions.void(key, before.void_reason_id or 0, reason)
        return market_actions.settle(key, before.result or Result.VOID, reason)
    return market_actions.roll_back(key, reason, release=not before.held)


def _result(state: CommandState) -> object:
    return _decision(state.market)


def _decision(market: Market | None) -> object:
    return None if market is None else (market.open, market.result, market.void_reason_id, market.settled_by)


def _changed_since() -> Conflict:
    return Conflict("What this command changed has been changed again since.")
