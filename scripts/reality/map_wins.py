"""Predicts the winners of the snapshots' maps at the start of rounds, and the reference: every round a coin
flip."""

from collections.abc import Iterable, Iterator
from functools import cache

from scripts.reality.judging import Prediction
from scripts.reality.snapshots import Snapshot

#: Rounds of a map at whose start it is predicted.
ROUNDS = 30
_WON = 16


def predictions(snapshots: Iterable[Snapshot]) -> Iterator[Prediction]:
    """The chance of the side that began as CT to win the map, overtime included, at the first row of each
    round up to the thirtieth."""
    for snapshot in snapshots:
        if snapshot.opens_round and snapshot.round_index < ROUNDS:
            yield Prediction(snapshot.row, "map_win", coin_race(snapshot))


def coin_race(snapshot: Snapshot) -> float:
    """The same when each round is won with one half, whatever happened before."""
    scores = snapshot.ct_score, snapshot.t_score
    return _race(*(scores if snapshot.starter_is_ct else reversed(scores)))


@cache
def _race(starter: int, other: int) -> float:
    if max(starter, other) >= _WON:
        return float(starter > other)
    if starter == other == _WON - 1:
        return 0.5
    return (_race(starter + 1, other) + _race(starter, other + 1)) / 2
