"""Predicts the winners of the snapshots' maps at the start of rounds, and the reference: every round a coin
flip."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial

from app.trading.coefficients import MapCoefficients, RoundCoefficients
from app.trading.half_walk import Economies, Results, described
from app.trading.map_scores import MapParameters, MapState, wins_map
from app.trading.model import Skill
from app.trading.round_model import ct_wins
from app.trading.skill import Case, by_skill, likelihood_of_rounds, moments, posterior
from scripts.reality.judging import Prediction
from scripts.reality.snapshots import Snapshot, half_of

#: Rounds of a map at whose start it is predicted.
ROUNDS = 30
_OVERTIME, _WON = 6, 16


class MapPredictor:
    """Follows the first rows of rounds, in order, as prices do: skill by the rounds so far, the current round
    by the round model, later ones by the chain."""

    def __init__(self, maps: MapCoefficients, rounds: RoundCoefficients, data_set: str) -> None:
        self.maps, self.rounds = maps, rounds
        self.sides = maps.sides[data_set]
        self.economies: Economies = described(maps)
        self._of_map = -1
        self._won: dict[int, bool] = {}  #: by index of the round: whether those who were CT in it won
        self._last = 0

    def starter_wins(self, snapshot: Snapshot) -> float:
        """The chance that the side that began as CT wins the map, at the first row of a round."""
        if snapshot.map_index != self._of_map:
            self._of_map, self._won = snapshot.map_index, {}
        elif snapshot.previous is not None:
            self._won[self._last] = snapshot.previous
        self._last = snapshot.round_index
        state = self._state(snapshot)
        cases = posterior(Skill(0.0, self.rounds.skill_spread), partial(self._likelihood, snapshot))
        chances = by_skill(cases, moments(cases), partial(self._wins_round, snapshot))
        return sum(self._wins_under(case, chances[case.skill], snapshot, state) for case in cases)

    def _wins_under(self, case: Case, chance: float, snapshot: Snapshot, state: MapState) -> float:
        parameters, economy = self._parameters(snapshot, case.skill), self._economy(snapshot)
        won, lost = (wins_map(parameters, state.after(parameters, won, economy)) for won in (True, False))
        return case.weight * (chance * won + (1 - chance) * lost)

    def _parameters(self, snapshot: Snapshot, skill: float) -> MapParameters:
        side = self.sides.get(snapshot.map_name, 0.0)
        return MapParameters(skill, side, True, ROUNDS, _OVERTIME, self.economies)

    def _state(self, snapshot: Snapshot) -> MapState:
        half, _ = half_of(snapshot.round_index)
        scores = snapshot.ct_score, snapshot.t_score
        starter, other = scores if snapshot.starter_is_ct else reversed(scores)
        return MapState(starter, other, self._results(half, snapshot.round_index))

    def _results(self, half: int, before: int) -> Results:
        return tuple(self._won.get(index) for index in range(before) if half_of(index)[0] == half)

    def _likelihood(self, snapshot: Snapshot, skill: float) -> float:
        now, _ = half_of(snapshot.round_index)
        halves = [(half, self._results(half, snapshot.round_index)) for half in range(now + 1)]
        return likelihood_of_rounds(self._parameters(snapshot, skill), halves)

    def _wins_round(self, snapshot: Snapshot, skill: float) -> float:
        side = self.sides.get(snapshot.map_name, 0.0) if snapshot.state.number > 1 else 0.0
        if snapshot.starter_is_ct:
            return ct_wins(snapshot.state, side + skill, self.rounds)
        return 1 - ct_wins(snapshot.state, side - skill, self.rounds)

    def _economy(self, snapshot: Snapshot) -> int:
        return self.economies.state(*resources(snapshot)) if snapshot.state.number > 1 else 0


def resources(snapshot: Snapshot) -> tuple[int, int]:
    """CT's and T's money and equipment."""
    ct, t = (
        (side.money or 0) + (side.weapons or 0) + (side.utility or 0)
        for side in (snapshot.state.ct, snapshot.state.t)
    )
    return ct, t


def predictions(
    snapshots: Iterable[Snapshot], starter_wins: Callable[[Snapshot], float]
) -> Iterator[Prediction]:
    """The chance of the side that began as CT to win the map, overtime included, at the first row of each
    round up to the thirtieth."""
    for snapshot in snapshots:
        if snapshot.opens_round and snapshot.round_index < ROUNDS:
            yield Prediction(snapshot.row, "map_win", starter_wins(snapshot))


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
