"""The day as a picture."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib import pyplot

from scripts.soak.disruptions import ENDS
from scripts.soak.sampler import TABLES, Sample
from scripts.soak.soaked_service import WEB
from scripts.svg import save


def draw(samples: Sequence[Sample], seconds: float, path: Path) -> None:
    """Four panels over the day's minutes: memory, delay, lag, the database. Dashed lines are restarts."""
    minutes = [each.at / 60 for each in samples]
    figure, ((memory, delay), (lag, database)) = pyplot.subplots(2, 2, figsize=(10, 6.4), sharex=True)
    for name in (*WEB, "ingest", "feed"):
        memory.plot(minutes, [each.memory.get(name, float("nan")) for each in samples], label=name)
    memory.set(ylabel="resident memory, MiB", ylim=(0, None))
    for label, values in (("p99", [each.p99 for each in samples]), ("p50", [each.p50 for each in samples])):
        delay.plot(minutes, [float("nan") if each is None else each for each in values], label=label)
    delay.set(ylabel="log line to queue, ms", yscale="log")
    lag.plot(minutes, [each.behind_seconds or 0 for each in samples], label="the tenant furthest behind, s")
    lag.plot(minutes, [each.rest / 1000 for each in samples], label="the slowest REST answer, s")
    lag.set(ylabel="seconds", ylim=(0, None), xlabel="minutes")
    database.plot(minutes, [each.database for each in samples], label="database, MiB")
    for table in TABLES[1:]:
        database.plot(minutes, [each.rows[table] / 1000 for each in samples], label=f"{table}, thousand rows")
    database.set(ylim=(0, None), xlabel="minutes")
    for axes in (memory, delay, lag, database):
        for share, *_ in ENDS:
            axes.axvline(share * seconds / 60, color="grey", linestyle="--", linewidth=0.7)
        axes.grid(visible=True, alpha=0.3)
        axes.legend()
    save(figure, path)
