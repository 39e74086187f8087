"""Changes over HTTP: the stream's frames, each with the struct of its data, and the page that carries
some."""

from typing import Generic, TypeVar, get_args

import msgspec
from msgspec import UNSET, UnsetType

from app.wire.views.claims import ClaimView
from app.wire.views.frames import (
    EventFrame,
    FrameMeta,
    MarketFrame,
    RoundFinished,
    RoundStarted,
    ScoreboardFrame,
)
from app.wire.views.match import MatchView
from app.wire.views.meta import AliveView
from app.wire.views.offers import SettlementView

T = TypeVar("T")


class _Frame(msgspec.Struct, Generic[T], frozen=True, tag_field="type"):
    data: T
    meta: FrameMeta


class Alive(_Frame[AliveView], frozen=True, tag="alive"):
    """Everything that was committed up to `meta.seq` has been sent before this."""


class MatchCreated(_Frame[MatchView], frozen=True, tag="match.created"):
    """A match that is new."""


class MatchUpdated(_Frame[MatchView], frozen=True, tag="match.updated"):
    """A match as it is now; in a snapshot, one that is live."""


class MatchFinished(_Frame[MatchView], frozen=True, tag="match.finished"):
    """A match that has just finished."""


class RoundBegan(_Frame[RoundStarted], frozen=True, tag="round.started"):
    """A round is live: freeze time is over."""


class RoundWon(_Frame[RoundFinished], frozen=True, tag="round.finished"):
    """A round was won."""


class Kill(_Frame[EventFrame], frozen=True, tag="event.kill"):
    """A kill, of a team mate too."""


class BombPlanted(_Frame[EventFrame], frozen=True, tag="event.bomb_planted"):
    """The bomb was planted."""


class BombDefused(_Frame[EventFrame], frozen=True, tag="event.bomb_defused"):
    """The bomb was defused."""


class BombExploded(_Frame[EventFrame], frozen=True, tag="event.bomb_exploded"):
    """The bomb exploded."""


class MarketCreated(_Frame[MarketFrame], frozen=True, tag="market.created"):
    """A market that is new."""


class MarketUpdated(_Frame[MarketFrame], frozen=True, tag="market.updated"):
    """A market as it is now: another price, settled, voided; in a snapshot, on offer."""


class MarketSuspended(_Frame[MarketFrame], frozen=True, tag="market.suspended"):
    """Take no bets on this market now."""


class MarketUnsuspended(_Frame[MarketFrame], frozen=True, tag="market.unsuspended"):
    """The market is on offer again."""


class Settlement(_Frame[SettlementView], frozen=True, tag="bet_settlement"):
    """An entry of the settlement ledger."""


class ClaimOpened(_Frame[ClaimView], frozen=True, tag="claim.opened"):
    """Your claim that a result is wrong. As all frames about claims it is sent to its tenant alone."""


class ClaimTaken(_Frame[ClaimView], frozen=True, tag="claim.taken"):
    """An operator works on the claim."""


class ClaimAnswered(_Frame[ClaimView], frozen=True, tag="claim.answered"):
    """The result stands, for the reason in `answer`."""


class ClaimUpheld(_Frame[ClaimView], frozen=True, tag="claim.upheld"):
    """The result is wrong, and will be corrected."""


class ClaimCorrected(_Frame[ClaimView], frozen=True, tag="claim.corrected"):
    """The result is corrected: the rollback and the new result were sent before this."""


class ClaimWithdrawn(_Frame[ClaimView], frozen=True, tag="claim.withdrawn"):
    """You have withdrawn the claim."""


class Scoreboard(_Frame[ScoreboardFrame], frozen=True, tag="scoreboard.frame"):
    """The scoreboard as it is now."""


ChangeFrame = (
    Alive
    | MatchCreated
    | MatchUpdated
    | MatchFinished
    | RoundBegan
    | RoundWon
    | Kill
    | BombPlanted
    | BombDefused
    | BombExploded
    | MarketCreated
    | MarketUpdated
    | MarketSuspended
    | MarketUnsuspended
    | Settlement
    | ClaimOpened
    | ClaimTaken
    | ClaimAnswered
    | ClaimUpheld
    | ClaimCorrected
    | ClaimWithdrawn
    | Scoreboard
)
#: By the type of the frame.
FRAMES: dict[str, type[msgspec.Struct]] = {one.__struct_config__.tag: one for one in get_args(ChangeFrame)}


class ChangesMeta(msgspec.Struct, frozen=True, kw_only=True):
    """`count`: frames in this page. `more`: at once another page follows. `next_since_seq` leads to what
    follows; `next_cursor`, in its place, to the next part of a snapshot."""

    count: int
    limit: int
    more: bool
    next_since_seq: int | UnsetType = UNSET
    next_cursor: str | UnsetType = UNSET


class ChangePage(msgspec.Struct, frozen=True):
    """Frames, as the stream sends them."""

    data: tuple[ChangeFrame, ...]
    meta: ChangesMeta
