"""The facts of a match that count now: what a settlement may rest on.

A `Match` holds every counted round but only the events of the round being played. The events of rounds that
ended within the same batch come with the changes; those of older rounds are needed only where these are
reinstated: what rests on them was settled when they ended.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec
from msgspec.structs import replace
from propcache.api import cached_property

from app.domain.changes import (
    EventAdded,
    EventAmended,
    MatchChange,
    PlayRecorded,
    RoundFinished,
    RoundLive,
    RoundOpened,
    RoundsReinstated,
    RoundsVoided,
)
from app.domain.map_play import player_kills
from app.domain.match import MapPlay, Match, Round, Status, TimelineEvent
from app.domain.settlement import LedgerEntry
from app.trading.kept import kept, kept_by_key

RoundKey = tuple[int, int]  #: map number, round number
PlayerKey = tuple[int, int]  #: map number, account
Subject = tuple[int, int, int]  #: what events are about: a map, and of it a round or a player's account
_OVER = (Status.FINISHED, Status.CANCELLED)
#: Changes that end nothing: of these only events can decide a market.
_WITHIN_ROUNDS = (EventAdded, EventAmended, RoundOpened, RoundLive)


class Past(msgspec.Struct, frozen=True):
    """What is stored of a match beyond its state: the events of earlier rounds, the history ids of rounds and
    events that are void, and the ledger, where rounds are reinstated."""

    events: Sequence[TimelineEvent] = ()
    voided: frozenset[int] = frozenset()
    ledger: Sequence[LedgerEntry] = ()


class MatchFacts(msgspec.Struct, frozen=True, dict=True):
    """`live` is the map being played, unless it is decided. `counted_rounds` are the counted rounds by map,
    `rounds` the same by `RoundKey`. `confirmed` are those of them that the map's final score may rest on
    before the map's end is known. `events` are by `RoundKey`, in order; `complete` returns where none is
    missing. `voided` are the history ids that the changes made void. `ignores_gaps`: nothing is
    missing, gaps or not (for the audit).
    """

    match: Match
    live: MapPlay | None
    plays: dict[int, MapPlay]
    counted_rounds: dict[int, tuple[Round, ...]]
    confirmed: dict[int, tuple[Round, ...]]
    rounds: dict[RoundKey, Round]
    events: dict[RoundKey, tuple[TimelineEvent, ...]]
    voided: frozenset[int] = frozenset()
    ignores_gaps: bool = False

    def play(self, number: int) -> MapPlay:
        """The map with this number; an unplayed one in the match's format when there is none yet."""
        return self.plays.get(number) or _unplayed(number, self.match.max_rounds, self.match.overtime_rounds)

    def counted(self, number: int) -> tuple[Round, ...]:
        """The map's counted rounds, in order."""
        return self.counted_rounds.get(number, ())

    @kept_by_key
    def complete(self, round_key: RoundKey) -> bool:
        """The round is over and all its recorded events are here."""
        played = self.rounds.get(round_key)
        if played is None:
            return False
        known = {event.id for event in self.events.get(round_key, ())}
        return known.issuperset(played.events)

    @kept_by_key
    def counted_kills(self, round_key: RoundKey) -> tuple[TimelineEvent, ...]:
        """The known kills of a round that markets count, in order."""
        return tuple([event for event in self.events.get(round_key, ()) if event.counts_for_markets])

    def unseen(self, round_key: RoundKey) -> bool:
        """The round is in the score, but the log did not show how it ended."""
        play = self.plays.get(round_key[0])
        return play is not None and round_key[1] in play.unseen

    def gap(self, round_key: RoundKey) -> bool:
        """Data was missing while this round was played: an event without a line may have happened."""
        played, current = self.rounds.get(round_key), self.match.current
        if self.ignores_gaps:
            return False
        if played is not None:
            return played.gap
        return current is not None and (current.map, current.number) == round_key and current.gap

    def events_in_doubt(self, about: Subject) -> bool:
        """Whether the events that a market about this rests on are in doubt: those of its round, or of every
        round of the map, the one in play too."""
        number, round_number, _ = about
        doubted = self.doubted_rounds.get(number)
        return doubted is not None and (not round_number or round_number in doubted)

    @cached_property
    def doubted_rounds(self) -> dict[int, list[int]]:
        """The rounds whose events are in doubt, of each map that has such."""
        found = {
            number: [one.number for one in play.in_doubt]
            for number, play in self.plays.items()
            if play.in_doubt
        }
        current = self.match.current
        if current and current.doubted_by:
            found.setdefault(current.map, []).append(current.number)
        return found

    @cached_property
    def kills(self) -> dict[PlayerKey, tuple[int, ...]]:
        """Each player's kills on a map, in order; none for those who were only killed."""
        found = {
            (number, account): ids
            for number, play in self.plays.items()
            for account, ids in _kills_of_rounds(play).items()
        }
        current = self.match.current
        if current is not None and (current.map, current.number) not in self.rounds:
            for one in player_kills(current.events):
                key = current.map, one.account
                found[key] = found.get(key, ()) + one.ids
        return found

    def lasting_kills(self, player: PlayerKey) -> tuple[int, ...]:
        """Those of the player's `kills` in rounds that began before their map was decided by the rules: they
        count however it ends."""
        number, account = player
        found = _lasting_kills_of_rounds(self.play(number)).get(account, ())
        return found + self._lasting_kills_in_progress.get(player, ())

    @cached_property
    def _lasting_kills_in_progress(self) -> dict[PlayerKey, tuple[int, ...]]:
        """Those of the round in progress."""
        current = self.match.current
        if current is None or (current.map, current.number) in self.rounds or self.play(current.map).decided:
            return {}
        return {(current.map, one.account): one.ids for one in player_kills(current.events)}

    @cached_property
    def kills_in_round(self) -> int:
        """How many kills of the round in progress markets count."""
        current = self.match.current
        return sum([event.counts_for_markets for event in current.events]) if current else 0

    @kept_by_key
    def kills_known(self, number: int) -> bool:
        """Whether no kill of the map's counted rounds may be missing."""
        play = self.play(number)
        if play.unseen or play.in_doubt:
            return False
        return all(one.kills is not None and not one.gap for one in self.counted(number))

    def format_open(self, number: int) -> bool:
        """Whether the map's number of rounds is in doubt: what depends on it is not known."""
        return number in self.match.format_status.doubted_maps

    @property
    def cancelled(self) -> bool:
        return self.match.status is Status.CANCELLED

    @property
    def over(self) -> bool:
        return self.match.status in _OVER


def collect_facts(match: Match, changes: Sequence[MatchChange], past: Past | None = None) -> MatchFacts:
    """The facts after `changes`; `match` is the state after them. `past`: if the state does not suffice."""
    standing = whether_standing(changes)
    voided = {number for number, stands in standing.items() if not stands}
    events = [event for change in changes for event in _events(change)]
    if past:
        events = [*past.events, *events]
        voided |= {number for number in past.voided if not standing.get(number)}
    if standing:
        events = [replace(event, void=False) if standing.get(event.id) else event for event in events]
    if match.current:
        events.extend(match.current.events)
    return facts_from_events(match, events, frozenset(voided))


def whether_standing(changes: Sequence[MatchChange]) -> dict[int, bool]:
    """By history id, whether a round or an event counts now, for those that these changes void or
    reinstate."""
    found: dict[int, bool] = {}
    for change in changes:
        if isinstance(change, RoundsVoided | RoundsReinstated):
            found |= dict.fromkeys(_numbers(change), isinstance(change, RoundsReinstated))
    return found


def events_alone(changes: Sequence[MatchChange]) -> list[TimelineEvent] | None:
    """The events of rounds in these changes; None when more changed that a settlement may rest on."""
    if not all(isinstance(change, _WITHIN_ROUNDS) for change in changes):
        return None
    return [change.event for change in changes if isinstance(change, EventAdded | EventAmended)]


def facts_from_events(
    match: Match, known: Iterable[TimelineEvent], voided: frozenset[int] = frozenset()
) -> MatchFacts:
    """The facts of a match with all its known events; void ones are left out."""
    valid = {event.id: event for event in known if not event.void and event.id not in voided}
    events: dict[RoundKey, list[TimelineEvent]] = {}
    for number in sorted(valid):
        event = valid[number]
        events.setdefault((event.map, event.round), []).append(event)
    rounds = {play.number: play.counted for play in match.maps}
    live = match.map
    return MatchFacts(
        match=match,
        live=live if live and not live.decided else None,
        plays={play.number: play for play in match.maps},
        counted_rounds=rounds,
        confirmed={play.number: _confirmed(play, rounds[play.number]) for play in match.maps},
        rounds=_rounds(match),
        events={round_key: tuple(found) for round_key, found in events.items()},
        voided=voided,
    )


@lru_cache(maxsize=256)
def _unplayed(number: int, max_rounds: int, overtime_rounds: int) -> MapPlay:
    return MapPlay(number=number, max_rounds=max_rounds, overtime_rounds=overtime_rounds)


def _rounds(match: Match) -> dict[RoundKey, Round]:
    found: dict[RoundKey, Round] = {}
    for play in match.maps:
        found.update(_rounds_of(play))
    return found


@kept
def _rounds_of(play: MapPlay) -> dict[RoundKey, Round]:
    """The counted rounds of a map."""
    return {(play.number, played.number): played for played in play.counted}


@kept
def _kills_of_rounds(play: MapPlay) -> dict[int, tuple[int, ...]]:
    """The kills in a map's counted rounds by account, in order."""
    return _by_account(play.counted)


@kept
def _lasting_kills_of_rounds(play: MapPlay) -> dict[int, tuple[int, ...]]:
    """The same in its rounds until it was decided by the rules, and in the one that decided it."""
    return _by_account(play.rounds_through_decision)


def _by_account(rounds: Iterable[Round]) -> dict[int, tuple[int, ...]]:
    found: dict[int, list[int]] = {}
    for played in rounds:
        for one in played.kills or ():
            found.setdefault(one.account, []).extend(one.ids)
    return {account: tuple(ids) for account, ids in found.items()}


def _confirmed(play: MapPlay, counted: tuple[Round, ...]) -> tuple[Round, ...]:
    """The rounds before the one that decided the map, which settles nothing alone: the map's end confirms
    it, or the award of a map that was cut short."""
    undecided = play.rounds_until_decision
    return counted[: len(undecided) + 1] if play.awarded else undecided


def _numbers(change: RoundsVoided | RoundsReinstated) -> Iterable[int]:
    yield from change.events
    for played in change.rounds:
        yield played.id
        yield from played.events


def _events(change: MatchChange) -> tuple[TimelineEvent, ...]:
    if isinstance(change, EventAdded):
        return (change.event,)
    if isinstance(change, PlayRecorded):
        return change.events
    return change.timeline if isinstance(change, RoundFinished) else ()
