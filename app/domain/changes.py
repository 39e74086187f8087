"""What `transitions` says happened, for trading, the change log and the stream."""

import msgspec

from app.domain.match import MapPlay, Round, Slot, TimelineEvent


class Change(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    pass


class MatchStarted(Change):
    """First counted play: the kick-off."""


class MapStarted(Change):
    map: int


class RoundOpened(Change):
    """Freeze time of a round began."""

    map: int
    round: int


class RoundLive(Change):
    map: int
    round: int


class Happened(Change):
    event: TimelineEvent


class RoundFinished(Change):
    round: Round


class RoundsVoided(Change):
    """Rounds (and their events) that no longer count: restart, restore, a map played again."""

    map: int
    rounds: tuple[Round, ...]
    events: tuple[int, ...] = ()


class MapFinished(Change):
    map: MapPlay


class MatchFinished(Change):
    winner: Slot | None


class MatchCancelled(Change):
    pass


class Altered(Change):
    """Anything else that clients see: pause, suspension, sides, names, schedule."""
