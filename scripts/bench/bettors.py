"""What three bettors win on simulated maps, with the advice on stakes and delays and without it.

The public bets at random. Somebody is 5 to 10 s ahead of our log, and bets wherever that gives value by our
own model on the true state. Somebody knows how strong both teams are, and bets wherever that gives value.
Both stake as much as they may, and bets count if the price stands when the delay is over.

    python -m scripts.bench.bettors [--maps 2000] [--processes 2] [--rounds 0.1] [--plot docs/bettors.svg]

Of each map a share of the rounds is watched; all bets are placed before play and in these. Amounts are in
units of liquidity. Intervals are 95 %, over maps.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import NamedTuple

import click
from matplotlib import pyplot

from scripts.bench.bettors_play import (
    BETTORS,
    POLICIES,
    Accounts,
    Bettor,
    Policy,
    of_map,
    profits,
    turnovers,
)
from scripts.bench.simulated_maps import in_batches
from scripts.svg import save

SHARP: tuple[Bettor, ...] = ("ahead", "strength")
TITLES = {
    "none": "none: one bettor may stake the liquidity, after 5 s",
    "stakes": "stakes, after 5 s",
    "both": "stakes and delays",
}
NAMES = {"public": "the public", "ahead": "5 to 10 s ahead", "strength": "knows strengths"}


class Mean(NamedTuple):
    """A mean over maps, and half the width of its interval."""

    value: float
    error: float

    @property
    def text(self) -> str:
        return f"{self.value:+.3f} ± {self.error:.3f}"


def mean_of(values: Sequence[float]) -> Mean:
    spread = stdev(values) if len(values) > 1 else math.nan
    return Mean(mean(values), 1.96 * spread / math.sqrt(len(values)))


def measure(seeds: Sequence[int], share: float) -> list[Accounts]:
    return [of_map(seed, share) for seed in seeds]


def table(maps: Sequence[Accounts]) -> Iterator[str]:
    yield "| advice | bettor | staked a map | won a map | of each unit |"
    yield "|---|---|---|---|---|"
    for policy in POLICIES:
        for bettor in BETTORS:
            staked, won = turnovers(maps, policy, bettor), mean_of(profits(maps, policy, (bettor,)))
            each = f"{won.value / staked:+.3f}" if staked else "–"
            yield f"| {TITLES[policy]} | {NAMES[bettor]} | {staked:.2f} | {won.text} | {each} |"


def left(maps: Sequence[Accounts], policy: Policy) -> Mean:
    """What the bookmaker has of all three."""
    return mean_of([-won for won in profits(maps, policy, BETTORS)])


def draw(maps: Sequence[Accounts], path: Path) -> None:
    """What each bettor wins under each advice, with intervals."""
    figure, axes = pyplot.subplots(figsize=(8, 3.6))
    for place, bettor in enumerate(BETTORS):
        found = [mean_of(profits(maps, policy, (bettor,))) for policy in POLICIES]
        axes.bar(
            [index + 0.27 * (place - 1) for index in range(len(POLICIES))],
            [one.value for one in found],
            0.25,
            yerr=[one.error for one in found],
            label=NAMES[bettor],
            error_kw={"linewidth": 0.8},
        )
    axes.axhline(0, linewidth=0.8, color="grey")
    axes.set_xticks(range(len(POLICIES)), list(POLICIES))
    axes.set(xlabel="advice that is followed", ylabel="won a map, of the liquidity")
    axes.legend(fontsize=8)
    save(figure, path)


@click.command()
@click.option("--maps", default=2000, show_default=True, help="Simulated maps.")
@click.option("--seed", default=0, show_default=True, help="The number of the first map.")
@click.option("--rounds", "share", default=0.1, show_default=True, help="The share of rounds watched.")
@click.option("--processes", default=1, show_default=True)
@click.option("--minutes", default=math.inf, help="End early, with the maps that were played by then.")
@click.option("--plot", type=click.Path(path_type=Path), help="Write the picture here.")
def main(maps: int, seed: int, share: float, processes: int, minutes: float, plot: Path | None) -> None:
    """Measure, and print what `docs/pricing.md` shows."""
    played: list[Accounts] = []
    with click.progressbar(length=maps, label="maps") as progress:
        for found in in_batches(measure, maps, processes, share, minutes, first=seed):
            played += found
            progress.update(len(found))
    click.echo(f"\n{len(played)} simulated maps, {share:.0%} of their rounds\n")
    click.echo("\n".join(table(played)))
    click.echo("")
    for policy in POLICIES:
        sharp = mean_of(profits(played, policy, SHARP))
        public = mean_of(profits(played, policy, ("public",)))
        click.echo(
            f"{TITLES[policy]}: both informed win {sharp.text}, the public {public.text}, "
            f"left {left(played, policy).text} a map"
        )
    if plot:
        draw(played, plot)


if __name__ == "__main__":
    main()
