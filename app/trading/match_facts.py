"""What a verdict may rest on: the facts of a match that stand now.

A `Match` holds every counted round but only the events of the round being played. The events of
rounds that ended within the same batch come with the changes; those of older rounds are not needed
again, because what rests on them was settled when they ended.
"""

from collections.abc import Iterable, Sequence

import msgspec

from app.domain.changes import Change, EventAdded, RoundFinished, RoundsVoided
from app.domain.match import MapPlay, Match, Round, Status, TimelineEvent

Place = tuple[int, int]  #: map number, round number


class Evidence(msgspec.Struct, frozen=True):
    """Facts that stand. `live` is the map being played, unless it is decided. `standing` are the counted
    rounds by map, `rounds` the same by place. `confirmed` are those of them that say something of the map's
    final score before its end is told. `events` are by place, in order; `complete` tells where none is
    missing. `voided` are the fact numbers that the changes took back. `whole`: what is known is all there
    is, gaps or not (for the audit).
    """

    match: Match
    live: MapPlay | None
    plays: dict[int, MapPlay]
    standing: dict[int, tuple[Round, ...]]
    confirmed: dict[int, tuple[Round, ...]]
    rounds: dict[Place, Round]
    events: dict[Place, tuple[TimelineEvent, ...]]
    voided: frozenset[int] = frozenset()
    whole: bool = False

    def play(self, number: int) -> MapPlay:
        """The map with this number; an unplayed one in the match's format when there is none yet."""
        return self.plays.get(number) or MapPlay(
            number=number, max_rounds=self.match.max_rounds, overtime_rounds=self.match.overtime_rounds
        )

    def counted(self, number: int) -> tuple[Round, ...]:
        """The map's rounds that stand, in order."""
        return self.standing.get(number, ())

    def complete(self, place: Place) -> bool:
        """The round is over and everything that was told about it is here."""
        played = self.rounds.get(place)
        if played is None:
            return False
        known = {event.id for event in self.events.get(place, ())}
        return known.issuperset(played.events)

    def unseen(self, place: Place) -> bool:
        """The round is in the score, but nobody told us how it ended."""
        play = self.plays.get(place[0])
        return play is not None and place[1] in play.unseen

    def gap(self, place: Place) -> bool:
        """Data was missing while this round was played: what was not seen may still have happened."""
        played, current = self.rounds.get(place), self.match.current
        if self.whole:
            return False
        if played is not None:
            return played.gap
        return current is not None and (current.map, current.number) == place and current.gap

    def format_open(self, number: int) -> bool:
        """Whether it is in doubt how many rounds this map has: what depends on that is not known."""
        return number in self.match.format_status.open_maps

    @property
    def cancelled(self) -> bool:
        return self.match.status is Status.CANCELLED

    @property
    def over(self) -> bool:
        return self.match.status in (Status.FINISHED, Status.CANCELLED)


def gather(match: Match, changes: Sequence[Change]) -> Evidence:
    """The evidence after `changes`; `match` is the state after them."""
    voided = {number for change in changes if isinstance(change, RoundsVoided) for number in _numbers(change)}
    told = [event for change in changes for event in _told(change)]
    if match.current:
        told.extend(match.current.events)
    return compose(match, told, frozenset(voided))


def compose(match: Match, told: Iterable[TimelineEvent], voided: frozenset[int] = frozenset()) -> Evidence:
    """Evidence from a match and all events known about it; void ones are left out."""
    standing = {event.id: event for event in told if not event.void and event.id not in voided}
    events: dict[Place, list[TimelineEvent]] = {}
    for number in sorted(standing):
        event = standing[number]
        events.setdefault((event.map, event.round), []).append(event)
    rounds = {play.number: play.counted for play in match.maps}
    live = match.map
    return Evidence(
        match=match,
        live=live if live and not live.decided else None,
        plays={play.number: play for play in match.maps},
        standing=rounds,
        confirmed={play.number: _confirmed(play) for play in match.maps},
        rounds={(number, played.number): played for number, counted in rounds.items() for played in counted},
        events={place: tuple(found) for place, found in events.items()},
        voided=voided,
    )


def _confirmed(play: MapPlay) -> tuple[Round, ...]:
    """The rounds before the one that decided the map, which settles nothing alone: the map's end confirms
    it, or the award of a map that was cut short."""
    undecided = play.undecided
    return play.counted[: len(undecided) + 1] if play.awarded else undecided


def _numbers(change: RoundsVoided) -> Iterable[int]:
    yield from change.events
    for played in change.rounds:
        yield played.id
        yield from played.events


def _told(change: Change) -> tuple[TimelineEvent, ...]:
    if isinstance(change, EventAdded):
        return (change.event,)
    return change.timeline if isinstance(change, RoundFinished) else ()
