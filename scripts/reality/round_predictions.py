"""Predicts rounds of the snapshots, row by row: from each row and those before it alone."""

from collections.abc import Iterable, Iterator, Mapping

from app.trading.coefficients import RoundCoefficients
from app.trading.round_model import ct_wins
from scripts.reality.judging import Prediction
from scripts.reality.snapshots import Snapshot

#: Rows above it are not predicted as in play: the first moments of most freeze times.
IN_ROUND_SECONDS = 174.0
#: Log loss knows no certainty that fails.
_EDGE = 1e-6


class Skill:
    """What the rounds of a map so far say about the two teams, in logits for those who began it as CT."""

    def __init__(self, spread: float) -> None:
        self.precision = spread**-2
        self.begin()

    def begin(self) -> None:
        """A new map: nothing is known of its teams."""
        self.surprise, self.weight = 0.0, self.precision

    def learn(self, expected: float, won: bool) -> None:
        """From a round: how likely it was before it that those who began as CT win it, and whether they
        did."""
        self.surprise += won - expected
        self.weight += expected * (1 - expected)

    @property
    def mean(self) -> float:
        return self.surprise / self.weight


def side_of(snapshot: Snapshot, sides: Mapping[str, float]) -> float:
    """What the map adds for CT, in logits: nothing in pistol rounds, nor while it is not known."""
    return 0.0 if snapshot.state.pistol else sides.get(snapshot.map_name, 0.0)


class RoundPredictor:
    """Follows the rows of a file, in order. `ct_logit` and `before` are of the row followed last: CT's
    advantage from side and skill in logits, and CT's chance before its round."""

    def __init__(self, fitted: RoundCoefficients, data_set: str) -> None:
        self.fitted = fitted
        self.sides = fitted.sides[data_set]
        self.skill = Skill(fitted.skill_spread)
        self.ct_logit = 0.0
        self.before = 0.5
        self._starter_was_ct = True

    def follow(self, snapshot: Snapshot) -> float:
        """CT's chance to win the round, at this row."""
        if snapshot.opens_round:
            self._learn(snapshot)
            skill = self.skill.mean if snapshot.starter_is_ct else -self.skill.mean
            self.ct_logit = side_of(snapshot, self.sides) + skill
        chance = ct_wins(snapshot.state, self.ct_logit, self.fitted)
        if snapshot.opens_round:
            self.before, self._starter_was_ct = chance, snapshot.starter_is_ct
        return chance

    def _learn(self, snapshot: Snapshot) -> None:
        if snapshot.previous is None:
            self.skill.begin()
        elif self._starter_was_ct:
            self.skill.learn(self.before, snapshot.previous)
        else:
            self.skill.learn(1 - self.before, not snapshot.previous)


def predictions(
    snapshots: Iterable[Snapshot], fitted: RoundCoefficients, data_set: str
) -> Iterator[Prediction]:
    """CT's chance to win the round: `before_round` at the first row of each, `in_round` at every row that is
    not among the first moments of a freeze time."""
    predictor = RoundPredictor(fitted, data_set)
    for snapshot in snapshots:
        chance = min(max(predictor.follow(snapshot), _EDGE), 1 - _EDGE)
        if snapshot.opens_round:
            yield Prediction(snapshot.row, "before_round", chance)
        if snapshot.time_left <= IN_ROUND_SECONDS:
            yield Prediction(snapshot.row, "in_round", chance)
