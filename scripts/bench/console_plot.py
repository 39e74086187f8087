"""What the live page costs over the time of a run, as a picture."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib import pyplot

from scripts.bench.console_figures import Run, slices
from scripts.svg import save

_MEGABYTE = 1024 * 1024


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
        axes.grid(visible=True, alpha=0.3)
        axes.legend(fontsize=7)
    save(figure, path)
