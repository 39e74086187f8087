"""What a log shows of the rounds in it, and how exact the times of its lines are.

    python -m scripts.bench.round_state [FILE] [--maps 20]

Of FILE (a game server's log, plain or .gz) it prints at which share of the seconds of freeze time and of play
each value is known, with all lines and without those of each kind; pauses are left out. Of simulated maps,
whose true times are known, it prints by how much the time of a fact differs from when it happened: the server
sends what it has written since the last body.
"""

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import mean, quantiles

import click

from app.domain import facts as f
from app.domain.match import Match
from app.domain.transitions import fold
from app.ingest import cs2log
from app.ingest.cs2log.reader import split_timestamp
from app.ingest.log_facts import fit_between
from app.sandbox.simulator.fictional_world import fictional_world
from app.sandbox.simulator.match_simulation import MatchPlan, simulate
from app.trading.round_state import RoundState
from app.trading.round_view import round_state
from scripts.bench.engine import Subject, recorded

VALUES = ("health", "armour", "helmets", "weapons", "utility", "money", "kits", "losses")
KINDS = {
    "all lines": None,
    "no hits (`mp_logdetail 0`)": re.compile(r"\] attacked "),
    "no money (`mp_logmoney 0`)": re.compile(r'money change|"player_\d+" : '),
    "no items (`mp_logdetail_items 0`)": re.compile(r"(picked up|purchased|left buyzone|threw|dropped) "),
}
_BEGIN = 1_790_000_000_000
_TIMED: dict[type[f.Fact], str] = {f.RoundStarted: "Round_Start", f.BombPlanted: "Planted_The_Bomb"}


def states(subject: Subject, without: re.Pattern[str] | None) -> Iterator[RoundState]:
    """The round at each second of the log in which there is one."""
    match, second = subject.match, 0
    for line in subject.text.split("\n"):
        split = split_timestamp(line)
        if split is None or (without is not None and without.search(line)):
            continue
        at, known = split[0], round_state(match, split[0])
        for _ in range(second, at // 1000 if second else 0):
            if known is not None and not match.pause:
                yield known
        match, second = _folded(match, line, at), at // 1000


def _folded(match: Match, line: str, at: int) -> Match:
    return fold(match, cs2log.read(line, at).facts)[0]


def shares(found: Iterable[RoundState]) -> dict[str, float]:
    """How often each value is known of both sides, by its name."""
    known, count = Counter[str](), 0
    for state in found:
        count += 1
        known["clock"] += state.seconds_left is not None
        for name in VALUES:
            known[name] += None not in (getattr(state.ct, name), getattr(state.t, name))
    return {name: known[name] / count for name in ("clock", *VALUES)} | {"seconds": count}


def errors(maps: int, every: float, latency: float) -> list[float]:
    """By how many seconds the times of facts are late. Bodies leave `every` so many seconds and arrive
    `latency` later."""
    home, away = fictional_world().teams[:2]
    found: list[float] = []
    for seed in range(maps):
        found += _errors_of_map(MatchPlan(home, away, seed, _BEGIN), random.Random(seed), every, latency)
    return found


def _errors_of_map(plan: MatchPlan, rng: random.Random, every: float, latency: float) -> Iterator[float]:
    log, _ = simulate(plan)
    offset, last, leaves = rng.random() * every, 0, 0.0
    body: list[tuple[float, str]] = []
    for line in log:
        if body and line.at >= leaves:
            arrived = _BEGIN + round((leaves + latency) * 1000)
            yield from _errors_of_body(body, last, arrived)
            last, body = arrived, []
        if not body:
            leaves = ((line.at - offset) // every + 1) * every + offset
        body.append((line.at, line.text))


def _errors_of_body(body: list[tuple[float, str]], last: int, arrived: int) -> Iterator[float]:
    facts = fit_between(cs2log.read("\n".join(text for _, text in body), arrived).facts, last, arrived)
    for kind, trigger in _TIMED.items():
        true = (at for at, text in body if f'"{trigger}"' in text)
        for fact, at in zip((fact for fact in facts if type(fact) is kind), true, strict=False):
            yield (fact.at - _BEGIN) / 1000 - at


def _report_known(subject: Subject) -> Iterator[str]:
    yield f"| lines | seconds | clock | {' | '.join(VALUES)} |"
    yield "|---" * (len(VALUES) + 3) + "|"
    for kind, pattern in KINDS.items():
        found = shares(states(subject, pattern))
        cells = " | ".join(f"{found[name]:.0%}" for name in ("clock", *VALUES))
        yield f"| {kind} | {found['seconds']:.0f} | {cells} |"


def _report_errors(maps: int) -> Iterator[str]:
    yield "| a body every | arrives after | facts | mean | least | 5 % | median | 95 % | most |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for every, latency in ((1.0, 0.05), (1.0, 0.2), (0.2, 0.05)):
        found = errors(maps, every, latency)
        cuts = quantiles(found, n=20)
        spread = " | ".join(
            f"{x:+.2f} s" for x in (mean(found), min(found), cuts[0], cuts[9], cuts[18], max(found))
        )
        yield f"| {every} s | {latency} s | {len(found)} | {spread} |"


@click.command()
@click.argument("file", required=False, type=click.Path(exists=True, path_type=Path))
@click.option("--maps", default=20, show_default=True, help="Simulated maps for the error of times.")
def main(file: Path | None, maps: int) -> None:
    """Measure, and print what `docs/pricing.md` shows."""
    if file is not None:
        click.echo("\n".join([*_report_known(recorded(file)), ""]))
    click.echo("\n".join(_report_errors(maps)))


if __name__ == "__main__":
    main()
