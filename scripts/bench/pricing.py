"""Are the quoted probabilities right? Simulated maps between teams that a tournament would put together are
read from their logs; at freeze times, and after some kills and plants, each market type is priced, and what
was quoted is compared with what then happened.

    nox -s bench -- pricing             200 maps, two tables
    python -m scripts.bench.pricing --maps 10000 --processes 2 --plot docs/calibration.svg

`--share` of the freeze times are priced, and a fifth of that share of the kills and plants. `--minutes` ends
it early, with the maps that were played by then. Intervals are 95 %, over maps; the calibration error is the
mean distance of quote and frequency in ten bins.
"""

import argparse
import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Literal

import msgspec
from matplotlib import pyplot

from app.domain import changes as c
from app.domain.market import Result
from app.domain.match import Match, TimelineEvent
from app.domain.transitions import fold
from app.ingest.cs2log import read
from app.sandbox.simulator.match_simulation import MatchPlan, simulate
from app.trading.forecast import Forecast
from app.trading.match_facts import collect_facts, facts_from_events
from app.trading.offers import priced_offers
from app.trading.pricing import PricingConfig
from app.trading.registry import RULES
from app.trading.rules import Specifiers
from app.trading.settling import settlement_of
from scripts.bench.simulated_maps import BEGIN, in_batches, match_of, plan_of
from scripts.svg import save

BINS = 10
_IN_PLAY = 0.2  #: of the share of freeze times, that of kills and plants
Quote = tuple[int, Specifiers, float]
Phase = Literal["freeze", "play"]
_PHASES: dict[Phase, str] = {"freeze": "At freeze times", "play": "Right after kills and plants"}
#: The picture's panels by phase and market type.
PANELS: dict[tuple[Phase, int], str] = {
    ("freeze", 13): "round winner before it begins",
    ("play", 13): "round winner in play",
    ("play", 19): "kills over, in play",
    ("freeze", 6): "map winner",
    ("freeze", 8): "total rounds over",
    ("freeze", 7): "round handicap",
}
_FEWEST = 50  #: quotes that are drawn


class Bin(msgspec.Struct):
    """Quotes of one market type that lie close together."""

    count: int = 0
    quoted: float = 0.0
    won: int = 0
    error: float = 0.0

    def add(self, probability: float, won: bool) -> None:
        self.count += 1
        self.quoted += probability
        self.won += won
        self.error += (probability - won) ** 2


class Calibration(msgspec.Struct):
    """The quotes of one market type in one phase. `spread`: over maps, the squares of how many more came true
    than were quoted."""

    bins: list[Bin]
    spread: float = 0.0

    def add_map(self, quotes: Iterable[tuple[float, bool]]) -> None:
        """The quotes of one map, and whether they came true."""
        surplus = 0.0
        for probability, won in quotes:
            self.bins[min(int(probability * BINS), BINS - 1)].add(probability, won)
            surplus += won - probability
        self.spread += surplus**2

    def merge(self, other: "Calibration") -> None:
        for whole, part in zip(self.bins, other.bins, strict=True):
            for name in Bin.__struct_fields__:
                setattr(whole, name, getattr(whole, name) + getattr(part, name))
        self.spread += other.spread

    @property
    def total(self) -> Bin:
        return Bin(*(sum(getattr(one, name) for one in self.bins) for name in Bin.__struct_fields__))

    @property
    def error(self) -> float:
        """How far quotes lie from frequencies, on average over the bins."""
        return sum(abs(one.quoted - one.won) for one in self.bins) / self.total.count


Calibrations = dict[tuple[Phase, int], Calibration]  #: by phase and market type


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--maps", type=int, default=200)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--share", type=float, default=0.4)
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    found, lengths = _empty(), list[int]()
    measured = in_batches(_measure, options.maps, options.processes, options.share, options.minutes)
    for some, rounds in measured:
        for key, calibration in some.items():
            found[key].merge(calibration)
        lengths += rounds
        print(f"\r{len(lengths)} of {options.maps} maps", end="", file=sys.stderr)
    print(file=sys.stderr)
    _report(found, lengths)
    if options.plot:
        draw(found, options.plot)


def _empty() -> Calibrations:
    return defaultdict(lambda: Calibration([Bin() for _ in range(BINS)]))


def _measure(seeds: Iterable[int], share: float) -> tuple[Calibrations, list[int]]:
    """What was quoted on these maps and came of it, and how many rounds they had."""
    found, lengths = _empty(), []
    for seed in seeds:
        match, quotes, events = _play(plan_of(seed), Random(f"quotes of {seed}"), share)
        lengths.append(match.maps[0].rounds_won)
        _judge(match, quotes, events, found)
    return dict(found), lengths


def _play(
    plan: MatchPlan, rng: Random, share: float
) -> tuple[Match, list[tuple[Phase, Quote]], list[TimelineEvent]]:
    """The finished match, what was quoted on the way, and everything that happened."""
    lines, _ = simulate(plan)
    match = match_of(plan)
    quotes: list[tuple[Phase, Quote]] = []
    events: list[TimelineEvent] = []
    for fact in read("\n".join(line.text for line in lines) + "\n", BEGIN).facts:
        match, changes = fold(match, (fact,))
        events += [change.event for change in changes if isinstance(change, c.EventAdded)]
        for change in changes:
            if isinstance(change, c.RoundOpened) and rng.random() < share:
                quotes += (("freeze", quote) for quote in _quotes(match, fact.at))
            elif isinstance(change, c.EventAdded) and rng.random() < share * _IN_PLAY:
                quotes += (("play", quote) for quote in _quotes(match, fact.at))
    return match, quotes, events


def _quotes(match: Match, now: int) -> Iterator[Quote]:
    forecast = Forecast(collect_facts(match, ()), now)
    for offer in priced_offers(forecast, {}, PricingConfig()):
        for market, probability in zip(offer.group.markets, offer.probabilities, strict=True):
            yield market.rule.id, market.specifiers, probability


def _judge(
    match: Match,
    quotes: Iterable[tuple[Phase, Quote]],
    events: Iterable[TimelineEvent],
    calibrations: Calibrations,
) -> None:
    facts = facts_from_events(match, events)
    judged: dict[tuple[Phase, int], list[tuple[float, bool]]] = defaultdict(list)
    for phase, (type_id, specifiers, probability) in quotes:
        found = settlement_of(RULES[type_id], facts, specifiers)
        if found is not None and found.result is not Result.VOID:
            judged[phase, type_id].append((probability, found.result is Result.WON))
    for key, of_map in judged.items():
        calibrations[key].add_map(of_map)


def _report(calibrations: Calibrations, lengths: list[int]) -> None:
    overtime = sum(length > 24 for length in lengths) / len(lengths)
    print(
        f"{len(lengths)} maps, {sum(lengths) / len(lengths):.2f} rounds on average, overtime {overtime:.3f}"
    )
    for phase, title in _PHASES.items():
        print(f"\n{title}\n")
        print(
            "| type | quotes | mean quote | frequency | more than quoted | calibration error "
            "| Brier score | always the mean |"
        )
        print("|---|---|---|---|---|---|---|---|")
        for type_id in sorted(number for of, number in calibrations if of == phase):
            calibration = calibrations[phase, type_id]
            total = calibration.total
            share, width = total.won / total.count, 1.96 * math.sqrt(calibration.spread) / total.count
            more = (total.won - total.quoted) / total.count
            print(
                f"| {type_id} {RULES[type_id].key} | {total.count} | {total.quoted / total.count:.3f} "
                f"| {share:.3f} | {more:+.3f} ± {width:.3f} | {calibration.error:.3f} "
                f"| {total.error / total.count:.4f} | {share * (1 - share):.4f} |"
            )


def draw(calibrations: Calibrations, path: Path) -> None:
    """One panel a market type; a dot a tenth of the scale, larger for more quotes."""
    figure, panels = pyplot.subplots(2, 3, figsize=(9.6, 6.4), sharex=True, sharey=True)
    for axes, (key, title) in zip(panels.flat, PANELS.items(), strict=True):
        filled = [one for one in calibrations[key].bins if one.count >= _FEWEST]
        total = sum(one.count for one in filled)
        axes.plot([0, 1], [0, 1], linewidth=0.8, color="grey")
        axes.scatter(
            [one.quoted / one.count for one in filled],
            [one.won / one.count for one in filled],
            s=[12 + 240 * one.count / total for one in filled],
            alpha=0.7,
        )
        axes.set(title=title, xlim=(0, 1), ylim=(0, 1))
    figure.supxlabel("quoted probability")
    figure.supylabel("share that came true")
    save(figure, path)


if __name__ == "__main__":
    main()
