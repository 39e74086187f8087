"""What has changed in a match: read by trading and written to the change log.

The tag of `RoundLive` is stored: its class keeps its name."""

import msgspec

from app.domain.match import MapPlay, Match, Round, Team, TimelineEvent


class MatchChange(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """What has changed in a match; a row of the change log is what clients receive of it."""


class MatchStarted(MatchChange, frozen=True):
    """First counted play: the kick-off."""


class MapStarted(MatchChange, frozen=True):
    map: int


class RoundOpened(MatchChange, frozen=True):
    """Freeze time of a round began."""

    map: int
    round: int


class RoundLive(MatchChange, frozen=True):
    map: int
    round: int


class EventAdded(MatchChange, frozen=True):
    event: TimelineEvent


class EventAmended(MatchChange, frozen=True):
    """An event reported before, now with more data (an assist that arrived later); same id."""

    event: TimelineEvent


class RoundFinished(MatchChange, frozen=True):
    """`timeline` holds all events of the round, in order, those of earlier batches too."""

    round: Round
    timeline: tuple[TimelineEvent, ...] = ()


class RoundAmended(MatchChange, frozen=True):
    """A round that was finished before, with other data; same id."""

    round: Round


class EventsVoided(MatchChange, frozen=True):
    """What rests on the events of a finished round is void, also what was settled before: an operator says
    so."""

    map: int
    round: int


class RoundsVoided(MatchChange, frozen=True):
    """Rounds, and events by history id, that no longer count: restart, restore, a map played again.

    `rounds` may be empty, when only events of an unfinished round are void. `replayed_from`: when the play
    began that is void and is played again (Unix ms); None where nothing is played again.
    """

    map: int
    rounds: tuple[Round, ...]
    events: tuple[int, ...] = ()
    replayed_from: int | None = None


class RoundsReinstated(MatchChange, frozen=True):
    """Rounds, and events by history id, that were void or not published, and count from now on: a backup of
    another branch was loaded, or the play since a restart counts. `events` has those of the round in play,
    too."""

    map: int
    rounds: tuple[Round, ...]
    events: tuple[int, ...] = ()


class PlayRecorded(MatchChange, frozen=True):
    """Play since a restart in doubt: rounds and events that do not count. They are stored, so that they can
    be reinstated, and not published."""

    rounds: tuple[Round, ...] = ()
    events: tuple[TimelineEvent, ...] = ()


class MapFinished(MatchChange, frozen=True):
    map: MapPlay


class MatchFinished(MatchChange, frozen=True):
    winner: Team | None


class MatchCancelled(MatchChange, frozen=True):
    pass


class FormatChanged(MatchChange, frozen=True):
    """The format of the series or its maps changed; these are the values before."""

    best_of: int
    max_rounds: int
    overtime_rounds: int


class DetailsChanged(MatchChange, frozen=True):
    """Anything else that clients see or settlements rest on: pause, suspension, sides, names, schedule,
    format, unseen rounds."""


class ControlsChanged(MatchChange, frozen=True):
    """What traders have set on the match changed: every price may be another."""


MatchChanges = list[MatchChange]  #: what has changed so far; each step appends to it
MatchAndChanges = tuple[Match, tuple[MatchChange, ...]]  #: a match after a command, and what that changed
#: Any of them, for decoding.
AnyChange = (
    MatchStarted
    | MapStarted
    | RoundOpened
    | RoundLive
    | EventAdded
    | EventAmended
    | RoundFinished
    | RoundAmended
    | EventsVoided
    | RoundsVoided
    | RoundsReinstated
    | PlayRecorded
    | MapFinished
    | MatchFinished
    | MatchCancelled
    | FormatChanged
    | DetailsChanged
    | ControlsChanged
)
