"""The report: a line every half minute, and at the end totals and differences."""

import asyncio
from collections.abc import Sequence
from statistics import median

from scripts.soak.bookmakers import Bookmaker
from scripts.soak.sampler import Sample, Sampler
from scripts.soak.verdict import Verdict

_SECONDS = 30.0


async def progress(sampler: Sampler) -> None:
    """Print progress, without end."""
    while True:
        await asyncio.sleep(_SECONDS)
        if sampler.samples:
            now = sampler.samples[-1]
            print(
                f"{now.at:6.0f} s  {now.envelopes:4.0f} envelopes/s, p50 {now.p50 or 0:.0f} ms, "
                f"p99 {now.p99 or 0:.0f} ms, behind {now.behind_seconds or 0:.1f} s, "
                f"{now.rows['match']} matches, {now.rows['ledger_entry']} ledger entries",
                flush=True,
            )


def summary(
    samples: Sequence[Sample], everyone: Sequence[Bookmaker], found: Verdict, wrong: Sequence[str]
) -> str:
    """The day in figures, then each difference."""
    first, last = samples[len(samples) // 3], samples[-1]
    memory = [f"{name} {first.memory.get(name, 0):.0f} to {size:.0f}" for name, size in last.memory.items()]
    received, met = sum(each.received for each in everyone), sum(each.connections for each in everyone)
    requested, refused = sum(each.recoveries for each in everyone), sum(each.refusals for each in everyone)
    p50 = [each.p50 for each in samples if each.p50 is not None]
    p99 = [each.p99 for each in samples if each.p99 is not None]
    lines = [
        f"{found.matches} matches, {found.finished} finished; {found.entries} ledger entries audited, "
        f"{len(found.wrong)} differences",
        f"{len(everyone)} books, {len(wrong)} differ from REST: {received} envelopes, {met} connections, "
        f"{requested} recoveries, {refused} refused",
        f"median beat: {median(each.envelopes for each in samples):.0f} envelopes a second and tenant, "
        f"log line to queue p50 {median(p50):.0f} ms, p99 {median(p99):.0f} ms; "
        f"worst beat's p99 {max(p99):.0f} ms",
        f"slowest REST answer of a beat: median {median(each.rest for each in samples):.0f} ms, "
        f"worst {max(each.rest for each in samples):.0f} ms",
        f"memory in MiB from a third of the day to its end: {', '.join(memory)}",
        f"database {samples[0].database:.0f} to {last.database:.0f} MiB; rows: {last.rows}",
    ]
    return "\n".join((*lines, *wrong, *found.wrong))
