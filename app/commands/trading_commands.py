"""Traders' commands on one match: what is on offer, and at which price. All can be undone. At the end, the
union of all commands on a match, `AnyCommand`.

A market is named by its type and specifiers as in the feed, a group as in the operators' view of the markets.
`reason` is for the audit log; clients receive a general one.
"""

from typing import Annotated, Literal

from msgspec import Meta

from app.commands import match_commands as m
from app.commands.match_commands import Command, Number, TeamName, Words
from app.domain.market import MarketKey, PricePhase

MarketSpecifiers = Annotated[str, Meta(max_length=200)]
Group = Annotated[str, Meta(min_length=1, max_length=250)]


class TradingCommand(Command, frozen=True, kw_only=True):
    reason: Words = ""


class OfMarket(TradingCommand, frozen=True, kw_only=True):
    market_id: Number
    specifiers: MarketSpecifiers = ""

    @property
    def key(self) -> MarketKey:
        return self.market_id, self.specifiers


class SuspendMarket(OfMarket, frozen=True, tag="suspend_market"):
    """The market is not on offer until it is released, and neither are the others of its group."""


class ReleaseMarket(OfMarket, frozen=True, tag="release_market"):
    """Ends `suspend_market`, and the suspension of a market whose price would have moved too far."""


class SuspendGroup(TradingCommand, frozen=True, kw_only=True, tag="suspend_group"):
    group: Group


class ReleaseGroup(TradingCommand, frozen=True, kw_only=True, tag="release_group"):
    group: Group


class CloseType(TradingCommand, frozen=True, kw_only=True, tag="close_type"):
    """No new market of this type is offered on the match, and what is open of it is suspended, with what
    shares a group with it. Markets are settled as ever."""

    market_id: Number


class OpenType(TradingCommand, frozen=True, kw_only=True, tag="open_type"):
    """Ends `close_type`."""

    market_id: Number


class AddLine(OfMarket, frozen=True, tag="add_line"):
    """The line of this market is on offer, with its whole group, beside those that the service chooses, as
    long as it is open and its result is not all but certain."""


class WithdrawLine(OfMarket, frozen=True, tag="withdraw_line"):
    """The line of this market is never on offer; another may take its place."""


class SetMargin(TradingCommand, frozen=True, kw_only=True, tag="set_margin"):
    """The margin, a fraction, of one market type with the types of its groups (`market_id`; none: all) in one
    phase (none: all). What names a type goes before what names none, then what names a phase. `long_shots` is
    the part of the margin that a group's markets bear equally, not in proportion to their probability."""

    margin: Annotated[float, Meta(ge=0.005, le=0.5)]
    market_id: Number | None = None
    phase: PricePhase | Literal[""] = ""
    long_shots: Annotated[float, Meta(ge=0, le=1)] = 0.0


class ClearMargin(TradingCommand, frozen=True, kw_only=True, tag="clear_margin"):
    """Ends the `set_margin` of this type and phase."""

    market_id: Number | None = None
    phase: PricePhase | Literal[""] = ""


class SetMaxMove(TradingCommand, frozen=True, kw_only=True, tag="set_max_move"):
    """A market whose odds would move by this fraction or more at once is suspended with its group, until its
    price is within that of the last one again, or it is released. 0: any move."""

    max_move: Annotated[float, Meta(ge=0, le=10)]


class ShiftStrength(TradingCommand, frozen=True, kw_only=True, tag="shift_strength"):
    """From now on the team is stronger by so many points of the public ranking than the model has it; the
    rounds so far count at the strength of their time."""

    team: TeamName
    points: Annotated[float, Meta(ge=-1000, le=1000)]


class HoldProbability(OfMarket, frozen=True, kw_only=True, tag="hold_probability"):
    """The market's probability is this one, whatever the model says, and the others of its group share the
    rest. Markets that could contradict it are suspended. It ends with `release_probability`, when its result
    is all but certain, when a price moves without a cause, or with its round or map."""

    probability: Annotated[float, Meta(ge=0.03, le=0.97)]


class ReleaseProbability(OfMarket, frozen=True, tag="release_probability"):
    """Ends `hold_probability` for the market's group."""


class Undo(TradingCommand, frozen=True, kw_only=True, tag="undo"):
    """Take back the command with this revision (`of`), if nothing that it changed has been changed since."""

    of: Annotated[int, Meta(ge=1)]


AnyCommand = (
    m.Schedule
    | m.Cancel
    | m.SetTeams
    | m.Rate
    | m.RenameTeam
    | m.SetFormat
    | m.SetMaps
    | m.Describe
    | m.Suspend
    | m.Unsuspend
    | m.FollowSource
    | m.FollowReferences
    | m.NameSides
    | m.AcceptRestart
    | m.KeepBranch
    | m.AcceptEvents
    | m.VoidEvents
    | m.AwardMap
    | m.AwardMatch
    | m.VoidMarket
    | m.SettleMarket
    | m.RollBackMarket
    | m.UpholdClaim
    | SuspendMarket
    | ReleaseMarket
    | SuspendGroup
    | ReleaseGroup
    | CloseType
    | OpenType
    | AddLine
    | WithdrawLine
    | SetMargin
    | ClearMargin
    | SetMaxMove
    | ShiftStrength
    | HoldProbability
    | ReleaseProbability
    | Undo
)
