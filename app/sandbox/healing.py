"""Runs one fault on the demo, reports what its bookmaker sees, and waits until its book equals REST again."""

import asyncio
import time
from collections.abc import Callable

from app.sandbox.demonstration import BookmakerReport, DemoUnavailable, RunningDemo
from app.sandbox.faults import DemoFault, FaultTarget

_POLL_SECONDS, _TIMEOUT_SECONDS = 0.2, 240.0
#: Called with a line and its kind: a kind of the bookmaker's story, or "healed".
Print = Callable[[str, str], None]


async def run_fault(target: FaultTarget, fault: DemoFault, print_line: Print) -> None:
    """Inject the fault and return once the demo has healed. Raises `DemoUnavailable` if it does not."""
    fault, before = fault.seen_by_bookmaker(target.tenant), target.demo.report()
    story = StoryPrinter(target.demo, print_line)
    printing = asyncio.create_task(story.run())
    try:
        await fault.inject(target)
        healed = await _until_healed(target.demo, fault, story.began, before.active // 2 if before else 1)
    finally:
        printing.cancel()
        story.print_new()
    seconds = (time.time_ns() // 1_000_000 - story.began) / 1000
    checked = f"{healed.check.markets} markets of {healed.check.matches} matches" if healed.check else ""
    print_line(f"healed after {seconds:.1f} s: book equals REST: 0 differences ({checked})", "healed")


async def _until_healed(demo: RunningDemo, fault: DemoFault, began: int, least: int) -> BookmakerReport:
    """The first report in which it is healed, with at least `least` prices open."""
    mended = time.time_ns() // 1_000_000
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        report = demo.report()
        if report and is_healed(report, fault, began, mended) and report.active >= least:
            return report
        await asyncio.sleep(_POLL_SECONDS)
    raise DemoUnavailable(f"not healed after {_TIMEOUT_SECONDS:.0f} s: look at the demo's logs")


def is_healed(report: BookmakerReport, fault: DemoFault, began: int, mended: int) -> bool:
    """Whether the bookmaker has seen the fault that began at `began`, has recovered if the fault makes it
    recover, and has found its book equal to REST since `mended` (both Unix ms)."""
    recovery, check = report.recovery, report.check
    recovered = bool(recovery and recovery.asked_at >= began and recovery.state == "completed")
    seen = any(line.kind == fault.shows and line.at >= began for line in report.story)
    equal = check is not None and check.at > mended and check.count == 0
    after = not (fault.recovers and recovery and check) or check.at >= (recovery.finished_at or 0)
    return (
        report.state == "following"
        and equal
        and after
        and (recovered or not fault.recovers)
        and (seen or not fault.shows)
    )


class StoryPrinter:
    """Prints the bookmaker's story as it grows, and the progress of its recovery."""

    def __init__(self, demo: RunningDemo, print_line: Print) -> None:
        self._demo = demo
        self._print_line = print_line
        self.began = time.time_ns() // 1_000_000
        self._last = (self.began, 0)
        self._progress = ""

    async def run(self) -> None:
        while True:
            self.print_new()
            await asyncio.sleep(_POLL_SECONDS)

    def print_new(self) -> None:
        report = self._demo.report()
        if report is None:
            return
        for line in report.story:
            if (line.at, line.id) > self._last:
                self._print(line.at, line.text, line.kind)
                self._last = (line.at, line.id)
        self._print_recovery(report)

    def _print_recovery(self, report: BookmakerReport) -> None:
        recovery = report.recovery
        if recovery is None or recovery.asked_at < self.began:
            return
        progress = f"step {recovery.steps_done} of {recovery.steps}, {recovery.envelopes} envelopes"
        text = f"recovery {recovery.request_id}: {recovery.state}, {progress}"
        if text != self._progress:
            self._progress = text
            self._print(time.time_ns() // 1_000_000, text, "recovery")

    def _print(self, at: int, text: str, kind: str) -> None:
        self._print_line(f"{(at - self.began) / 1000:5.1f} s  {text}", kind)
