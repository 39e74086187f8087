"""What somebody wins who sees play before our log does.

Somebody sees the true state of play N seconds before our log batch does, and bets one unit wherever our own
model on the true state gives value. A bet counts only if the market is still on offer at the same price when
the delay of 5 s is over. Bets are placed right after kills, plants, begun defuses and results, in the last
seconds of the clock and of the fuse, and now and then between.

    python -m scripts.bench.courtsider [--maps 2000] [--processes 2] [--rounds 0.2] [--log FILE]
        [--plot docs/courtsider.svg]

Played are simulated maps, of each a share of the rounds, and a real server's log at its own speed where it is
there. Intervals are 95 %, over maps; one log has none.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

import click
from matplotlib import pyplot
from matplotlib.axes import Axes

from app.ingest.cs2log.reader import split_timestamp
from app.sandbox.simulator.match_simulation import new_truth, play
from app.trading.registry import RULES
from scripts.bench.courtsider_play import LEADS, Observation, Tallies, Tally, batches
from scripts.bench.engine import recorded
from scripts.bench.simulated_maps import BEGIN, in_batches, match_of, plan_of
from scripts.svg import save

REAL_LOG = Path("../shared/data/cs2-server-inferno.log.gz")
_GOAL_LEAD, _DEAREST = 2, 12
#: Titles of the picture's panels, and the market types in each.
PANELS: dict[str, tuple[int, ...]] = {
    "round winner, kills": (13, 19, 20),
    "first kill of the round": (14, 15, 16),
    "how a round ends": (17, 18, 21, 29, 30),
    "match, map, races": (1, 6, 11, 22, 23),
    "handicap, totals": (7, 8, 9, 10, 25, 26, 27, 28),
    "pistol rounds": (12, 24),
}
_STYLES = ("-", "--")


class Return(NamedTuple):
    """The mean return of `bets` bets, and half the width of its interval."""

    bets: int
    mean: float
    error: float


Returns = dict[int, dict[int, Return]]  #: by market type and lead


def simulated(seed: int, share: float) -> Tallies:
    plan = plan_of(seed)
    lines = ((line.at, line.text) for line in play(plan, new_truth(plan)))
    return Observation(match_of(plan), BEGIN, share, Random(f"rounds of {seed}")).run(batches(lines))


def measure(seeds: Sequence[int], share: float) -> list[Tallies]:
    return [simulated(seed, share) for seed in seeds]


def recorded_tallies(path: Path) -> Tallies:
    """A real log at its own speed, by its lines' own seconds."""
    subject = recorded(path)
    return Observation(subject.match, BEGIN, 1.0, Random(1)).run(batches(_timed(subject.text)))


def _timed(text: str) -> Iterator[tuple[float, str]]:
    first = latest = None
    for line in text.split("\n"):
        split = split_timestamp(line)
        if split is None:
            continue
        first = split[0] if first is None else first
        latest = split[0] if latest is None else max(latest, split[0])
        yield (latest - first) / 1000, line


def returns(maps: Sequence[Tallies]) -> Returns:
    """Mean returns with intervals over maps (a ratio estimator's, since maps have different numbers)."""
    found: dict[tuple[int, int], list[tuple[int, float]]] = defaultdict(list)
    for tallies in maps:
        sums: dict[tuple[int, int], tuple[int, float]] = {}
        for (type_id, lead, _), tally in tallies.items():
            bets, returned = sums.get((type_id, lead), (0, 0.0))
            sums[type_id, lead] = bets + tally.bets, returned + tally.returned
        for key, of_map in sums.items():
            found[key].append(of_map)
    by_type: Returns = defaultdict(dict)
    for (type_id, lead), counted in sorted(found.items()):
        by_type[type_id][lead] = _return(counted)
    return dict(by_type)


def _return(counted: Sequence[tuple[int, float]]) -> Return:
    bets = sum(count for count, _ in counted)
    mean = sum(returned for _, returned in counted) / bets
    spread = sum((returned - mean * count) ** 2 for count, returned in counted)
    few = len(counted) / (len(counted) - 1) if len(counted) > 1 else math.inf
    return Return(bets, mean, 1.96 * math.sqrt(spread * few) / bets if len(counted) > 1 else math.nan)


def table(found: Returns) -> Iterator[str]:
    yield "| type | bets at N = 2 | " + " | ".join(f"N = {lead}" for lead in LEADS) + " |"
    yield "|---|---|" + "---|" * len(LEADS)
    for type_id, by_lead in found.items():
        bets = by_lead[_GOAL_LEAD].bets if _GOAL_LEAD in by_lead else 0
        cells = (_cell(by_lead.get(lead)) for lead in LEADS)
        yield f"| {type_id} {RULES[type_id].key} | {bets} | " + " | ".join(cells) + " |"


def _cell(one: Return | None) -> str:
    if one is None:
        return "–"
    return f"{one.mean:+.2f}" if math.isnan(one.error) else f"{one.mean:+.2f} ± {one.error:.2f}"


def occasions(maps: Sequence[Tallies], lead: int) -> Iterator[str]:
    """What had just happened, by its share of the winnings: where money is lost."""
    sums: dict[str, Tally] = defaultdict(Tally)
    for tallies in maps:
        for (type_id, at, occasion), tally in tallies.items():
            if at == lead:
                one = sums[f"{occasion}, {type_id} {RULES[type_id].key}"]
                one.bets, one.returned = one.bets + tally.bets, one.returned + tally.returned
    dearest = sorted(sums.items(), key=lambda item: -item[1].returned)
    for name, one in dearest[:_DEAREST]:
        each, a_map = one.returned / one.bets, one.returned / len(maps)
        yield f"- {name}: {one.bets} bets, {each:+.3f} each, {a_map:+.3f} a map"


def expected(maps: Sequence[Tallies]) -> Iterator[str]:
    """By lead, what all bets together return by our own model when they are accepted."""
    for lead in LEADS:
        of_lead = [one for tallies in maps for (_, at, _), one in tallies.items() if at == lead]
        if of_lead:
            bets = sum(one.bets for one in of_lead)
            mean = sum(one.expected for one in of_lead) / bets
            yield f"- N = {lead}: {bets} bets, {mean:+.3f} each"


def play_maps(maps: int, processes: int, share: float, minutes: float) -> list[Tallies]:
    tallies: list[Tallies] = []
    with click.progressbar(length=maps, label="maps") as progress:
        for found in in_batches(measure, maps, processes, share, minutes):
            tallies += found
            progress.update(len(found))
    return tallies


def _report(title: str, maps: Sequence[Tallies]) -> Returns:
    found = returns(maps)
    click.echo(f"\n{title}\n")
    click.echo("\n".join(table(found)))
    click.echo(f"\nN = {_GOAL_LEAD}, what had just happened:\n")
    click.echo("\n".join(occasions(maps, _GOAL_LEAD)))
    click.echo("\nBy our own model when bets are accepted, all types:\n")
    click.echo("\n".join(expected(maps)))
    return found


def draw(by_source: Mapping[str, Returns], path: Path) -> None:
    """One panel a family; solid lines are the first source, dashed ones the second."""
    figure, panels = pyplot.subplots(2, 3, figsize=(11, 7), sharex=True, sharey=True)
    for axes, (title, types) in zip(panels.flat, PANELS.items(), strict=True):
        axes.axhline(0, linewidth=0.8, color="grey")
        axes.axvline(2, linewidth=0.8, color="grey", linestyle=":")
        for index, type_id in enumerate(types):
            for style, (source, returns) in zip(_STYLES, by_source.items(), strict=False):
                _line(axes, returns.get(type_id, {}), f"C{index}", style, _label(type_id, source, style))
        axes.set(title=title, ylim=(-1.05, 1.5))
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=7, loc="upper left")
    figure.supxlabel("seconds that the bettor is ahead of our log")
    figure.supylabel("mean return of a bet")
    save(figure, path)


def _label(type_id: int, source: str, style: str) -> str:
    return RULES[type_id].key if style == _STYLES[0] else f"{RULES[type_id].key}, {source}"


def _line(axes: Axes, by_lead: Mapping[int, Return], colour: str, style: str, label: str) -> None:
    if not by_lead:
        return
    leads = list(by_lead)
    means = [one.mean for one in by_lead.values()]
    errors = [0.0 if math.isnan(one.error) else one.error for one in by_lead.values()]
    axes.plot(leads, means, style, color=colour, marker=".", linewidth=1, label=label)
    axes.fill_between(
        leads,
        [mean - error for mean, error in zip(means, errors, strict=True)],
        [mean + error for mean, error in zip(means, errors, strict=True)],
        color=colour,
        alpha=0.15,
        linewidth=0,
    )


@click.command()
@click.option("--maps", default=2000, show_default=True, help="Simulated maps.")
@click.option("--rounds", "share", default=0.2, show_default=True, help="The share of rounds watched.")
@click.option("--processes", default=1, show_default=True)
@click.option("--minutes", default=math.inf, help="End early, with the maps that were played by then.")
@click.option("--log", "path", default=REAL_LOG, show_default=True, type=click.Path(path_type=Path))
@click.option("--plot", type=click.Path(path_type=Path), help="Write the picture here.")
def main(maps: int, share: float, processes: int, minutes: float, path: Path, plot: Path | None) -> None:
    """Measure, and print what `docs/pricing.md` shows."""
    by_source: dict[str, Returns] = {}
    if maps:
        played = play_maps(maps, processes, share, minutes)
        title = f"{len(played)} simulated maps, {share:.0%} of their rounds"
        by_source["simulated maps"] = _report(title, played)
    if path.exists():
        by_source["real log"] = _report(f"{path.name}, all rounds", [recorded_tallies(path)])
    else:
        click.echo(f"\n{path} is not there: no real log was played")
    if plot:
        draw(by_source, plot)
    _conclude(by_source.get("simulated maps", {}))


def _conclude(found: Returns) -> None:
    """Which types return more than nothing at the goal's lead, and for which that is more than chance."""
    at_goal = {type_id: by_lead[_GOAL_LEAD] for type_id, by_lead in found.items() if _GOAL_LEAD in by_lead}
    above = {type_id: one for type_id, one in at_goal.items() if one.mean > 0}
    sure = [RULES[type_id].key for type_id, one in above.items() if one.mean > one.error]
    named = [f"{RULES[type_id].key} {one.mean:+.2f} of {one.bets} bets" for type_id, one in above.items()]
    bets, returned = (
        sum(one.bets for one in at_goal.values()),
        sum(one.bets * one.mean for one in at_goal.values()),
    )
    click.echo(f"\nabove 0 at N = {_GOAL_LEAD}: {', '.join(named) or 'none'}")
    click.echo(f"above 0 by more than the interval: {', '.join(sure) or 'none'}")
    if bets:
        click.echo(f"all types at N = {_GOAL_LEAD}: {bets} bets, {returned / bets:+.3f} each")


if __name__ == "__main__":
    main()
