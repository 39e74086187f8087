"""The data of the stream's frames: the shapes of REST, each with the match that it belongs to.

Match frames carry the match resource itself, settlements the ledger entry; both name their match already.
"""

from collections.abc import Sequence
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType

from app.domain.market import Market
from app.domain.match import Match, Round, TimelineEvent
from app.domain.match_info import VideoStream
from app.wire.fields import Groups
from app.wire.views.history import EventView, RoundView, event_view, round_view
from app.wire.views.match import MatchParts, MatchView, ScoreboardView, match_view, scoreboard_view
from app.wire.views.offers import MarketView, market_view

_encode = msgspec.json.Encoder().encode


class FrameMeta(msgspec.Struct, frozen=True, kw_only=True):
    """`seq` is the number of the change in the frame, the same on every channel; `hash` is that of `data`.

    `snapshot`: true in frames with the present state instead of a change; and in the `alive` that ends what
    is sent on connecting, whether that was a snapshot (else a resume).
    """

    ts: str
    seq: int
    hash: str
    snapshot: bool | UnsetType = UNSET


class MarketFrame(MarketView, frozen=True, kw_only=True):
    """A market as it is now. One that is neither active nor suspended is on offer no more."""

    match_id: str


class RoundStarted(msgspec.Struct, frozen=True):
    """A round is being played, freeze time over."""

    match_id: str
    map: int
    round: int


class RoundFinished(RoundView, frozen=True, kw_only=True):
    """A finished round that counts."""

    match_id: str


class EventFrame(EventView, frozen=True, kw_only=True):
    """Something that happened in a round."""

    match_id: str


class ScoreboardFrame(msgspec.Struct, frozen=True):
    """The scoreboard as it is now; null while no round is being played."""

    match_id: str
    scoreboard: ScoreboardView | None


def match_frame(parts: MatchParts, groups: Groups) -> MatchView:
    """The match resource; its id is there whatever the key may see."""
    view = match_view(parts, groups)
    return view if view.id is not UNSET else msgspec.structs.replace(view, id=str(parts.match.id))


def match_data(parts: MatchParts, groups: Groups) -> bytes:
    """`match_frame`, encoded."""
    return _encode(match_frame(parts, groups))


def market_frame(match_id: UUID, market: Market) -> MarketFrame:
    return MarketFrame(match_id=str(match_id), **msgspec.structs.asdict(market_view(market)))


def round_frame(match_id: UUID, played: Round) -> RoundFinished:
    return RoundFinished(match_id=str(match_id), **msgspec.structs.asdict(round_view(played)))


def event_frame(
    match_id: UUID, event: TimelineEvent, streams: Sequence[VideoStream] = (), *, internal: bool = False
) -> EventFrame:
    view = event_view(event, streams, internal=internal)
    return EventFrame(match_id=str(match_id), **msgspec.structs.asdict(view))


def scoreboard_frame(match: Match) -> ScoreboardFrame:
    return ScoreboardFrame(str(match.id), scoreboard_view(match))
