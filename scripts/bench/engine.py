"""What a match costs us: reading its log, folding it, and repricing every market.

    python -m scripts.bench.engine [--repetitions 15] [--check] [--log FILE]

The log is that of a simulated map of 30 rounds (or FILE, plain or .gz). Readers are interleaved in one
process with a reference: splitting the same text and matching one regular expression a line. All times are
the processor's, since the machine may have other work. A reprice, when a freeze time begins or after a line
while a round is played, is the median over repetitions, which price teams of other strengths; tables that
all matches of a map share are computed before (the first line says how long that takes). `--check` fails
below 50,000 lines/s, and when the dearest freeze time takes longer than 5 ms.
"""

import gc
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from uuid import UUID

import click
import msgspec
from msgspec.structs import replace

from app.domain.changes import MatchChange, RoundOpened
from app.domain.market import Book
from app.domain.match import Match
from app.domain.transitions import fold
from app.ingest import cs2log
from app.sandbox.simulator.fictional_world import fictional_world
from app.sandbox.simulator.match_simulation import MatchPlan, simulate
from app.trading.engine import react
from app.trading.pricing import PricingConfig
from scripts.fit.logs import teams, text_of

ROUNDS = 30
_BEGIN, _ARRIVED, _SECOND = 1_790_000_000_000, 1_800_000_000_000, 1000
_LINE = re.compile(r'L (\d\d/\d\d/\d{4} - \d\d:\d\d:\d\d): (?:"([^"]*)" )?(.*)')
_PRICING, _LEAST_LINES, _MOST_MILLIS = PricingConfig(), 50_000, 5.0
_BEST_OF = (1, 5)
REFERENCE, READ, FOLD, BOTH = "split, one regex a line", "read", "fold", "read and fold"


class Subject(msgspec.Struct, frozen=True):
    """A log, and the match that it belongs to before its first line."""

    text: str
    match: Match

    @property
    def lines(self) -> int:
        return self.text.count("\n")


class Moment(msgspec.Struct, frozen=True):
    """A freeze time that begins, or a line of a round `in_play`: the arguments of `react`, with the book as
    it was before."""

    in_play: bool
    match: Match
    changes: tuple[MatchChange, ...]
    book: Book


class Reprices(msgspec.Struct, frozen=True):
    """`millis` of each moment of a map, in order; the median number of `markets` changed in one."""

    millis: list[float]
    markets: float

    def text(self, moments: str) -> str:
        ordered = sorted(self.millis)
        high = ordered[len(ordered) * 99 // 100]
        return (
            f"{len(ordered)} {moments}, {self.markets:.0f} markets changed in each (median): "
            f"{statistics.median(ordered):.2f} ms (median), {high:.2f} ms (99th percentile)"
        )


class Priced(msgspec.Struct, frozen=True):
    """What reprices cost: when freeze times begin, and in play. `first_millis`: the very first of the map in
    this process."""

    first_millis: float
    freezes: Reprices
    in_play: Reprices


def simulated(rounds: int = ROUNDS) -> Subject:
    """The log of the first simulated map with so many rounds."""
    home, away = fictional_world().teams[:2]
    for seed in range(10_000):
        log, truth = simulate(MatchPlan(home, away, seed, _BEGIN))
        if len(truth.maps[0].rounds) == rounds:
            return Subject("".join(f"{line.text}\n" for line in log), _match(home.name, away.name))
    raise click.ClickException(f"no simulated map has {rounds} rounds")


def recorded(path: Path) -> Subject:
    """A log file; the teams are those that it names last."""
    text = text_of(path)
    return Subject(text, _match(*teams(text)))


def _match(home: str, away: str) -> Match:
    return Match(
        id=UUID(int=1), number=1, home=home, away=away, event="Cup", home_strength=1650, away_strength=1600
    )


def readers(subject: Subject) -> dict[str, Callable[[], object]]:
    """What is measured over the whole log, by name."""
    facts = cs2log.read(subject.text, _ARRIVED).facts
    return {
        REFERENCE: lambda: [_LINE.match(line) for line in subject.text.split("\n")],
        READ: lambda: cs2log.read(subject.text, _ARRIVED),
        FOLD: lambda: fold(subject.match, facts),
        BOTH: lambda: fold(subject.match, cs2log.read(subject.text, _ARRIVED).facts),
    }


def speeds(subject: Subject, repetitions: int) -> dict[str, float]:
    """Median lines a second of each reader."""
    contenders = readers(subject)
    seen: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repetitions):
        for name, call in contenders.items():
            seen[name].append(subject.lines / _seconds(call))
    return {name: statistics.median(values) for name, values in seen.items()}


def _seconds(call: Callable[[], object]) -> float:
    gc.collect()
    gc.disable()
    started = time.thread_time()
    call()
    spent = time.thread_time() - started
    gc.enable()
    return spent


def moments(subject: Subject, match: Match) -> Iterator[Moment]:
    """Play the log second by second with an engine behind it; stop at each freeze time, and at each line of a
    round in play that changes something."""
    book: Book = {}
    lines = [line for line in subject.text.split("\n") if line]
    for index, line in enumerate(lines):
        facts = cs2log.read(line, _ARRIVED + index * _SECOND // 50).facts
        was_live = _is_live(match)
        match, changes = fold(match, facts)
        if not changes:
            continue
        opened = any(isinstance(change, RoundOpened) for change in changes)
        if opened or (was_live and _is_live(match)):
            yield Moment(not opened, match, changes, book)
        reaction = react(match, changes, book, now=index, may_price=True, pricing=_PRICING)
        book = book | {market.key: market for market in reaction.markets}


def _is_live(match: Match) -> bool:
    return match.current is not None and match.current.phase == "live"


def reprices(subject: Subject, repetitions: int, best_of: int) -> Priced:
    """What the reprice of each moment costs. Each repetition prices teams of other strengths, so that caches
    of the previous one do not help."""
    seen: list[list[tuple[bool, float, int]]] = []
    for step in range(repetitions + 1):
        match = replace(subject.match, home_strength=1650 + best_of + 3.7 * step, best_of=best_of)
        gc.collect()
        seen.append([(moment.in_play, *_reprice(moment)) for moment in moments(subject, match)])
    first, *seen = seen
    freezes, in_play = (
        _median([[found for found in run if found[0] is kind] for run in seen]) for kind in (False, True)
    )
    return Priced(first[0][1], freezes, in_play)


def _median(seen: Sequence[Sequence[tuple[bool, float, int]]]) -> Reprices:
    """Over repetitions, moment by moment."""
    by_moment = list(zip(*seen, strict=True))
    return Reprices(
        millis=[statistics.median(millis for _, millis, _ in moment) for moment in by_moment],
        markets=statistics.median(count for moment in by_moment for *_, count in moment),
    )


def _reprice(moment: Moment) -> tuple[float, int]:
    """Milliseconds, and how many markets changed."""
    gc.disable()
    started = time.thread_time()
    reaction = react(
        moment.match, moment.changes, moment.book, now=_ARRIVED, may_price=True, pricing=_PRICING
    )
    spent = time.thread_time() - started
    gc.enable()
    return spent * 1000, len(reaction.markets)


def _report(subject: Subject, lines_a_second: dict[str, float], priced: dict[int, Priced]) -> list[str]:
    table = ["| lines of a log | lines/s | x reference |", "|---|---|---|"]
    for name, speed in lines_a_second.items():
        table.append(f"| {name} | {speed:,.0f} | {speed / lines_a_second[REFERENCE]:.2f} |")
    match, _ = fold(subject.match, cs2log.read(subject.text, _ARRIVED).facts)
    rounds = sum(len(play.counted) for play in match.maps)
    size = len(msgspec.json.encode(match)) / 1024
    first, *_ = priced.values()
    return [
        *table,
        "",
        f"- {subject.lines:,} lines, {rounds} rounds counted; the match as one value: {size:.1f} KiB of JSON",
        f"- the first reprice in this process: {first.first_millis:.0f} ms",
        *(f"- best of {best_of}: {found.freezes.text('freeze times')}" for best_of, found in priced.items()),
        *(f"- best of {best_of}: {found.in_play.text('lines in play')}" for best_of, found in priced.items()),
    ]


def shortfalls(lines_a_second: dict[str, float], priced: dict[int, Priced]) -> list[str]:
    """The promises that these figures break."""
    dearest = max(millis for found in priced.values() for millis in found.freezes.millis)
    promises = {
        f"read {_LEAST_LINES:,} lines/s": lines_a_second[READ] >= _LEAST_LINES,
        f"read and fold {_LEAST_LINES:,} lines/s": lines_a_second[BOTH] >= _LEAST_LINES,
        f"reprice within {_MOST_MILLIS} ms": dearest <= _MOST_MILLIS,
    }
    return [promise for promise, held in promises.items() if not held]


@click.command()
@click.option("--repetitions", default=15, show_default=True)
@click.option("--log", type=click.Path(exists=True, path_type=Path), help="A log instead of a simulated one.")
@click.option("--check", is_flag=True, help="Fail when a promise is broken.")
def main(repetitions: int, log: Path | None, check: bool) -> None:
    """Measure, and print what `docs/performance.md` shows."""
    subject = recorded(log) if log else simulated()
    lines_a_second = speeds(subject, repetitions)
    priced = {best_of: reprices(subject, max(1, repetitions // 3), best_of) for best_of in _BEST_OF}
    click.echo("\n".join(_report(subject, lines_a_second, priced)))
    broken = shortfalls(lines_a_second, priced) if check else []
    for promise in broken:
        click.echo(f"missed: {promise}", err=True)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
