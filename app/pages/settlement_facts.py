"""The facts that a settlement rests on, in the order in which they happened; pure."""

from collections.abc import Collection, Iterable

import msgspec

from app.domain.match import MapPlay, Round, TimelineEvent


class RoundFacts(msgspec.Struct, frozen=True):
    """A round, and those of its events that count here. `played` is its result, None where only its events
    are known."""

    map: int
    round: int
    played: Round | None
    events: tuple[TimelineEvent, ...]


class Facts(msgspec.Struct, frozen=True):
    """`unknown` are the ids of facts that are not stored (any more)."""

    rounds: tuple[RoundFacts, ...]
    map_ends: tuple[MapPlay, ...]
    unknown: tuple[int, ...]


def facts_of(
    rests_on: Collection[int],
    rounds: Iterable[Round],
    events: Iterable[TimelineEvent],
    maps: Iterable[MapPlay],
) -> Facts:
    """The facts with these history ids, of everything that happened in the match."""
    ids = set(rests_on)
    ended = tuple(each for each in maps if each.end_id in ids)
    played = {each.id: each for each in rounds if each.id in ids}
    happened = [each for each in events if each.id in ids]
    known = played.keys() | {each.id for each in happened} | {each.end_id for each in ended}
    results = {(each.map, each.number): each for each in played.values()}
    places = sorted(results.keys() | {(each.map, each.round) for each in happened})
    return Facts(
        tuple(_round(place, results.get(place), happened) for place in places),
        ended,
        tuple(sorted(ids - known)),
    )


def _round(place: tuple[int, int], played: Round | None, happened: Iterable[TimelineEvent]) -> RoundFacts:
    events = sorted((each for each in happened if (each.map, each.round) == place), key=_when)
    return RoundFacts(*place, played, tuple(events))


def _when(event: TimelineEvent) -> tuple[int, int]:
    return event.at, event.id
