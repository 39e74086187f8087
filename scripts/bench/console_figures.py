"""The figures of the live page's benchmark: of one run, of two runs beside each other, and as a picture."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import msgspec
from matplotlib import pyplot

from scripts.bench.console_page import LongTask, Memory, Work
from scripts.bench.console_play import Delay
from scripts.bench.histogram import quantile
from scripts.svg import save

_MEGABYTE = 1024 * 1024


class Run(msgspec.Struct, frozen=True):
    """What was measured from `begin` to `end` (Unix ms) with so many matches. `work` is that of the page
    within this time. `closed` and `open`: cores that each part kept busy without and with the page open.
    `missed`: lines that were sent and moved nothing on the page within 30 s. `waiting`: log batches that
    ingest had not applied at the end."""

    matches: int
    begin: float
    end: float
    delays: Sequence[Delay]
    missed: int
    waiting: int
    long_tasks: Sequence[LongTask]
    memory: Sequence[Memory]
    work: Work
    closed: dict[str, float]
    open: dict[str, float]

    @property
    def seconds(self) -> float:
        return (self.end - self.begin) / 1000

    def figures(self) -> dict[str, float]:
        """The rows of the table, by their names."""
        painted = [each.painted for each in self.delays]
        received = [each.arrived for each in self.delays]
        drawing = [each.painted - each.arrived for each in self.delays]
        first, last = _ends(self.memory)
        minutes = self.seconds / 60
        return {
            "changes of a score or of players alive, a second": len(self.delays) / self.seconds,
            "line to screen, p50 ms": quantile(painted, 0.5),
            "line to screen, p99 ms": quantile(painted, 0.99),
            "line to browser, p50 ms": quantile(received, 0.5),
            "browser to screen, p50 ms": quantile(drawing, 0.5),
            "browser to screen, p99 ms": quantile(drawing, 0.99),
            "long tasks a minute": len(self.long_tasks) / minutes,
            "longest task, ms": max((each.millis for each in self.long_tasks), default=0.0),
            "main thread, % of a core": 100 * self.work.tasks / self.seconds,
            "of it scripts": 100 * self.work.scripts / self.seconds,
            "of it styles and layout": 100 * (self.work.styles + self.work.layout) / self.seconds,
            "heap, MB, first third": first.heap / _MEGABYTE,
            "heap, MB, last third": last.heap / _MEGABYTE,
            "nodes, last third": last.nodes,
            "listeners, last third": last.listeners,
            "renderer's own memory, MB, first third": first.private / _MEGABYTE,
            "renderer's own memory, MB, last third": last.private / _MEGABYTE,
            "stream, KB a second": self.work.bytes / 1024 / self.seconds,
            "web process, % of a core, page closed": 100 * self.closed["web"],
            "web process, % of a core, page open": 100 * self.open["web"],
        }


def table(few: Run, many: Run) -> str:
    """Both runs as a table, and what the second has of the first."""
    head = f"| | {few.matches} matches | {many.matches} matches | ratio |"
    left, right = few.figures(), many.figures()
    rows = [
        f"| {name} | {left[name]:.1f} | {right[name]:.1f} | {_ratio(left[name], right[name])} |"
        for name in left
    ]
    return "\n".join((head, "| --- | --- | --- | --- |", *rows))


def processors(run: Run) -> str:
    """The cores of each part while the page was open, and whether the service kept up."""
    parts = ", ".join(f"{name} {cores:.2f}" for name, cores in run.open.items())
    return (
        f"{run.matches} matches: cores {parts}; together {sum(run.open.values()):.2f}; at the end "
        f"{run.waiting} log batches waited and {run.missed} changes were not shown"
    )


class Slice(msgspec.Struct, frozen=True):
    """A part of a run: its middle (minutes from the start), delays (ms), long tasks a minute."""

    at: float
    p50: float
    p99: float
    long_tasks: float


def slices(run: Run, parts: int = 10) -> list[Slice]:
    """The run in equal parts; those without delays are left out."""
    edges = [run.begin + (run.end - run.begin) * each / parts for each in range(parts + 1)]
    found = []
    for begin, end in pairwise(edges):
        painted = [each.painted for each in run.delays if begin <= each.at < end]
        tasks = sum(begin <= each.at < end for each in run.long_tasks)
        if painted:
            middle, minutes = ((begin + end) / 2 - run.begin) / 60_000, (end - begin) / 60_000
            found.append(Slice(middle, quantile(painted, 0.5), quantile(painted, 0.99), tasks / minutes))
    return found


def draw(runs: Sequence[Run], path: Path) -> None:
    """Three panels, a colour for each number of matches: delay, long tasks and memory by minutes."""
    figure, (delay, tasks, memory) = pyplot.subplots(1, 3, figsize=(11, 3.8))
    for index, run in enumerate(runs):
        colour, label, parts = f"C{index}", f"{run.matches} matches", slices(run)
        minutes = [each.at for each in parts]
        delay.plot(minutes, [each.p50 for each in parts], marker=".", color=colour, label=f"{label}, p50")
        delay.plot(minutes, [each.p99 for each in parts], "--", color=colour, label=f"{label}, p99")
        tasks.plot(minutes, [each.long_tasks for each in parts], marker=".", color=colour, label=label)
        at = [(each.at - run.begin) / 60_000 for each in run.memory]
        memory.plot(at, [each.heap / _MEGABYTE for each in run.memory], marker=".", color=colour, label=label)
    labels = ("from log line to screen, ms", "tasks over 50 ms, a minute", "heap after a collection, MB")
    for axes, label in zip((delay, tasks, memory), labels, strict=True):
        axes.set(xlabel="minutes", ylabel=label, xlim=0, ylim=0)
        axes.legend(fontsize=7)
    save(figure, path)


def _ends(memory: Sequence[Memory]) -> tuple[Memory, Memory]:
    """The medians of the first and of the last third."""
    third = max(1, len(memory) // 3)
    return _median(memory[:third]), _median(memory[-third:])


def _median(of: Sequence[Memory]) -> Memory:
    fields = (sorted(getattr(each, name) for each in of) for name in Memory.__struct_fields__)
    return Memory(*(values[len(values) // 2] for values in fields))


def _ratio(few: float, many: float) -> str:
    return f"{many / few:.2f}" if few else "–"
