"""What `transitions` says happened, for trading, the change log and the stream."""

import msgspec

from app.domain.match import MapPlay, Round, Slot, TimelineEvent


class Change(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    pass


class MatchStarted(Change, frozen=True):
    """First counted play: the kick-off."""


class MapStarted(Change, frozen=True):
    map: int


class RoundOpened(Change, frozen=True):
    """Freeze time of a round began."""

    map: int
    round: int


class RoundLive(Change, frozen=True):
    map: int
    round: int


class EventAdded(Change, frozen=True):
    event: TimelineEvent


class EventAmended(Change, frozen=True):
    """An event told earlier, now known better (an assist that arrived later); same id."""

    event: TimelineEvent


class RoundFinished(Change, frozen=True):
    """`timeline` is everything that happened in the round, in order, whichever batch told it."""

    round: Round
    timeline: tuple[TimelineEvent, ...] = ()


class RoundsVoided(Change, frozen=True):
    """Rounds, and events by fact number, that no longer count: restart, restore, a map played again.

    `rounds` may be empty, when only events of an unfinished round are void. `replayed_from`: when the play
    began that is void and is played again (Unix ms); None where nothing is played again.
    """

    map: int
    rounds: tuple[Round, ...]
    events: tuple[int, ...] = ()
    replayed_from: int | None = None


class MapFinished(Change, frozen=True):
    map: MapPlay


class MatchFinished(Change, frozen=True):
    winner: Slot | None


class MatchCancelled(Change, frozen=True):
    pass


class FormatChanged(Change, frozen=True):
    """The series or its maps are played in another format; here is the one before."""

    best_of: int
    max_rounds: int
    overtime_rounds: int


class MatchChanged(Change, frozen=True):
    """Anything else that clients see or settlements rest on: pause, suspension, sides, names, schedule,
    format, rounds that nobody saw."""


Changes = list[Change]  #: what a transition has changed so far; each step appends to it
