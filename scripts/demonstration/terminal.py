"""The board in the terminal: what the page shows, drawn by rich twice a second until the demo is stopped."""

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from threading import Event, Thread
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.layout import Layout
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from .report import Latency, Report
from .snapshot import Price, Reader, Settled, Snapshot

_READ_SECONDS = 1.0
_BAR = 24
_STATES = {
    "following": "[green]following the queue[/]",
    "recovering": "[yellow]recovering: prices suspended until it is complete[/]",
    "silent": "[yellow]no messages: every price suspended[/]",
    "away": "[red]not connected: every price suspended[/]",
}
_KINDS = {"equal": "green", "recovery": "cyan", "back": "magenta", "again": "dim"}


class Board:
    """Shows itself on `console` from `shown` on; `notify` shows a line below it."""

    def __init__(self, base_url: str, key: str, link: str, console: Console | None = None) -> None:
        self._reader = Reader(base_url, key)
        self._link = link
        self._console = console or Console()
        self._snapshot = Snapshot()
        self._lines: deque[str] = deque(maxlen=3)
        self._ended = Event()

    def notify(self, line: str) -> None:
        self._lines.append(line)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """On a screen of its own, which gives way to what was there before."""
        reading = Thread(target=self._read, daemon=True)
        reading.start()
        with Live(get_renderable=self._draw, console=self._console, screen=True, refresh_per_second=2):
            try:
                yield
            finally:
                self._ended.set()
        reading.join(timeout=6)

    def _read(self) -> None:
        while not self._ended.wait(_READ_SECONDS):
            self._snapshot = self._reader.read()

    def _draw(self) -> RenderableType:
        return drawn(self._snapshot, self._link, list(self._lines), self._console.width)


def drawn(snapshot: Snapshot, link: str, lines: list[str], width: int) -> Layout:
    """A snapshot on a screen of that width."""
    layout = Layout()
    head = Text.assemble(("matchfeed ", "bold green"), f"{link}   ", ("Ctrl-C ends", "dim"))
    layout.split_column(Layout(head, size=2), Layout(name="middle"), Layout(_footer(snapshot, lines), size=3))
    left = Layout(name="left", ratio=3)
    left.split_column(
        Layout(_panel("Matches", _matches(snapshot.matches)), size=len(snapshot.matches) + 4),
        Layout(_panel(_title(snapshot.view), _prices(snapshot.prices))),
        Layout(_panel("Last settlements, and what each rests on", _settlements(snapshot.settled)), size=11),
    )
    right = Layout(name="right", ratio=2, visible=width >= 90)
    right.split_column(
        Layout(_panel("Log line → your queue", _latency(snapshot.report)), size=14),
        Layout(_panel("The bookmaker's book", _book(snapshot.report)), size=7),
        Layout(_panel("Story", _story(snapshot.report))),
        Layout(_panel("Latest envelopes", _envelopes(snapshot.report)), size=11),
    )
    layout["middle"].split_row(left, right)
    return layout


def _panel(title: str, content: RenderableType) -> Panel:
    return Panel(content, title=title, title_align="left", border_style="green")


def _footer(snapshot: Snapshot, lines: list[str]) -> Text:
    return Text("\n".join([*([snapshot.trouble] if snapshot.trouble else []), *lines][-3:]) or " ", "yellow")


def _grid(*styles: str) -> Table:
    grid = Table.grid(padding=(0, 1), expand=True)
    for style in styles:
        grid.add_column(style=style, no_wrap=True, overflow="ellipsis")
    return grid


def _matches(matches: list[dict[str, Any]]) -> Table:
    table = _grid("", "bold", "", "dim", "")
    table.columns[1].min_width = len("13:11")
    for match in matches:
        play, board = _playing(match), match.get("scoreboard") or {}
        offers = match.get("markets", ())
        open_ = sum(offer["status"] == "active" for offer in offers)
        why = next((offer["suspended_reason"] for offer in offers if offer.get("suspended_reason")), "")
        table.add_row(
            f"{match['team_a']} – {match['team_b']}",
            f"{play['score_a']}:{play['score_b']}" if play else f"{match['score_a']}:{match['score_b']}",
            f"{match['map_name'] or ''} {_round(board)}",
            f"{open_} prices",
            Text("" if open_ or not offers else f"suspended: {why}", style="yellow"),
        )
    return table


def _playing(match: dict[str, Any]) -> dict[str, Any] | None:
    return next((play for play in match.get("maps", ()) if play["status"] == "live"), None)


def _round(board: dict[str, Any]) -> str:
    """Round and clock: how long it has been played, or what it waits for."""
    if not board:
        return ""
    clock = str(board["phase"])
    if board["phase"] == "live" and board.get("started_at"):
        began = datetime.fromisoformat(board["started_at"]).timestamp()
        clock = time.strftime("%M:%S", time.gmtime(max(0, time.time() - began)))
    return f"round {board['round']} {clock}"


def _title(view: dict[str, Any] | None) -> str:
    return f"{view['team_a']} – {view['team_b']}, {view['urn']}" if view else "No match is being played"


def _prices(prices: list[Price]) -> Table:
    table = _grid("", "bold", "yellow")
    table.columns[1].justify = "right"
    table.columns[1].min_width = len("50.00 ▲")
    for price in prices:
        arrow, colour = {1: (" ▲", "green"), -1: (" ▼", "red")}.get(
            price.way if price.fresh else 0, ("  ", "")
        )
        style = f"bold {colour}".strip() if price.active else "dim strike"
        why = "" if price.active else f"suspended: {price.reason}"
        table.add_row(
            price.name, Text(f"{price.odds:.2f}{arrow if price.active else '  '}", style=style), why
        )
    return table


def _settlements(settled: list[Settled]) -> Group:
    lines: list[Text] = []
    for each in settled:
        colour = {"won": "green", "lost": "red"}.get(each.outcome, "yellow")
        lines.append(Text.assemble((f"{each.outcome:5}", colour), f" {each.name} ({each.reason})"))
        lines += [Text(f"      ↳ {fact}", style="dim") for fact in each.rests_on[:1]]
    return Group(*lines)


def _latency(report: Report | None) -> Table:
    latency = report.latency if report else Latency()
    table = _grid("dim", "green", "dim")
    names = [*(f"≤ {edge} ms" for edge in latency.edges), "slower"]
    most = max(1, *latency.bars)
    for name, count in zip(names, latency.bars, strict=True):
        table.add_row(name, "█" * round(_BAR * count / most), str(count or ""))
    table.add_row("", f"median {latency.median} ms, last {latency.last} ms", "")
    return table


def _book(report: Report | None) -> Group:
    if report is None:
        return Group("the bookmaker is being started")
    lines: list[RenderableType] = [
        Text.from_markup(
            f"{report.active} prices open, {report.suspended} suspended; {_STATES[report.state]}"
        )
    ]
    if check := report.check:
        where = f"({check.markets} markets of {check.matches} matches)"
        lines.append(
            Text(f"≠ book differs from REST: {check.count} differences", style="yellow")
            if check.count
            else Text(f"✓ book equals REST: 0 differences {where}", style="bold green")
        )
    if recovery := report.recovery:
        done = 1.0 if recovery.finished_at else recovery.steps_done / max(1, recovery.steps)
        lines.append(f"recovery: {recovery.state}, {recovery.envelopes} envelopes")
        lines.append(ProgressBar(total=1.0, completed=done))
    return Group(*lines)


def _story(report: Report | None) -> Group:
    story = reversed(report.story if report else [])
    return Group(
        *(
            Text.assemble((f"{_moment(line.at)} ", "dim"), (line.text, _KINDS.get(line.kind, "yellow")))
            for line in story
        )
    )


def _envelopes(report: Report | None) -> Table:
    table = _grid("dim", "bold", "", "dim")
    for each in reversed(report.envelopes if report else []):
        late = "" if each.latency is None else f"{each.latency} ms"
        table.add_row(_moment(each.at), each.type + (" ↺" if each.replayed else ""), each.match, late)
    return table


def _moment(at: int) -> str:
    return time.strftime("%H:%M:%S", time.localtime(at / 1000))
