"""Combined prices against drawn continuations, and what they cost.

    python -m scripts.bench.combinations [--states 100] [--combinations 10] [--continuations 200000]
                                         [--seed 1] [--plot docs/combinations.svg] [--check]

The states are those of simulated best-of-threes, before play and in it; the combinations have 2 to 6 legs of
the markets on offer there. A combination is bet on at its fair odds in every continuation
(`continuations`: drawn round by round, void legs fall out); what is paid must be the stake on average. The
distance of the mean from the stake, in standard errors, must look like a normal distribution: its standard
deviation is near 1, and the largest of so many is as far out as chance makes it. Combinations that fewer
than 50 continuations are expected to win are drawn again.

Times are the processor's: of `combine` with five legs, from a match as the database has it, and of
`available` with two legs and with none. `--check` fails if a mean is more than 5 standard errors away.
"""

import dataclasses
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from random import Random

import click
import msgspec
import numpy as np
from matplotlib import pyplot
from msgspec.structs import replace

from app.domain.market import ACTIVE, Book, MarketKey
from app.domain.match import Match
from app.domain.transitions import fold
from app.ingest import cs2log
from app.sandbox.simulator.match_simulation import MatchPlan, new_truth, play
from app.trading.combinations import CombinationRefused, available, combine
from app.trading.engine import react
from app.trading.forecast import Forecast
from app.trading.joint_distribution import JointDistribution
from app.trading.match_facts import collect_facts
from app.trading.pricing import PricingConfig
from app.trading.registry import RULES
from app.trading.rules import parse_specifiers
from scripts.bench.continuations import Continuations
from scripts.bench.simulated_maps import match_of, plan_of
from scripts.svg import save

_PRICING, _SECONDS, _LEAST_WON, _MOST_ERRORS = PricingConfig(), 5.0, 50, 5.0
_STATES_A_MATCH = 10


class State(msgspec.Struct, frozen=True):
    """A match with its book, at a time (Unix ms)."""

    match: Match
    book: Book
    now: int

    @property
    def forecast(self) -> Forecast:
        return Forecast(collect_facts(self.match, ()), self.now)

    @property
    def on_offer(self) -> list[MarketKey]:
        """What can be part of a combination."""
        return [
            key
            for key, market in self.book.items()
            if market.status is ACTIVE and RULES[key[0]].proposition is not None
        ]


class Comparison(msgspec.Struct, frozen=True):
    """A combination: its fair probability, what was paid on average for a stake of 1 at fair odds, and how
    many standard errors that is from 1."""

    legs: tuple[MarketKey, ...]
    fair: float
    paid: float
    errors: float


def states(count: int, seed: int, of_match: int = _STATES_A_MATCH) -> list[State]:
    """So many states with markets on offer, `of_match` of each of several matches: one before it begins, and
    others."""
    random, found = Random(seed), list[State]()
    while len(found) < count:
        plan = dataclasses.replace(plan_of(random.randrange(10_000)), best_of=3)
        on_offer = [one for one in _played(plan) if one.on_offer and not one.match.over]
        wanted = min(of_match, len(on_offer), count - len(found))
        found += [on_offer[0], *random.sample(on_offer[1:], wanted - 1)]
    return found


def _played(plan: MatchPlan) -> Iterator[State]:
    """The match every few seconds, as the engine sees it."""
    match, now = replace(match_of(plan), best_of=plan.best_of), plan.begin
    first = react(match, (), Book(), now=now, may_price=True, pricing=_PRICING)
    book = {market.key: market for market in first.markets}
    yield State(match, book, now)
    for number, lines in groupby(play(plan, new_truth(plan)), key=lambda line: int(line.at / _SECONDS)):
        now = plan.begin + int((number + 1) * _SECONDS * 1000)
        match, changes = fold(match, cs2log.read("".join(f"{line.text}\n" for line in lines), now).facts)
        match = replace(match, last_arrived_at=now)
        reaction = react(match, changes, book, now=now, may_price=True, pricing=_PRICING)
        book = book | {market.key: market for market in reaction.markets}
        yield State(match, book, now)


def bet_on(state: State, count: int, continuations: int, random: Random) -> list[Comparison]:
    """So many combinations in one state."""
    generator = np.random.default_rng(random.randrange(2**32))
    drawn, joint = Continuations(state.forecast, continuations, generator), JointDistribution(state.forecast)
    found: list[Comparison] = []
    while len(found) < count:
        legs = random.sample(state.on_offer, min(random.randint(2, 6), len(state.on_offer)))
        try:
            fair = combine(state.forecast, state.book, legs).probability
        except CombinationRefused:
            continue
        if fair * continuations >= _LEAST_WON:
            found.append(_bet(joint, drawn, legs, fair))
    return found


def _bet(
    joint: JointDistribution, drawn: Continuations, legs: Sequence[MarketKey], fair: float
) -> Comparison:
    maps = {key: parse_specifiers(key[1]).map for key in legs}
    won = {key: drawn.wins(key) for key in legs}
    paid = np.zeros(drawn.count)
    for played in sorted(set(drawn.played.tolist())):
        left = [key for key in legs if maps[key] <= played]
        wins = np.logical_and.reduce([drawn.played == played, *[won[key] for key in left]])
        paid[wins] = 1 / joint.probability(left)
    error = paid.std() / drawn.count**0.5
    return Comparison(tuple(legs), fair, float(paid.mean()), float((paid.mean() - 1) / error))


def _millis(state: State, legs: Sequence[MarketKey], *, only_available: bool = False) -> float:
    begin = time.process_time()
    try:
        if only_available:
            available(state.forecast, state.book, legs)
        else:
            combine(state.forecast, state.book, legs)
    except CombinationRefused:
        pass
    return (time.process_time() - begin) * 1000


def percentiles(millis: Sequence[float]) -> str:
    ordered = sorted(millis)
    high = ordered[len(ordered) * 99 // 100]
    return f"{statistics.median(ordered):.1f} ms (median), {high:.1f} ms (99th percentile) of {len(ordered)}"


def times(found: Sequence[State], random: Random) -> dict[str, list[float]]:
    """What prices and selections cost in these states, in random order, by what was requested."""
    spent: dict[str, list[float]] = {
        "price of five legs": [],
        "selections": [],
        "selections that go with two legs": [],
    }
    for state in random.sample(found, len(found)):
        for _ in range(10):
            legs = random.sample(state.on_offer, min(5, len(state.on_offer)))
            spent["price of five legs"].append(_millis(state, legs))
        spent["selections"].append(_millis(state, (), only_available=True))
        for _ in range(3):
            two = random.sample(state.on_offer, 2)
            spent["selections that go with two legs"].append(_millis(state, two, only_available=True))
    return spent


def plot(found: Sequence[Comparison], path: Path) -> None:
    """How far what was paid is from the stake, beside a normal distribution, and by the fair probability."""
    errors = np.array([one.errors for one in found])
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.4))
    left.hist(errors, bins=np.arange(-4.25, 4.5, 0.5), density=True, color="0.75")
    at = np.linspace(-4.25, 4.25, 200)
    left.plot(at, np.exp(-at * at / 2) / (2 * np.pi) ** 0.5, color="black", linewidth=1)
    left.set_xlabel("standard errors from the stake")
    left.set_title(f"{len(found)} combinations; the line is chance alone")
    right.semilogx([one.fair for one in found], errors, ".", markersize=3, color="black")
    right.set_xlabel("fair probability")
    right.set_ylabel("standard errors")
    save(figure, path)


@click.command()
@click.option("--states", "state_count", default=100, show_default=True)
@click.option("--combinations", default=10, show_default=True, help="In each state.")
@click.option("--continuations", default=200_000, show_default=True, help="Of each state.")
@click.option("--seed", default=1, show_default=True)
@click.option("--plot", "path", type=click.Path(path_type=Path))
@click.option("--check", is_flag=True)
def main(
    state_count: int, combinations: int, continuations: int, seed: int, path: Path | None, check: bool
) -> None:
    """Compare combined prices with drawn continuations, and say what they cost."""
    random, found = Random(seed), list[Comparison]()
    known = states(state_count, seed)
    for requested, millis in times(known, Random(seed)).items():
        click.echo(f"{requested}: {percentiles(millis)}")
    for number, state in enumerate(known, start=1):
        found += bet_on(state, combinations, continuations, random)
        click.echo(f"\r{number} of {state_count} states", nl=False, err=True)
    click.echo(err=True)
    errors = [one.errors for one in found]
    worst = max(found, key=lambda one: abs(one.errors))
    within = sum(abs(one) <= 2 for one in errors) / len(errors)
    click.echo(
        f"{len(found)} combinations, {continuations:,} continuations of each state: mean "
        f"{statistics.mean(errors):+.3f} standard errors, standard deviation "
        f"{statistics.pstdev(errors):.3f}, {within:.1%} within two (chance: 95.4%)"
    )
    click.echo(f"the worst: {worst.errors:+.2f}, fair {worst.fair:.5f}, paid {worst.paid:.4f}")
    for key in worst.legs:
        click.echo(f"    {RULES[key[0]].key} {key[1]}")
    if path:
        plot(found, path)
    if check and abs(worst.errors) > _MOST_ERRORS:
        sys.exit(1)


if __name__ == "__main__":
    main()
