"""The day as a picture."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib import pyplot

from scripts.soak.faults import Happened
from scripts.soak.sampler import TABLES, Sample
from scripts.soak.soaked_service import PROCESSES
from scripts.svg import save


def draw(samples: Sequence[Sample], happened: Sequence[Happened], path: Path) -> None:
    """Four panels over the day's minutes: memory, delay, lag, the database. Grey is while faults are on."""
    minutes = [each.at / 60 for each in samples]
    figure, ((memory, delay), (lag, database)) = pyplot.subplots(2, 2, figsize=(10, 6.4), sharex=True)
    for name in PROCESSES:
        memory.plot(minutes, [each.memory.get(name, float("nan")) for each in samples], label=name)
    memory.set(ylabel="resident memory, MiB", ylim=(0, None))
    for label, values in (("p99", [each.p99 for each in samples]), ("p50", [each.p50 for each in samples])):
        delay.plot(minutes, [float("nan") if each is None else each for each in values], label=label)
    delay.set(ylabel="log line to queue, ms", yscale="log")
    lag.plot(minutes, [each.behind_seconds or 0 for each in samples], label="the tenant furthest behind, s")
    rest = [float("nan") if each.rest is None else each.rest / 1000 for each in samples]
    lag.plot(minutes, rest, label="the slowest REST answer, s")
    lag.set(ylabel="seconds", ylim=(0, None), xlabel="minutes")
    database.plot(minutes, [each.database for each in samples], label="database, MiB")
    for table in TABLES[1:]:
        database.plot(minutes, [each.rows[table] / 1000 for each in samples], label=f"{table}, thousand rows")
    database.set(ylim=(0, None), xlabel="minutes")
    for axes in (memory, delay, lag, database):
        for pair in happened:
            axes.axvspan(pair.began / 60, pair.healthy / 60, color="grey", alpha=0.3, linewidth=0)
        axes.legend()
    save(figure, path)
