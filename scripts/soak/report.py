"""The report: a line every half minute, and at the end totals and differences; and the day as a picture."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from matplotlib import pyplot

from scripts.lab.database_audit import LedgerAudit
from scripts.lab.feed_client import FeedClient
from scripts.lab.local_faults import Happened
from scripts.lab.person import Visits
from scripts.lab.service import PROCESSES
from scripts.lab.tenant_clients import Copy
from scripts.soak.sampler import TABLES, Sample, Sampler
from scripts.svg import save

_SECONDS = 30.0


async def progress(sampler: Sampler) -> None:
    """Print progress, without end."""
    while True:
        await asyncio.sleep(_SECONDS)
        if sampler.samples:
            now = sampler.samples[-1]
            print(
                f"{now.at:6.0f} s  {now.envelopes:4.0f} envelopes/s, p50 {now.p50 or 0:.0f} ms, "
                f"p99 {now.p99 or 0:.0f} ms (own stall {now.stall:.0f} ms), "
                f"behind {now.behind_seconds or 0:.1f} s, "
                f"{now.rows['match']} matches, {now.rows['ledger_entry']} ledger entries",
                flush=True,
            )


def summary(
    samples: Sequence[Sample], everyone: Sequence[FeedClient], found: LedgerAudit, wrong: Sequence[str]
) -> str:
    """The day in figures, then each difference."""
    third, last = len(samples) // 3, samples[-1]
    memory = [
        f"{name} {_memory(samples[third:-third], name)}, {_memory(samples[-third:], name)}"
        for name in PROCESSES
    ]
    received, met = sum(each.received for each in everyone), sum(each.connections for each in everyone)
    requested, refused = sum(each.accepted for each in everyone), sum(each.refused for each in everyone)
    p50 = [each.p50 for each in samples if each.p50 is not None]
    p99 = [each.p99 for each in samples if each.p99 is not None]
    rest = [each.rest for each in samples if each.rest is not None]
    lines = [
        f"{found.matches} matches, {found.finished} finished; {found.entries} ledger entries audited, "
        f"{len(found.wrong)} differences",
        f"{len(everyone)} books, {len(wrong)} differ from REST: {received} envelopes, {met} connections, "
        f"{requested} recoveries, {refused} refused",
        f"median beat: {median(each.envelopes for each in samples):.0f} envelopes a second and tenant, "
        f"log line to queue p50 {median(p50):.0f} ms, p99 {median(p99):.0f} ms; "
        f"worst beat's p99 {max(p99):.0f} ms",
        f"by thirds of the day, medians: log line to queue p50 {_thirds(p50)} ms; of the process that plays "
        f"the clients, how late it was {_thirds([each.stall for each in samples])} ms, and a fixed loop "
        f"{_thirds([each.loop for each in samples])} ms",
        f"cores kept busy, by thirds of the day, medians: {'; '.join(_cores_by_thirds(samples))}",
        f"slowest REST answer of a beat: median {median(rest):.0f} ms, worst {max(rest):.0f} ms",
        f"memory in MiB, median of the day's second and last third: {'; '.join(memory)}",
        f"database {samples[0].database:.0f} to {last.database:.0f} MiB; rows: {last.rows}",
    ]
    return "\n".join((*lines, *wrong, *found.wrong))


def _thirds(values: Sequence[float], form: str = ".1f") -> str:
    """The median of each third."""
    third = max(1, len(values) // 3)
    return ", ".join(f"{median(values[at : at + third]):{form}}" for at in (0, third, len(values) - third))


def _cores_by_thirds(samples: Sequence[Sample]) -> list[str]:
    names = dict.fromkeys(name for each in samples for name in each.cores)
    found = {name: [each.cores[name] for each in samples if name in each.cores] for name in names}
    return [f"{name} {_thirds(values, '.2f')}" for name, values in found.items()]


def _memory(samples: Sequence[Sample], name: str) -> str:
    """The median, because a process that has just been started has little."""
    found = [each.memory[name] for each in samples if name in each.memory]
    return f"{median(found):.0f}" if found else "not measured"


def faults(happened: Sequence[Happened]) -> str:
    """The pairs of faults, and how long the service needed after them."""
    heal = [pair.healthy - pair.ended for pair in happened]
    lines = [
        f"{len(happened)} pairs of faults, {sum(pair.together > 0 for pair in happened)} overlapped; healthy "
        f"after the last of both: median {median(heal):.1f} s, worst {max(heal):.1f} s",
        *(
            f"{pair.began:6.0f} s  {' | '.join(map(str, pair.faults))}; both for {pair.together:.1f} s, "
            f"healthy {pair.healthy - pair.ended:.1f} s later"
            for pair in happened
        ),
    ]
    return "\n".join(lines)


def visits(found: Visits, people: int) -> str:
    """What people did at the portal and the console."""
    lines = [
        f"{people} people at portal and console: {len(found.pages) + len(found.pages_in_faults)} pages, "
        f"{found.events} events on {found.streams} streams",
        f"a page: {_millis(found.pages)}; while a fault was on: {_millis(found.pages_in_faults)}",
        f"done: {_counts(found.done)}",
        f"refused, because play had moved on or a recovery was in flight: {_counts(found.refused)}",
        f"failed while a fault was on, and repeated: {_counts(found.failed)}",
    ]
    return "\n".join(lines)


def clients(found: Visits, copies: Sequence[Copy]) -> str:
    """What the tenants' clients did beside the feed."""
    lines = [
        *(f"copy of {each.name}: {each.received} frames" for each in copies),
        f"requests of clients: {_counts(found.done)}",
        f"refused, because play or a fault had moved on: {_counts(found.refused)}",
        f"failed while a fault was on, and repeated: {_counts(found.failed)}",
    ]
    return "\n".join(lines)


def _millis(pages: Sequence[float]) -> str:
    return f"{len(pages)}, median {median(pages):.0f} ms, worst {max(pages):.0f} ms" if pages else "none"


def _counts(counted: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counted.items())) or "none"


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
