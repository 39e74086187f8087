"""The fault menu: break one thing of the demo on purpose, and watch the bookmaker's book heal."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable

import click
import msgspec

from app.cli import breakage
from app.cli.context import running
from app.cli.demonstration import Demo, Report

_LOOK_SECONDS, _PATIENCE_SECONDS = 0.2, 240.0
_COLOURS = {
    "equal": "green",
    "recovery": "cyan",
    "connection": "yellow",
    "silent": "yellow",
    "alive": "yellow",
}
Act = Callable[[Demo, str], Awaitable[None]]


class Fault(msgspec.Struct, frozen=True):
    """`recovers`: the bookmaker must have recovered before it is over; `shows`: a kind of line that must
    have been told."""

    act: Act
    about: str
    recovers: bool = False
    shows: str = ""


FAULTS = {
    "feed": Fault(breakage.feed, "The process that publishes dies for 25 s.", recovers=True),
    "ingest": Fault(breakage.ingest, "The process that applies logs dies for 25 s.", recovers=True),
    "source": Fault(breakage.source, "Every game server falls silent for 40 s.", shows="suspended"),
    "consumer": Fault(breakage.consumer, "The bookmaker dies for 10 s.", recovers=True),
    "broker": Fault(
        breakage.broker, "The broker dies (one that is shared closes connections).", recovers=True
    ),
    "downtime": Fault(breakage.downtime, "The whole service dies for 25 s.", recovers=True),
    "delay": Fault(breakage.delay, "Messages come 8 s late."),
    "drop": Fault(breakage.drop, "Messages of some seconds never come.", recovers=True),
    "duplicate": Fault(breakage.duplicate, "The last messages come twice.", shows="again"),
    "reorder": Fault(breakage.reorder, "Messages of some seconds come last first.", recovers=True),
    "rollback": Fault(breakage.rollback, "A settlement is taken back, and made again.", shows="back"),
    "restore": Fault(breakage.restore, "A round is played again from a backup.", shows="back"),
}


@click.group()
def fault() -> None:
    """Break one thing of the running demo, and watch it heal until the bookmaker's book equals REST."""


def _command(name: str, chosen: Fault) -> click.Command:
    @click.option("--tenant", default="board", show_default=True, help="Whose messages, where it matters.")
    @running
    async def run(tenant: str) -> None:
        await rehearse(Demo(dict(os.environ)), chosen, tenant)

    return click.command(name, help=chosen.about, short_help=chosen.about)(run)


for _name, _chosen in FAULTS.items():
    fault.add_command(_command(_name, _chosen))


async def rehearse(demo: Demo, chosen: Fault, tenant: str) -> None:
    """Break it, tell what the bookmaker sees, and return once its book equals REST again."""
    before = demo.report()
    narrator = Narrator(demo)
    watching = asyncio.create_task(narrator.run())
    try:
        await chosen.act(demo, tenant)
        healed = await _until_healed(demo, chosen, narrator.began, before.active // 2 if before else 1)
    finally:
        watching.cancel()
        narrator.look()
    seconds = (time.time_ns() // 1_000_000 - narrator.began) / 1000
    where = f"{healed.check.markets} markets of {healed.check.matches} matches" if healed.check else ""
    click.secho(
        f"healed after {seconds:.1f} s: book equals REST: 0 differences ({where})", fg="green", bold=True
    )


async def _until_healed(demo: Demo, chosen: Fault, began: int, enough: int) -> Report:
    """The report in which it is healed, with at least `enough` prices open."""
    mended = time.time_ns() // 1_000_000
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        report = demo.report()
        if report and is_healed(report, chosen, began, mended) and report.active >= enough:
            return report
        await asyncio.sleep(_LOOK_SECONDS)
    raise click.ClickException(f"not healed after {_PATIENCE_SECONDS:.0f} s: look at the demo's logs")


def is_healed(report: Report, chosen: Fault, began: int, mended: int) -> bool:
    """Whether the bookmaker has seen the fault that began then, has recovered from it where it must, and
    has found its book equal to REST since it was mended (Unix ms)."""
    recovery, check = report.recovery, report.check
    recovered = bool(recovery and recovery.asked_at >= began and recovery.state == "completed")
    shown = any(line.kind == chosen.shows and line.at >= began for line in report.story)
    equal = check is not None and check.at > mended and check.count == 0
    after = not (chosen.recovers and recovery and check) or check.at >= (recovery.finished_at or 0)
    return (
        report.state == "following"
        and equal
        and after
        and (recovered or not chosen.recovers)
        and (shown or not chosen.shows)
    )


class Narrator:
    """Prints the bookmaker's story as it goes on, and how far its recovery has come."""

    def __init__(self, demo: Demo) -> None:
        self._demo = demo
        self.began = time.time_ns() // 1_000_000
        self._told = (self.began, 0)
        self._progress = ""

    async def run(self) -> None:
        while True:
            self.look()
            await asyncio.sleep(_LOOK_SECONDS)

    def look(self) -> None:
        report = self._demo.report()
        if report is None:
            return
        for line in report.story:
            if (line.at, line.id) > self._told:
                self._print(line.at, line.text, _COLOURS.get(line.kind))
                self._told = (line.at, line.id)
        self._tell_recovery(report)

    def _tell_recovery(self, report: Report) -> None:
        recovery = report.recovery
        if recovery is None or recovery.asked_at < self.began:
            return
        progress = f"step {recovery.steps_done} of {recovery.steps}, {recovery.envelopes} envelopes"
        text = f"recovery {recovery.request_id}: {recovery.state}, {progress}"
        if text != self._progress:
            self._progress = text
            self._print(time.time_ns() // 1_000_000, text, "cyan")

    def _print(self, at: int, text: str, colour: str | None) -> None:
        click.secho(f"{(at - self.began) / 1000:5.1f} s  {text}", fg=colour)
