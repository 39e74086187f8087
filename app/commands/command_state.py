"""What a command can change that can be taken back, as it was before it and after it."""

import msgspec

from app.commands.command_fields import Command
from app.commands.match_commands import OnMarket
from app.commands.trading_commands import OfMarket
from app.domain.doubts import OPERATOR
from app.domain.market import Book, Market
from app.domain.match import Match
from app.domain.trading_controls import NO_CONTROLS, TradingControls


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
