"""Which rounds of a map count: its history is a tree.

Each round names the one that it was played after (`Round.previous`). A branch is the way from the map's
beginning to a round. The rounds of one branch count; all others are void, and stay, because a backup that is
loaded later may be one of theirs. A server writes a backup for each number of rounds and overwrites that of
an earlier branch: of places with the same score the one that was played last is meant.
"""

from collections.abc import Iterator, Sequence

import msgspec
from msgspec.structs import replace

from app.domain.changes import MatchChanges, RoundsReinstated, RoundsVoided
from app.domain.match import CurrentRound, MapPlay, Match, OtherDeath, Round, Side, other_side
from app.domain.round_knowledge import forget_equipment
from app.domain.sides import is_side_break, update_map
from app.kit.grouping import grouped

Score = tuple[int, int]  #: home's and away's rounds
_SIDES: tuple[Side, ...] = ("CT", "T")


class Place(msgspec.Struct, frozen=True):
    """A score that the map had: after round `leaf` (None: no round that was seen) of a branch, with home's
    side in the next round, None while unknown. `rank` grows with when it was played last."""

    leaf: Round | None
    score: Score
    home_side: Side | None
    rank: int


class _Span(msgspec.Struct, frozen=True):
    """The scores from `least` to `most` after round `leaf`, with home on one of `sides` in the next round."""

    leaf: Round | None
    least: Score
    most: Score
    sides: tuple[Side, ...]
    rank: int


def branch(play: MapPlay, leaf: Round | None) -> tuple[Round, ...]:
    """The rounds of the branch that ends with `leaf`, in order."""
    by_id = {played.id: played for played in play.rounds}
    found: list[Round] = []
    while leaf is not None:
        found.append(leaf)
        leaf = by_id.get(_previous(play, leaf))
    return tuple(reversed(found))


def _previous(play: MapPlay, played: Round) -> int:
    """The id of the round before it; for one that was stored without: the last one before it that has a lower
    number."""
    if played.previous is not None:
        return played.previous
    earlier = [one.id for one in play.rounds if one.id < played.id and one.number < played.number]
    return max(earlier, default=0)


def find_place(play: MapPlay, ct_score: int, t_score: int) -> Place | None:
    """Where the map had this score, other than now; the place that was played last."""
    found = [
        place
        for span in _spans(play)
        if (place := _place_in(span, ct_score, t_score)) is not None and not _is_present(play, place)
    ]
    return max(found, key=lambda place: place.rank, default=None)


def place_after(play: MapPlay, number: int) -> Place | None:
    """The same, by the number of rounds alone: after round `number` as it was played last."""
    ends = [span for span in _spans(play) if span.least == span.most and sum(span.least) == number]
    last = max(ends, key=lambda span: span.rank, default=None)
    if last is None:
        return None
    return Place(last.leaf, last.least, _only(last.sides), last.rank)


def _is_present(play: MapPlay, place: Place) -> bool:
    return sum(place.score) == play.rounds_won and _id(place.leaf) == _id(play.last_counted)


def _id(played: Round | None) -> int:
    return played.id if played else 0


def _place_in(span: _Span, ct_score: int, t_score: int) -> Place | None:
    """The place with this score by side; home's side is unknown where both sides give one."""
    found = [
        (side, score)
        for side in span.sides
        if _within(span, score := (ct_score, t_score) if side == "CT" else (t_score, ct_score))
    ]
    if not found:
        return None
    return Place(span.leaf, found[0][1], _only([side for side, _ in found]), span.rank)


def _within(span: _Span, score: Score) -> bool:
    return all(low <= won <= high for low, won, high in zip(span.least, score, span.most, strict=True))


def _only(sides: Sequence[Side]) -> Side | None:
    return sides[0] if len(sides) == 1 else None


def _spans(play: MapPlay) -> Iterator[_Span]:
    """Every score that the map had: at its beginning, after each round, and in between, where rounds were not
    seen."""
    following = grouped((_previous(play, played), played) for played in play.rounds)
    present = play.last_counted
    for leaf in (None, *play.rounds):
        score = (leaf.home_score, leaf.away_score) if leaf else (0, 0)
        next_rounds = following.get(_id(leaf), [])
        yield _Span(leaf, score, score, _sides_after(play, leaf, next_rounds), _id(leaf))
        for later in next_rounds:
            if later.number > sum(score) + 1:
                yield _Span(leaf, score, later.score_before, (later.home_side,), later.id)
        if _id(leaf) == _id(present) and play.rounds_won > sum(score):
            sides = (play.home_side,) if play.home_side else ()
            newest = max([played.id for played in play.rounds], default=0)
            yield _Span(leaf, score, (play.home_score, play.away_score), sides, newest + 1)


def _sides_after(play: MapPlay, leaf: Round | None, next_rounds: Sequence[Round]) -> tuple[Side, ...]:
    """On which side home may play the round after `leaf`."""
    if next_rounds and next_rounds[-1].number == (leaf.number if leaf else 0) + 1:
        return (next_rounds[-1].home_side,)
    if leaf is None:
        return (play.home_side,) if play.home_side else _SIDES
    if not is_side_break(replace(play, home_score=leaf.home_score, away_score=leaf.away_score)):
        return (leaf.home_side,)
    return (other_side(leaf.home_side),) if leaf.number * 2 == play.max_rounds else _SIDES


def recount(
    match: Match, counted: Sequence[Round], score: Score, changes: MatchChanges, *, replayed: bool
) -> Match:
    """Let these rounds of the map in play count, and no others, at this score; the current round is dropped.

    `replayed`: what is void now is played again. What changed is reported, except of play that is not
    published (`restarts`).
    """
    play = match.map
    if play is None:
        return match
    standing = {played.id for played in counted}
    rounds = tuple(replace(played, void=played.id not in standing) for played in play.rounds)
    seen, total = {played.number for played in counted}, sum(score)
    after = replace(
        play,
        rounds=rounds,
        unseen=tuple(number for number in range(1, total + 1) if number not in seen),
        home_score=score[0],
        away_score=score[1],
    )
    gone = next((played for played in play.counted if played.id not in standing), None)
    if gone is not None:
        after = replace(after, home_side=gone.home_side, side_before_break=None)
    if match.restart is None:
        report_difference(play, match.current, after, changes, replayed=replayed)
    match = update_map(forget_equipment(match), after)
    return replace(match, current=None, other_deaths=deaths_that_count(match.other_deaths, after))


def deaths_that_count(deaths: Sequence[OtherDeath], play: MapPlay) -> tuple[OtherDeath, ...]:
    """Of the deaths without a kill those of other maps, and those of the map's rounds that count."""
    of_others = [death for death in deaths if death.map != play.number]
    return (*of_others, *[death for played in play.counted for death in played.other_deaths])


def report_difference(
    before: MapPlay,
    current: CurrentRound | None,
    after: MapPlay,
    changes: MatchChanges,
    *,
    replayed: bool,
    unfinished: Sequence[int] = (),
    reported: frozenset[int] = frozenset(),
) -> None:
    """Append which rounds of the map are void and which are reinstated `after`, and which events with them.

    `current` is the round in play `before`, of which nothing counts any more unless it was over.
    `unfinished` are the events of the round in play `after`. Rounds and events in `reported` are reported by
    other changes.
    """
    known, standing = _ids(before.counted), _ids(after.counted)
    voided = tuple(replace(played, void=True) for played in before.counted if played.id not in standing)
    dropped = current.events if current is not None and current.number > before.rounds_won else ()
    events = {event.id for event in dropped}.union(*[played.events for played in voided])
    if voided or events:
        total = after.rounds_won if standing <= known else _last_number(before, standing)
        since = _replayed_from(before, current, voided, total) if replayed else None
        changes.append(
            RoundsVoided(map=before.number, rounds=voided, events=tuple(sorted(events)), replayed_from=since)
        )
    reinstated = tuple(played for played in after.counted if played.id not in known | reported)
    events = set(unfinished).union(*[played.events for played in reinstated]) - reported
    if reinstated or events:
        changes.append(RoundsReinstated(map=before.number, rounds=reinstated, events=tuple(sorted(events))))


def _ids(rounds: Sequence[Round]) -> frozenset[int]:
    return frozenset([played.id for played in rounds])


def _last_number(play: MapPlay, standing: frozenset[int]) -> int:
    """The number of the last counted round among those that are not void."""
    return max([played.number for played in play.counted if played.id in standing], default=0)


def _replayed_from(play: MapPlay, current: CurrentRound | None, voided: Sequence[Round], total: int) -> int:
    """When the void play began (Unix ms): at the end of round `total`, the last that counts, or at the map's
    start where none does; where that end is unseen, when the first void round went live. Not before rounds of
    another branch had ended that were played earlier."""
    stands = next((played for played in play.counted if played.number == total), None)
    if stands is not None:
        begun = stands.ended_at
    elif not total and play.started_at is not None:
        begun = play.started_at
    else:
        begun = voided[0].started_at if voided else current.opened_at if current else 0
    earlier = [one.ended_at for one in play.rounds if not voided or one.id < voided[0].id]
    return max(begun, *earlier) if earlier else begun
