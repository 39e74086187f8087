"""From halves to a map, and from maps to a match: the distributions of their final scores, from any score.

A map is a row of *periods*, regulation and then overtimes, each of two halves; `half_walk` has what can come
in a half. Everything about the score of a map (winner, totals, handicaps, overtime, races, halves) is a sum
over the same walk, so that lines cannot contradict.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from operator import add, mul
from typing import NamedTuple

import msgspec

from app.domain.map_play import is_decided
from app.domain.match import MapPlay, Match
from app.trading import half_walk
from app.trading.half_walk import Economies, Half, HalfRemainder, Results, economies
from app.trading.kept import kept
from app.trading.lines import Finals, Score
from app.trading.model import half_of, side_logit, start_side, switched

_OVERTIMES_AHEAD = 3  #: overtimes computed one by one; the rest is distributed over their outcomes


class MapParameters(msgspec.Struct, frozen=True, gc=False):
    """What the chances of one map's rounds depend on. `skill` is home's advantage and `side` that of CT, in
    logits of a round."""

    skill: float
    side: float
    home_starts_ct: bool
    max_rounds: int
    overtime_rounds: int
    economies: Economies

    def decided(self, home: int, away: int) -> bool:
        return is_decided(home, away, self.max_rounds, self.overtime_rounds)

    def home_is_ct(self, half: int) -> bool:
        return self.home_starts_ct is not switched(half)

    def half(self, number: int) -> Half:
        """What the rounds of the half with this number (from 0) depend on."""
        return _half(self, number)

    def position(self, home: int, away: int) -> tuple[int, int]:
        """(half, round within it), both from 0, of the round at this score."""
        return half_of(home + away, self.max_rounds, self.overtime_rounds)


Sides = tuple[tuple[float, MapParameters], ...]  #: one, or one for each side that home may begin on


@lru_cache(maxsize=8192)
def _half(parameters: MapParameters, number: int) -> Half:
    length = (parameters.max_rounds if number < 2 else parameters.overtime_rounds) // 2
    skill = parameters.skill if parameters.home_is_ct(number) else -parameters.skill
    return Half(
        parameters.economies.of_half(number, length),
        length,
        round(parameters.side + skill, 6),
        round(skill if number < 2 else parameters.side + skill, 6),
    )


class MapState(NamedTuple):
    """The state of a map between two rounds. `results` are those of the half that the next round belongs to,
    by whether CT won; `economy` is the state of the economy in the last of them, None where it was not
    seen."""

    home: int
    away: int
    results: Results = ()
    economy: int | None = None

    def after(self, parameters: MapParameters, home_won: bool, economy: int | None) -> "MapState":
        """The state after the next round, in which the economy is in this state."""
        half, _ = parameters.position(self.home, self.away)
        home, away = self.home + home_won, self.away + (not home_won)
        if parameters.position(home, away)[1] == 0:
            return MapState(home, away)
        ct_won = home_won is parameters.home_is_ct(half)
        return MapState(home, away, (*self.results, ct_won), economy)


def map_parameters(play: MapPlay, skill: float, home_starts_ct: bool) -> MapParameters:
    return MapParameters(
        skill,
        side_logit(play.name),
        home_starts_ct,
        play.max_rounds,
        play.overtime_rounds,
        economies(),
    )


@kept
def home_starts_ct(play: MapPlay) -> bool | None:
    """None while sides are unknown."""
    side = start_side(play)
    return None if side is None else side == "CT"


@kept
def sides(play: MapPlay) -> Sides:
    """The parameters of a map between even teams, with their probabilities: one, or one for each side that
    home may begin on."""
    starts = home_starts_ct(play)
    each = [(0.5, True), (0.5, False)] if starts is None else [(1.0, starts)]
    return tuple([(weight, map_parameters(play, 0.0, start)) for weight, start in each])


@kept
def map_state(play: MapPlay) -> MapState:
    """The map after the rounds that counted."""
    number, position = half_of(play.rounds_won, play.max_rounds, play.overtime_rounds)
    results = dict(half_results(play)).get(number, ()) if position else ()
    return MapState(play.home_score, play.away_score, results)


@kept
def half_results(play: MapPlay) -> tuple[tuple[int, Results], ...]:
    """The results of each half so far, with its number (from 0); None for rounds that were not seen."""
    ct_won = {played.number: played.winning_side == "CT" for played in play.counted}
    halves = _halves(play.rounds_won, play.max_rounds, play.overtime_rounds)
    return tuple([(number, tuple(map(ct_won.get, rounds))) for number, rounds in halves])


@lru_cache(maxsize=1024)
def _halves(rounds_won: int, max_rounds: int, overtime_rounds: int) -> tuple[tuple[int, list[int]], ...]:
    """The numbers of the rounds of each half so far."""
    halves: dict[int, list[int]] = {}
    for index in range(rounds_won):
        number, _ = half_of(index, max_rounds, overtime_rounds)
        halves.setdefault(number, []).append(index + 1)
    return tuple(halves.items())


@lru_cache(maxsize=8192)
def home_wins_round(parameters: MapParameters, state: MapState, seen: int | None = None) -> float:
    """Home's chance of the next round, before it begins. `seen` is the state of the economy in it."""
    number, _ = parameters.position(state.home, state.away)
    half = parameters.half(number)
    if seen is None:
        ct = half_walk.ct_wins(half, state.results, half_walk.belief(half, state.results, state.economy))
    else:
        ct = half_walk.ct_wins_in(half, len(state.results), seen)
    return ct if parameters.home_is_ct(number) else 1 - ct


@lru_cache(maxsize=4096)
def home_wins_opening(parameters: MapParameters, half: int) -> float:
    """Home's chance of the first round of the half with this number (from 0), before the half begins."""
    ct = half_walk.ct_wins_in(parameters.half(half), 0, 0)
    return ct if parameters.home_is_ct(half) else 1 - ct


@lru_cache(maxsize=4096)
def finals(parameters: MapParameters, state: MapState) -> Finals:
    """Each final score that can still come, with its probability; they sum to 1."""
    if parameters.decided(state.home, state.away):
        return (((state.home, state.away), 1.0),)
    number, _ = parameters.position(state.home, state.away)
    period = number // 2
    base = _level_before(period, parameters.max_rounds, parameters.overtime_rounds)
    home, away, rest = state.home - base, state.away - base, _rest(parameters, state)
    if number % 2:
        chances = _ends(rest, parameters.half(number).length, home, away)
    else:
        shares = rest.shares()
        chances = [sum(map(mul, shares, column[home:])) for column in _second_half(parameters, period)]
    return tuple(_finals(parameters, period, chances, _OVERTIMES_AHEAD - (period > 0)))


def _finals(
    parameters: MapParameters, period: int, chances: Sequence[float], overtimes: int
) -> Iterator[tuple[Score, float]]:
    """The final scores from the ends of a period, as `_ends` orders them. With 0 `overtimes` left to compute,
    a level end is distributed over the others."""
    scores = _end_scores(period, parameters.max_rounds, parameters.overtime_rounds)
    level = chances[-1]
    if level and not parameters.overtime_rounds:
        yield scores[-1], level
    elif level and overtimes:
        for score, chance in _overtime(parameters, period + 1, overtimes - 1):
            yield score, level * chance
    share = 1 / (1 - level) if parameters.overtime_rounds and not overtimes else 1.0
    for score, chance in zip(scores[:-1], chances, strict=False):
        if chance:
            yield score, chance * share


@lru_cache(maxsize=1024)
def _overtime(parameters: MapParameters, period: int, overtimes: int) -> Finals:
    """The final scores when this overtime begins, of which so many more are computed one by one."""
    shares = _whole(parameters, 2 * period).shares()
    chances = [sum(map(mul, shares, column)) for column in _second_half(parameters, period)]
    return tuple(_finals(parameters, period, chances, overtimes))


@lru_cache(maxsize=256)
def _level_before(period: int, max_rounds: int, overtime_rounds: int) -> int:
    """What both teams have when a period begins."""
    return (max_rounds + (period - 1) * overtime_rounds) // 2 if period else 0


@lru_cache(maxsize=256)
def _end_scores(period: int, max_rounds: int, overtime_rounds: int) -> tuple[Score, ...]:
    """The scores at which a period can end: home's wins, away's, and level."""
    base = _level_before(period, max_rounds, overtime_rounds)
    level = _level_before(period + 1, max_rounds, overtime_rounds)
    won = [(level + 1, less) for less in range(base, level)]
    return (*won, *((away, home) for home, away in won), (level, level))


def _ends(rest: HalfRemainder, length: int, home: int, away: int) -> list[float]:
    """The chances of the ends of a period in the second of its halves, whose rounds have come to this score:
    home wins when away has 0, 1, … rounds, away wins when home has, both end level."""
    return [
        *([0.0] * away),
        *rest.own_row(length + 1 - home),
        *([0.0] * home),
        *rest.other_row(length + 1 - away),
        rest.shares()[length - home],
    ]


@lru_cache(maxsize=2048)
def _second_half(parameters: MapParameters, period: int) -> tuple[tuple[float, ...], ...]:
    """For each end of a period (as `_ends` orders them), its chance by home's rounds in the first half."""
    number = 2 * period + 1
    rest, length = _whole(parameters, number), parameters.half(number).length
    ends = [_ends(rest, length, home, length - home) for home in range(length + 1)]
    return tuple(zip(*ends, strict=True))


@lru_cache(maxsize=8192)
def _rest(parameters: MapParameters, state: MapState) -> HalfRemainder:
    """What is left of the half of the next round, seen from home."""
    number, position = parameters.position(state.home, state.away)
    if not position:
        return _whole(parameters, number)
    found = half_walk.after(parameters.half(number), state.results, state.economy)
    return found if parameters.home_is_ct(number) else found.turned()


def _whole(parameters: MapParameters, number: int) -> HalfRemainder:
    """A whole half, seen from home."""
    found = half_walk.from_start(parameters.half(number))
    return found if parameters.home_is_ct(number) else found.turned()


@lru_cache(maxsize=4096)
def wins_map(parameters: MapParameters, state: MapState) -> float:
    """Home's chance to win the map; a level end, where the format has one, counts half for each."""
    return sum(
        chance * (1.0 if home > away else 0.5)
        for (home, away), chance in finals(parameters, state)
        if home >= away
    )


@lru_cache(maxsize=4096)
def reachable(home: int, away: int, max_rounds: int, overtime_rounds: int) -> frozenset[Score]:
    """Final scores that the rules still allow, with as many overtimes as `finals` computes."""
    even = MapParameters(0.0, 0.0, True, max_rounds, overtime_rounds, economies())
    state = MapState(home, away, (None,) * even.position(home, away)[1])
    return frozenset(score for score, _ in finals(even, state))


@lru_cache(maxsize=8192)
def reaches_first(parameters: MapParameters, state: MapState, target: int) -> float:
    """The chance that home has `target` rounds before away has, which the rounds of regulation decide."""
    if max(state.home, state.away) >= target:
        return float(state.home >= target)
    number, _ = parameters.position(state.home, state.away)
    rest = _rest(parameters, state)
    home, away = target - state.home, target - state.away
    found = _reaches(rest, home, away)
    if number == 0:
        later = _whole(parameters, 1)
        for wins, chance in enumerate(rest.shares()):
            if wins < home and rest.rounds - wins < away:
                found += chance * _reaches(later, home - wins, away - rest.rounds + wins)
    return found


def _reaches(rest: HalfRemainder, home: int, away: int) -> float:
    """The chance that home wins so many of these rounds before away wins as many as it needs."""
    return sum(rest.own_row(home)[:away]) if home <= rest.rounds else 0.0


@lru_cache(maxsize=4096)
def half_scores(parameters: MapParameters, state: MapState) -> Finals:
    """The score after the first half, with its chances; the present one when that is over."""
    if parameters.position(state.home, state.away)[0]:
        return (((state.home, state.away), 1.0),)
    rest = _rest(parameters, state)
    return tuple(
        ((state.home + wins, state.away + rest.rounds - wins), chance)
        for wins, chance in enumerate(rest.shares())
    )


def mixture(branches: Iterable[tuple[float, Finals]]) -> Finals:
    """One distribution from several, each with its weight."""
    sums: dict[Score, float] = {}
    for weight, branch in branches:
        for score, chance in branch:
            sums[score] = sums.get(score, 0.0) + weight * chance
    return tuple(sums.items())


def maps_left(match: Match) -> int:
    """How many more maps the format allows."""
    return max(match.best_of - sum(play.status == "finished" for play in match.maps), 0)


def maps_won(match: Match) -> Score:
    """Of a match that was cut short only the maps that were played to the end."""
    if not match.awarded:
        return match.score_home, match.score_away
    winners = [play.winner for play in match.maps if not play.awarded]
    return winners.count("home"), winners.count("away")


def match_finals(home: int, away: int, best_of: int, chances: Sequence[float]) -> dict[Score, float]:
    """Final map scores from this score on; `chances` are home's for the maps yet to end, in order."""
    ends = match_finals_by_case((home, away), best_of, 1, [(chance,) for chance in chances])
    return {score: chance for score, (chance,) in ends.items()}


def match_finals_by_case(
    score: Score, best_of: int, cases: int, chances: Iterable[Sequence[float]]
) -> dict[Score, list[float]]:
    """The same in each of so many cases: `chances` and what is found have a number for each case."""
    level: dict[Score, list[float]] = {score: [1.0] * cases}
    ended: dict[Score, list[float]] = {}
    for wins in chances:
        losses = [1 - chance for chance in wins]
        following: dict[Score, list[float]] = {}
        for (won, lost), weights in level.items():
            if max(won, lost) > best_of // 2:
                _add(ended, (won, lost), weights)
            else:
                _add(following, (won + 1, lost), list(map(mul, weights, wins)))
                _add(following, (won, lost + 1), list(map(mul, weights, losses)))
        level = following
    every = ended.keys() | level.keys()
    for one, weights in level.items():
        _add(ended, one, weights)
    return {one: ended[one] for one in every}


def _add(found: dict[Score, list[float]], score: Score, weights: list[float]) -> None:
    known = found.get(score)
    found[score] = weights if known is None else list(map(add, known, weights))


def always_goes_on(match: Match, maps: int) -> bool:
    """Whether so many more maps cannot decide the match."""
    return maps + max(match.score_home, match.score_away) <= match.best_of // 2


def goes_on(match: Match, cases: int, chances: Iterable[Sequence[float]]) -> list[float]:
    """In each of so many cases the chance that the match is not decided by its next maps, of which home's
    `chances` are these."""
    ends = match_finals_by_case((match.score_home, match.score_away), match.best_of, cases, chances)
    most = match.best_of // 2
    level = [weights for score, weights in ends.items() if max(score) <= most]
    return [sum(each) for each in zip(*level, strict=True)] if level else [0.0] * cases


@lru_cache(maxsize=256)
def reachable_in_match(home: int, away: int, best_of: int, left: int) -> frozenset[Score]:
    """Final map scores that can still come with `left` maps to play."""
    return frozenset(match_finals(home, away, best_of, (0.5,) * left))
