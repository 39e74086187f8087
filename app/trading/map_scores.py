"""From rounds to a map: a Markov chain over (home's rounds, away's rounds, who won last).

`finals` gives the distribution of the map's final score from any score. Everything about the score
of a map (winner, totals, handicaps, overtime) is a sum over it, so that lines cannot contradict.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache

import msgspec

from app.domain.match import MapPlay, Side
from app.domain.score_rules import is_decided
from app.trading.model import half_of, is_pistol, last_won, logistic, money, side_logit, start_side, switched

Score = tuple[int, int]
State = tuple[int, int, int]  #: home's rounds, away's rounds, who won the last round of this half
Finals = tuple[tuple[Score, float], ...]
Span = tuple[int, int]  #: the least and the most; none when the least is more

_OVERTIMES_AHEAD = 3  #: overtimes followed one by one; what is then still level is shared out


class Terms(msgspec.Struct, frozen=True):
    """What decides how likely rounds are on one map. `home_starts_ct` None: sides are not known yet."""

    skill: float
    side: float
    home_starts_ct: bool | None
    max_rounds: int
    overtime_rounds: int

    def decided(self, home: int, away: int) -> bool:
        return is_decided(home, away, self.max_rounds, self.overtime_rounds)

    def home_wins(self, index: int, last: int) -> float:
        """The chance that home wins the round with this index (from 0), nothing of it seen yet."""
        return _chances(self, index)[last]

    def carried(self, index: int, won: int) -> int:
        """What the round with this index, won by `won`, leaves for the next: nothing at a half's end."""
        _, position = half_of(index + 1, self.max_rounds, self.overtime_rounds)
        return won if position else 0


@lru_cache(maxsize=8192)
def _chances(given: Terms, index: int) -> tuple[float, float, float]:
    """Home's chances of the round with this index: after no round in its half, after a won one, and (to be
    found at -1) after a lost one."""
    half, position = half_of(index, given.max_rounds, given.overtime_rounds)
    after = [given.skill + money(position + 1, last, half > 1) for last in (0, 1, -1)]
    side = 0.0 if is_pistol(half, position) else given.side
    if given.home_starts_ct is None:
        none, won, lost = ((logistic(logit + side) + logistic(logit - side)) / 2 for logit in after)
    else:
        lean = side if given.home_starts_ct is not switched(half) else -side
        none, won, lost = (logistic(logit + lean) for logit in after)
    return none, won, lost


def terms(play: MapPlay, skill: float) -> Terms:
    start: Side | None = start_side(play)
    return Terms(
        skill=skill,
        side=side_logit(play.name),
        home_starts_ct=None if start is None else start == "CT",
        max_rounds=play.max_rounds,
        overtime_rounds=play.overtime_rounds,
    )


def present(play: MapPlay) -> State:
    return play.home_score, play.away_score, last_won(play)


@lru_cache(maxsize=2048)
def finals(given: Terms, state: State) -> Finals:
    """Each final score that can still come, with its probability; they sum to 1."""
    form = given.max_rounds, given.overtime_rounds
    ended, level = _walk(given, state, lambda index: _undecided(index, *form), _last_round(given, state))
    if not ended:
        return ((state[:2], 1.0),)
    return tuple((_shared_out(given, ended, level) if level else ended).items())


@lru_cache(maxsize=2048)
def wins_map(given: Terms, state: State) -> float:
    """Home's chance to win the map; a level end, where the format knows one, is shared out."""
    return sum(
        chance * (1.0 if home > away else 0.5)
        for (home, away), chance in finals(given, state)
        if home >= away
    )


def _walk(
    given: Terms, state: State, open_at: Callable[[int], Span], until: int
) -> tuple[dict[Score, float], float]:
    """Play on from `state`, round by round, until so many have been played: the scores at which play ends,
    with their chances, and the chance that it does not.

    `open_at` tells between which of home's rounds, both included, play goes on when so many rounds have
    been played. What follows is a row of states for each number of rounds: by home's rounds, once for those
    who won the last round and once for those who lost it.
    """
    first, away, last = state
    ended: dict[Score, float] = {}
    won, lost = ([1.0], [0.0]) if last > 0 else ([0.0], [1.0])
    for index in range(first + away, until):
        least, most = open_at(index)
        while won and first < least:
            ended[first, index - first] = won.pop(0) + lost.pop(0)
            first += 1
        while won and first + len(won) - 1 > most:
            home = first + len(won) - 1
            ended[home, index - home] = won.pop() + lost.pop()
        if not won:
            break
        none, ahead, behind = _chances(given, index)
        if not last:
            ahead = behind = none
        last = 1
        wins = [up * ahead + down * behind for up, down in zip(won, lost, strict=True)]
        losses = [up + down - win for up, down, win in zip(won, lost, wins, strict=True)]
        won, lost = [0.0, *wins], [*losses, 0.0]
    return ended, sum(won) + sum(lost)


@lru_cache(maxsize=1024)
def _undecided(index: int, max_rounds: int, overtime_rounds: int) -> Span:
    """Between which of home's rounds a map is not decided when so many rounds have been played."""
    homes = [
        home for home in range(index + 1) if not is_decided(home, index - home, max_rounds, overtime_rounds)
    ]
    return (homes[0], homes[-1]) if homes else (1, 0)


def _shared_out(given: Terms, ended: dict[Score, float], rest: float) -> dict[Score, float]:
    """What is level even after the last overtime followed ends as overtimes do."""
    late = {score: chance for score, chance in ended.items() if sum(score) > given.max_rounds} or ended
    share = rest / sum(late.values())
    return ended | {score: chance * (1 + share) for score, chance in late.items()}


def _last_round(given: Terms, state: State) -> int:
    """How many rounds are followed one by one."""
    played = state[0] + state[1]
    overtimes = max(played - given.max_rounds, 0) // max(given.overtime_rounds, 1) + _OVERTIMES_AHEAD
    return given.max_rounds + overtimes * given.overtime_rounds + 1


def chance_of(distribution: Finals, truth: Callable[[int, int], bool]) -> float:
    return sum([chance for (home, away), chance in distribution if truth(home, away)])


@lru_cache(maxsize=4096)
def reachable(home: int, away: int, max_rounds: int, overtime_rounds: int) -> frozenset[Score]:
    """Final scores that the rules still allow, overtimes followed as far as `finals` follows them."""
    even = Terms(0.0, 0.0, None, max_rounds, overtime_rounds)
    return frozenset(score for score, _ in finals(even, (home, away, 0)))


@lru_cache(maxsize=4096)
def reaches_first(given: Terms, state: State, target: int) -> float:
    """The chance that home has `target` rounds before away has."""
    if max(state[:2]) >= target:
        return float(state[0] >= target)
    ended, _ = _walk(given, state, lambda index: (index - target + 1, target - 1), 2 * target)
    return sum(chance for (home, _), chance in ended.items() if home >= target)


@lru_cache(maxsize=4096)
def scores_after(given: Terms, state: State, rounds: int) -> Finals:
    """The score after that many rounds of the map in all, with its chances."""
    played = state[0] + state[1]
    if played >= rounds:
        return ((state[:2], 1.0),)
    ended, _ = _walk(given, state, lambda index: (0, index) if index < rounds else (1, 0), rounds + 1)
    return tuple(ended.items())


def mixture(branches: Iterable[tuple[float, Finals]]) -> Finals:
    """One distribution from several, each with its weight."""
    sums: dict[Score, float] = {}
    for weight, branch in branches:
        for score, chance in branch:
            sums[score] = sums.get(score, 0.0) + weight * chance
    return tuple(sums.items())
