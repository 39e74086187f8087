"""Which of two opponents gets more kills on a map, and who of all ten gets the most, judged on maps that the
fit has not seen, by cross-validation over matches.

    python -m scripts.fit.duel_validation [--folds 10]

Prints log losses, Brier scores and calibration errors with intervals of whole maps, beside the constant that
is right on average and the simplest rule: the player with the better rate so far is the favourite, as often
as in the other folds.
"""

import argparse
from collections.abc import Iterator, Sequence
from itertools import product

import msgspec
import numpy as np

from app.trading.lines import Finals
from app.trading.player_kills import KillModel
from scripts.fit.player_validation import fold
from scripts.fit.players import fitted
from scripts.reality.judging import Judgement, compared
from scripts.reality.place import real_data
from scripts.reality.player_predictions import final_scores, own_rates
from scripts.reality.player_rows import FILE, Earlier, PlayerRow, earlier, maps, read
from scripts.reality.scores import Floats, shown

_SEED, _TEN = 20261129, 10


class Said(msgspec.Struct):
    """The chances of something, and whether it came (1, 0), each with the number of its map; `rule`: the
    chances that the simplest rule gives, where there is one."""

    chances: list[float] = []
    came: list[float] = []
    maps: list[int] = []
    rule: list[float] = []

    def add(self, chance: float, came: bool, number: int) -> None:
        self.chances.append(float(chance))
        self.came.append(float(came))
        self.maps.append(number)

    def judged(self) -> Judgement:
        return compared(self.chances, self.came, self.maps, {"own rate": self.rule} if self.rule else {})


class Forecasts(msgspec.Struct):
    """Of two opponents, whether both have as many kills (`level`), and of those that have not, whether the
    first has more (`more`); of ten players, whether one alone has the most (`most`), and whether several
    share it (`shared`)."""

    more: Said = msgspec.field(default_factory=Said)
    level: Said = msgspec.field(default_factory=Said)
    most: Said = msgspec.field(default_factory=Said)
    shared: Said = msgspec.field(default_factory=Said)

    def by_kind(self) -> dict[str, Said]:
        return {"more": self.more, "level": self.level, "most": self.most, "shared": self.shared}


class _OneMap(msgspec.Struct, frozen=True):
    """The ten rows of a map, its number, what is known of each player before it, and the final scores that it
    may have from the view of each player's team."""

    number: int
    rows: Sequence[PlayerRow]
    before: Sequence[Earlier]
    scores: Sequence[Finals]
    rates: Floats


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--folds", type=int, default=10)
    args = parser.parse_args()
    found = cross_validated(list(read(real_data() / FILE)), args.folds)
    for kind, said in found.by_kind().items():
        one = said.judged()
        print(f"{kind}, {one.n}: said {np.mean(said.chances):.4f}, came {np.mean(said.came):.4f}")
        print(f"  ours     {shown(one.ours)}")
        for name, figures in one.references.items():
            print(f"  {name:8} {shown(figures)}")


def cross_validated(rows: Sequence[PlayerRow], folds: int) -> Forecasts:
    """Each map of ten players by a fit to the matches of the other folds."""
    found, random, before = Forecasts(), np.random.default_rng(_SEED), list(earlier(rows))
    every = list(_maps(rows, before))
    for at in range(folds):
        held = fold(rows, at, folds)
        kept = [(row, known) for row, known, out in zip(rows, before, held, strict=True) if not out]
        model = KillModel(fitted([row for row, _ in kept], [known for _, known in kept]))
        out = {row.row for row, one in zip(rows, held, strict=True) if one}
        share = _favourites_win([one for one in every if one.rows[0].row not in out])
        for one in every:
            if one.rows[0].row in out:
                _forecast(one, model, share, random, found)
    return found


def _maps(rows: Sequence[PlayerRow], before: Sequence[Earlier]) -> Iterator[_OneMap]:
    scores = list(final_scores(rows))
    rate = sum(row.kills for row in rows) / sum(row.rounds for row in rows)
    places = {row.row: place for place, row in enumerate(rows)}
    for number, played in enumerate(maps(rows)):
        if len(played) == _TEN:
            at = [places[row.row] for row in played]
            known = [before[place] for place in at]
            yield _OneMap(number, played, known, [scores[place] for place in at], own_rates(known, rate))


def _pairs(one: _OneMap) -> list[tuple[int, int]]:
    first = one.rows[0].team
    own, others = (
        [at for at, row in enumerate(one.rows) if (row.team == first) is side] for side in (True, False)
    )
    return list(product(own, others))


def _favourites_win(played: Sequence[_OneMap]) -> float:
    """How often the opponent with the better rate so far gets more kills."""
    won = decided = 0
    for one in played:
        for first, second in _pairs(one):
            lead = one.rows[first].kills - one.rows[second].kills
            better = one.rates[first] - one.rates[second]
            decided += bool(lead and better)
            won += lead * better > 0
    return won / decided


def _forecast(
    one: _OneMap, model: KillModel, share: float, random: np.random.Generator, found: Forecasts
) -> None:
    levels = np.array([known.level(model) for known in one.before])
    for team in {row.team for row in one.rows}:
        of_team = [at for at, row in enumerate(one.rows) if row.team == team]
        levels[of_team] /= levels[of_team].mean()
    ends = [
        (
            chance,
            [
                level * model.expected(*scores[at][0])
                for level, scores in zip(levels, one.scores, strict=True)
            ],
        )
        for at, (_, chance) in enumerate(one.scores[0])
    ]
    for pair in _pairs(one):
        # Rows of a team are in the order of their kills: which player comes first must not tell who won.
        first, second = pair if random.random() < 0.5 else pair[::-1]
        duels = [(chance, model.duel(means[first], means[second], 0)) for chance, means in ends]
        level = sum(chance * duel.level for chance, duel in duels)
        lead = one.rows[first].kills - one.rows[second].kills
        found.level.add(level, lead == 0, one.number)
        if lead:
            more = sum(chance * duel.more for chance, duel in duels) / (1 - level)
            found.more.add(more, lead > 0, one.number)
            better = one.rates[first] - one.rates[second]
            found.more.rule.append(0.5 + (share - 0.5) * np.sign(better))
    alone = sum(chance * np.array(model.most(means)) for chance, means in ends)
    best = max(row.kills for row in one.rows)
    first_ones = [row for row in one.rows if row.kills == best]
    found.shared.add(1 - float(np.sum(alone)), len(first_ones) > 1, one.number)
    for one_chance, row in zip(np.atleast_1d(alone), one.rows, strict=True):
        found.most.add(one_chance, first_ones == [row], one.number)


if __name__ == "__main__":
    main()
