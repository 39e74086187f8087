"""What has changed in a match: read by trading and written to the change log.

The tag of `RoundLive` is stored: its class keeps its name."""

import msgspec

from app.domain.match import MapPlay, Round, Team, TimelineEvent


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
    """An event reported before, now with more data (an assist that arrived later); same id."""

    event: TimelineEvent


class RoundFinished(Change, frozen=True):
    """`timeline` holds all events of the round, in order, those of earlier batches too."""

    round: Round
    timeline: tuple[TimelineEvent, ...] = ()


class RoundsVoided(Change, frozen=True):
    """Rounds, and events by history id, that no longer count: restart, restore, a map played again.

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
    winner: Team | None


class MatchCancelled(Change, frozen=True):
    pass


class FormatChanged(Change, frozen=True):
    """The format of the series or its maps changed; these are the values before."""

    best_of: int
    max_rounds: int
    overtime_rounds: int


class MatchChanged(Change, frozen=True):
    """Anything else that clients see or settlements rest on: pause, suspension, sides, names, schedule,
    format, unseen rounds."""


Changes = list[Change]  #: what has changed so far; each step appends to it
