"""Are the quoted probabilities right? Simulated maps between teams that a tournament would put together are
read from their logs; at every freeze time each market type is priced, and what was quoted is compared with
what then happened.

    nox -s bench -- pricing             200 maps, a table
    python -m scripts.bench.pricing --maps 10000 --processes 2 --plot docs/calibration.svg
"""

import argparse
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random
from uuid import UUID

import msgspec

from app.domain import changes as c
from app.domain.market import Result
from app.domain.match import Match, TimelineEvent
from app.domain.transitions import fold
from app.ingest.cs2log import read
from app.sandbox.simulator.fictional_world import fictional_world
from app.sandbox.simulator.match_simulation import MatchPlan, simulate
from app.trading.forecast import Forecast
from app.trading.match_facts import collect_facts, facts_from_events
from app.trading.registry import RULES
from app.trading.settling import settlement_of
from app.trading.specifiers import Specifiers
from scripts.bench.pricing_plot import draw

BEGIN = 1_790_000_000_000
BINS = 10
_BATCH = 50  #: maps that a process takes at a time
Quote = tuple[int, Specifiers, float]


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


Bins = dict[int, list[Bin]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--maps", type=int, default=200)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    bins, lengths = _empty(), []
    batches = [range(start, min(start + _BATCH, options.maps)) for start in range(0, options.maps, _BATCH)]
    with ProcessPoolExecutor(options.processes) as pool:
        for found, rounds in pool.map(_measure, batches):
            _gather(found, bins)
            lengths += rounds
    _report(bins, lengths)
    if options.plot:
        draw(bins, options.plot)


def _empty() -> Bins:
    return defaultdict(lambda: [Bin() for _ in range(BINS)])


def _measure(seeds: Iterable[int]) -> tuple[dict[int, list[Bin]], list[int]]:
    """What was quoted on these maps and came of it, and how many rounds they had."""
    bins, lengths = _empty(), []
    for seed in seeds:
        match, quotes, events = _play(_plan(seed))
        lengths.append(match.maps[0].rounds_won)
        _judge(match, quotes, events, bins)
    return dict(bins), lengths


def _gather(found: dict[int, list[Bin]], bins: Bins) -> None:
    for type_id, counted in found.items():
        for whole, part in zip(bins[type_id], counted, strict=True):
            for name in Bin.__struct_fields__:
                setattr(whole, name, getattr(whole, name) + getattr(part, name))


def _plan(seed: int) -> MatchPlan:
    home, away = fictional_world().pair(Random(seed))
    return MatchPlan(home, away, seed, BEGIN, brief=True, knife=False)


def _play(plan: MatchPlan) -> tuple[Match, list[Quote], list[TimelineEvent]]:
    """The finished match, what was quoted on the way, and everything that happened."""
    lines, _ = simulate(plan)
    match = Match(
        id=UUID(int=1),
        number=1,
        home=plan.home.name,
        away=plan.away.name,
        event="",
        home_strength=plan.home.points,
        away_strength=plan.away.points,
    )
    quotes: list[Quote] = []
    events: list[TimelineEvent] = []
    for fact in read("\n".join(line.text for line in lines) + "\n", BEGIN).facts:
        match, changes = fold(match, (fact,))
        events += [change.event for change in changes if isinstance(change, c.EventAdded)]
        if any(isinstance(change, c.RoundOpened) for change in changes):
            quotes += _quotes(match)
    return match, quotes, events


def _quotes(match: Match) -> Iterator[Quote]:
    facts = collect_facts(match, ())
    forecast = Forecast(facts, match.last_fact_at)
    for rule in RULES.values():
        for specifiers in rule.opens(facts):
            if settlement_of(rule, facts, specifiers) is None:
                yield rule.id, specifiers, rule.price(forecast, specifiers)


def _judge(match: Match, quotes: Iterable[Quote], events: Iterable[TimelineEvent], bins: Bins) -> None:
    facts = facts_from_events(match, events)
    for type_id, specifiers, probability in quotes:
        found = settlement_of(RULES[type_id], facts, specifiers)
        if found is not None and found.result is not Result.VOID:
            round_key = min(int(probability * BINS), BINS - 1)
            bins[type_id][round_key].add(probability, found.result is Result.WON)


def _report(bins: Bins, lengths: list[int]) -> None:
    overtime = sum(length > 24 for length in lengths) / len(lengths)
    print(
        f"{len(lengths)} maps, {sum(lengths) / len(lengths):.2f} rounds on average, overtime {overtime:.3f}"
    )
    print("| type | quotes | mean quote | came true | Brier score | always the mean |")
    print("|---|---|---|---|---|---|")
    for type_id in sorted(bins):
        count, quoted, won, error = (
            sum(getattr(one, name) for one in bins[type_id]) for name in Bin.__struct_fields__
        )
        share = won / count
        print(
            f"| {type_id} {RULES[type_id].key} | {count} | {quoted / count:.3f} | {share:.3f} "
            f"| {error / count:.4f} | {share * (1 - share):.4f} |"
        )


if __name__ == "__main__":
    main()
