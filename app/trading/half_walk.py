"""The rounds that are left of a half, as CT and T see them: who may win how many, and in which order; and
what both sides can afford in them.

A side's *resources* are its money and what its players carry when a round's freeze time begins. They fall
into few levels; a state of the economy is a pair of levels, CT's and T's, as one number. Which thresholds,
what a level is worth, and which one follows a won or a lost round is fitted (`scripts/fit/maps.py`).

Every half of one length and one `ct_logit` (CT's advantage from skill and the map's side, the same in all
rounds but a pistol round) goes on alike from the same state. What follows from each state is therefore
computed once, backwards from the half's end, for all matches.
"""

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from math import log
from operator import mul
from typing import NamedTuple

import msgspec

from app.trading.coefficients import MapCoefficients, Moves, load
from app.trading.model import logistic

#: Halves longer than professional ones are computed as if all players always had money: there are too many
#: ways through them.
LONGEST_HALF = 15

Move = tuple[tuple[int, float], ...]  #: the states that may follow, with their chances


class Economy(msgspec.Struct, frozen=True, eq=False):
    """The states of a kind of half. State 0 is that of its first round. Instances are compared by identity,
    so that they are cheap keys.

    By the class of a round's position in its half: `logits[class][state]` is CT's advantage in each state,
    between even teams on a map without bias; `moves[class][won][state]`, where a state leads when CT lost or
    won.
    """

    logits: tuple[tuple[float, ...], ...]
    moves: tuple[tuple[tuple[Move, ...], tuple[Move, ...]], ...]

    @property
    def size(self) -> int:
        return len(self.logits[-1])

    def following(self, position: int, won: bool) -> tuple[Move, ...]:
        """By state: where the round at this position of the half (from 0) leads when CT won or lost it."""
        return self.moves[min(position, len(self.moves) - 1)][won]


class Economies(msgspec.Struct, frozen=True, eq=False):
    """How money goes on: in halves that begin with a pistol round, and where all always have money."""

    scarce: Economy
    rich: Economy
    thresholds: tuple[int, ...]

    def of_half(self, half: int, length: int) -> Economy:
        """In overtime there is money for all; very long halves are computed so."""
        return self.scarce if half < 2 and length <= LONGEST_HALF else self.rich

    def state(self, ct_resources: int, t_resources: int) -> int:
        """The state of the scarce economy in which the sides have these resources, in the game's money."""
        ct, t = (bisect_right(self.thresholds, resources) for resources in (ct_resources, t_resources))
        return ct * (len(self.thresholds) + 1) + t


@lru_cache(maxsize=1)
def economies() -> Economies:
    """As fitted, for maps of today."""
    return described(load().maps, load().maps.today)


def described(fitted: MapCoefficients, later: float = 1.0) -> Economies:
    """What these coefficients say; from the third round of a half on, a level is worth `later` of what it was
    in the rounds that it was fitted to."""
    levels = tuple(ct + t for ct in fitted.ct for t in fitted.t)
    scarce = Economy(
        ((fitted.pistol,), levels, tuple(later * level for level in levels)),
        tuple(
            (_joint(ct, t, False), _joint(ct, t, True))
            for ct, t in zip(fitted.ct_moves, fitted.t_moves, strict=True)
        ),
    )
    stays: tuple[Move, ...] = (((0, 1.0),),)
    rich = Economy((scarce.logits[-1][-1:],), ((stays, stays),))
    return Economies(scarce, rich, fitted.thresholds)


def _joint(ct: Moves, t: Moves, ct_won: bool) -> tuple[Move, ...]:
    """Both sides' levels move independently, given who won."""
    size = len(ct[0][0])
    return tuple(
        tuple(
            (next_ct * size + next_t, ct_chance * t_chance)
            for next_ct, ct_chance in enumerate(from_ct)
            for next_t, t_chance in enumerate(from_t)
            if ct_chance * t_chance
        )
        for from_ct in ct[ct_won]
        for from_t in t[not ct_won]
    )


Results = tuple[bool | None, ...]  #: of the half's rounds so far: whether CT won; None where it is not known
Tables = tuple[list[float], list[float]]  #: CT's and T's, as in `HalfRemainder`


class Half(NamedTuple):
    """What the rounds of a half depend on. `first_ct_logit` is that of its first round."""

    economy: Economy
    length: int
    ct_logit: float
    first_ct_logit: float


class HalfRemainder(NamedTuple):
    """What is left of a half, seen from one side: `rounds` are left, `own` holds the rows that `own_row`
    returns, one after another, `other` the same of the other side."""

    rounds: int
    own: "array[float]"
    other: "array[float]"

    def turned(self) -> "HalfRemainder":
        """The same, seen from the other side."""
        return HalfRemainder(self.rounds, self.other, self.own)

    def own_row(self, wins: int) -> "array[float]":
        """The chances that this side wins its round number `wins` (from 1) when the other has won 0, 1, 2, …
        of them. There is a row for one round more than are left; it is empty."""
        return self.own[self._start(wins) : self._start(wins + 1)]

    def other_row(self, wins: int) -> "array[float]":
        """The same for the other side."""
        return self.other[self._start(wins) : self._start(wins + 1)]

    def _start(self, wins: int) -> int:
        return (wins - 1) * (2 * self.rounds + 2 - wins) // 2

    def shares(self) -> list[float]:
        """The chances that this side wins 0, 1, 2, … of all rounds left."""
        if not self.rounds:
            return [1.0]
        ends = _row_ends(self.rounds)
        won, lost = [self.own[end] for end in ends], [self.other[end] for end in reversed(ends)]
        return [lost[0], *(win + loss for win, loss in zip(won, lost[1:], strict=False)), won[-1]]


@lru_cache(maxsize=256)
def _row_ends(rounds: int) -> tuple[int, ...]:
    """Where each row ends: there, all rounds have been played."""
    ends, end = [], -1
    for length in range(rounds, 0, -1):
        end += length
        ends.append(end)
    return tuple(ends)


def ct_wins(half: Half, results: Results, known: Sequence[float]) -> float:
    """CT's chance of the round after `results`, before it begins. `known`: how likely each state is in it."""
    return float(sum(map(mul, known, _chances(half, len(results)))))


def ct_wins_in(half: Half, position: int, state: int) -> float:
    """CT's chance of the round at this position (from 0), before it begins, in this state of the economy."""
    chances = _chances(half, position)
    return chances[state] if len(chances) > 1 else chances[0]


@lru_cache(maxsize=65_536)
def log_likelihood(half: Half, results: Results) -> float:
    """The logarithm of how likely these results of the half's rounds were."""
    if not results:
        return 0.0
    before, won = results[:-1], results[-1]
    earlier = log_likelihood(half, before)
    if won is None:
        return earlier
    chance = ct_wins(half, before, belief(half, before))
    return earlier + log(chance if won else 1 - chance)


def _chances(half: Half, position: int) -> tuple[float, ...]:
    """CT's chance of the round at this position (from 0), by state; the first round has only the state 0."""
    economy = half.economy
    if position:
        return _later_chances(economy, min(position, len(economy.logits) - 1), half.ct_logit)
    return (logistic(economy.logits[0][0] + half.first_ct_logit),)


@lru_cache(maxsize=2048)
def _later_chances(economy: Economy, position_class: int, ct_logit: float) -> tuple[float, ...]:
    return tuple(logistic(logit + ct_logit) for logit in economy.logits[position_class])


def belief(half: Half, results: Results, state: int | None = None) -> tuple[float, ...]:
    """How likely each state of the economy is in the round after `results`. `state`: that of the last of
    them, where it was seen."""
    return _belief(half, results, state) if results else (1.0,)


@lru_cache(maxsize=16_384)
def _belief(half: Half, results: Results, state: int | None) -> tuple[float, ...]:
    sums = [0.0] * half.economy.size
    for won, weights in enumerate(_weights(half, results, state)):
        following = half.economy.following(len(results) - 1, bool(won))
        for weight, move in zip(weights, following, strict=False):
            for after, chance in move:
                sums[after] += weight * chance
    return tuple(sums)


def _weights(half: Half, results: Results, state: int | None) -> tuple[list[float], list[float]]:
    """How likely CT lost the last of these rounds in each state, and won it in each."""
    before, won = results[:-1], results[-1]
    known = belief(half, before) if state is None else _only(state, half.economy.size)
    chances = _chances(half, len(before))
    wins = [0.0 if won is False else weight * win for weight, win in zip(known, chances, strict=False)]
    losses = [0.0 if won else weight * (1 - win) for weight, win in zip(known, chances, strict=False)]
    total = sum(wins) + sum(losses)
    return [loss / total for loss in losses], [win / total for win in wins]


@lru_cache(maxsize=64)
def _only(state: int, size: int) -> tuple[float, ...]:
    return tuple(float(index == state) for index in range(size))


@lru_cache(maxsize=1024)
def from_start(half: Half) -> HalfRemainder:
    """A whole half, seen from CT."""
    lost, won = (after[0] for after in _after(half.economy, half.length, half.ct_logit)[0])
    tables = _before(won.rounds, _chances(half, 0)[0], _tables(won), _tables(lost))
    return _rest(half.length, tables)


@lru_cache(maxsize=8192)
def after(half: Half, results: Results, state: int | None = None) -> HalfRemainder:
    """What is left after these results, of which there is one at least, seen from CT. `state` is that of the
    economy in the last of these rounds; None where it was not seen."""
    found, last = _after(half.economy, half.length, half.ct_logit)[len(results) - 1], results[-1]
    if state is not None and last is not None:
        return found[last][state]
    rests = [
        (rest, weight)
        for won, weights in enumerate(_weights(half, results, state))
        for rest, weight in zip(found[won], weights, strict=False)
        if weight
    ]
    return _rest(half.length - len(results), _mean([(_tables(rest), weight) for rest, weight in rests]))


@lru_cache(maxsize=512)
def _after(
    economy: Economy, length: int, ct_logit: float
) -> list[tuple[list[HalfRemainder], list[HalfRemainder]]]:
    """By position, and by result (CT lost, CT won): what is left after that round, by the state in it.

    Computed backwards: the tables of a state follow from those of the states that may come next.
    """
    found: list[tuple[list[HalfRemainder], list[HalfRemainder]]] = []
    tables: list[Tables] = [([], [])] * economy.size
    for position in reversed(range(length)):
        rounds = length - position - 1
        chances = _later_chances(economy, min(position, len(economy.logits) - 1), ct_logit)
        lost, won = (
            [_following(tables, move) for move in economy.following(position, result)]
            for result in (False, True)
        )
        found.append(([_rest(rounds, one) for one in lost], [_rest(rounds, one) for one in won]))
        tables = [
            _before(rounds, chance, up, down) for chance, up, down in zip(chances, won, lost, strict=False)
        ]
    return found[::-1]


def _rest(rounds: int, tables: Tables) -> HalfRemainder:
    return HalfRemainder(rounds, array("d", tables[0]), array("d", tables[1]))


def _tables(rest: HalfRemainder) -> Tables:
    return list(rest.own), list(rest.other)


def _following(tables: Sequence[Tables], move: Move) -> Tables:
    return _mean([(tables[state], chance) for state, chance in move])


def _mean(parts: Sequence[tuple[Tables, float]]) -> Tables:
    """The mean of tables of one size; weights sum to 1."""
    (ct, t), weight = parts[0]
    if len(parts) == 1:
        return ct, t
    ct, t = [weight * chance for chance in ct], [weight * chance for chance in t]
    for (more_ct, more_t), weight in parts[1:]:
        ct = [chance + weight * more for chance, more in zip(ct, more_ct, strict=True)]
        t = [chance + weight * more for chance, more in zip(t, more_t, strict=True)]
    return ct, t


def _before(rounds: int, win: float, won: Tables, lost: Tables) -> Tables:
    """The tables before a round that CT wins with chance `win`, from those after it with `rounds` left.

    A side's row of n wins goes on from that of n - 1 when it wins the round, and from that of n, with one
    more win of the other side, when it does not.
    """
    begun, loss = [1.0] + [0.0] * rounds, 1 - win
    ct = zip(begun + won[0], _one_more(rounds, lost[0]), strict=True)
    t = zip(begun + lost[1], _one_more(rounds, won[1]), strict=True)
    return [win * up + loss * down for up, down in ct], [loss * down + win * up for down, up in t]


def _one_more(rounds: int, rows: list[float]) -> list[float]:
    """The rows when the other side has won one round more before them: each begins with a zero."""
    shifted, start = [], 0
    for length in range(rounds, 0, -1):
        shifted.append(0.0)
        shifted += rows[start : start + length]
        start += length
    shifted.append(0.0)
    return shifted
