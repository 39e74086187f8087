"""The live page in a real browser, and what is read of it: what it shows when, long tasks, memory."""

import json
import re
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import psutil

from scripts.bench.console_play import Shown
from scripts.local_services.chromium import Page, opened

#: Runs in every page before its own scripts. `rows` has, for each row of a match whose score, round or
#: players alive have changed: its key, the texts of these cells, when the browser had the message, and when
#: it had drawn it.
_PROBE = """
(() => {
  const bench = window.bench = { rows: [], long: [], bytes: 0, messages: 0, arrived: 0 };
  const encoder = new TextEncoder();
  new PerformanceObserver((list) => {
    for (const task of list.getEntries())
      bench.long.push([performance.timeOrigin + task.startTime, task.duration]);
  }).observe({ type: "longtask", buffered: true });
  window.EventSource = class extends EventSource {
    constructor(...arguments_) {
      super(...arguments_);
      this.addEventListener("message", (message) => {
        bench.arrived = Date.now();
        bench.messages += 1;
        bench.bytes += encoder.encode(message.data).length;
      });
    }
  };
  const shows = (node) => node.nodeName === "TD" && [2, 3, 4].includes(node.cellIndex);
  document.addEventListener("DOMContentLoaded", () => {
    const body = document.querySelector("[data-rows=matches]");
    if (!body) return;
    new MutationObserver((records) => {
      const rows = new Set(records.flatMap((record) =>
        record.target === body ? [...record.addedNodes]
          : shows(record.target) ? [record.target.parentElement] : []));
      if (!rows.size) return;
      const arrived = bench.arrived;
      const found = [...rows].map((row) =>
        [row.dataset.key, ...[2, 3, 4].map((index) => row.cells[index].textContent), arrived]);
      requestAnimationFrame(() => {
        const drawn = new MessageChannel();
        drawn.port1.onmessage = () => {
          const painted = Date.now();
          for (const row of found) bench.rows.push([...row, painted]);
        };
        drawn.port2.postMessage(0);
      });
    }).observe(body, { subtree: true, childList: true });
  });
})()
"""
_DRAIN = (
    "(() => { const { rows, long } = bench; bench.rows = []; bench.long = []; return { rows, long }; })()"
)
_STREAM = "[bench.bytes, bench.messages]"
_ROWS = "document.querySelectorAll('[data-rows=matches] > tr').length"
_SIGN_IN = """
(() => {{
  document.querySelector('[name=email]').value = {email};
  document.querySelector('[name=password]').value = {password};
  document.querySelector('main form button').click();
}})()
"""
_OTHERS = {"--top-chrome-webui", "--extension-process"}
_OPEN_SECONDS = 120.0  #: a busy machine opens a page slowly
_MAPS, _ROUND, _ALIVE = re.compile(r"^(\d+):(\d+) bo"), re.compile(r"^(\d+) "), re.compile(r"(\d)v(\d)$")


class ShownRow(msgspec.Struct, frozen=True):
    """A row that the page shows: of which match, how far it is, when the browser had received it and when it
    had drawn it (Unix ms)."""

    match: int
    fact: Shown
    arrived: float
    painted: float


class LongTask(msgspec.Struct, frozen=True):
    """A task that kept the page from responding for more than 50 ms: when (Unix ms), how long (ms)."""

    at: float
    millis: float


class Memory(msgspec.Struct, frozen=True):
    """After a full collection at `at` (Unix ms): bytes of the scripts' heap, nodes and listeners of all
    documents, bytes of the renderer that it shares with no other process."""

    at: float
    heap: int
    nodes: int
    listeners: int
    private: int


class Work(msgspec.Struct, frozen=True):
    """Since the page was opened: seconds of the main thread's tasks, of them scripts, styles and layout;
    bytes and messages of the stream."""

    tasks: float
    scripts: float
    styles: float
    layout: float
    bytes: int
    messages: int


def parsed_row(cells: Sequence[Any]) -> ShownRow | None:
    """A row as the probe gives it; None for one that shows no round."""
    key, score, round_, alive, arrived, painted = cells
    maps, of_round, living = _MAPS.match(score), _ROUND.match(round_), _ALIVE.search(alive)
    if of_round is None or living is None:
        return None
    number = 1 + sum(int(each) for each in maps.groups()) if maps else 1
    dead = 10 - sum(int(each) for each in living.groups())
    return ShownRow(int(key), Shown(number, int(of_round[1]), dead), arrived, painted)


class LivePage:
    """The open page. `collected` has the spans (Unix ms) in which we made it collect its garbage."""

    def __init__(self, page: Page, renderer: psutil.Process) -> None:
        self._page, self.renderer = page, renderer
        self.collected: list[tuple[float, float]] = []

    @property
    def errors(self) -> list[str]:
        return self._page.errors

    async def rows(self) -> int:
        found: int = await self._page.value(_ROWS)
        return found

    async def drain(self) -> tuple[list[ShownRow], list[LongTask]]:
        """What was shown, and the long tasks, since the last call."""
        found = await self._page.value(_DRAIN)
        rows = [row for each in found["rows"] if (row := parsed_row(each))]
        return rows, [LongTask(at, millis) for at, millis in found["long"] if not self._ours(at, millis)]

    async def memory(self) -> Memory:
        began = time.time() * 1000
        await self._page.call("HeapProfiler.collectGarbage")
        self.collected.append((began, time.time() * 1000))
        found = await self._metrics()
        private = self.renderer.memory_full_info().uss
        heap, nodes, listeners = (
            int(found[name]) for name in ("JSHeapUsedSize", "Nodes", "JSEventListeners")
        )
        return Memory(began, heap, nodes, listeners, private)

    async def work(self) -> Work:
        found = await self._metrics()
        names = ("Task", "Script", "RecalcStyle", "Layout")
        tasks, scripts, styles, layout = (found[f"{name}Duration"] for name in names)
        received, messages = await self._page.value(_STREAM)
        return Work(tasks, scripts, styles, layout, received, messages)

    async def _metrics(self) -> dict[str, float]:
        found = await self._page.call("Performance.getMetrics")
        return {each["name"]: each["value"] for each in found["metrics"]}

    def _ours(self, at: float, millis: float) -> bool:
        """Whether a long task is a collection that we have caused."""
        return any(at <= ended and at + millis >= began for began, ended in self.collected)


@asynccontextmanager
async def browser() -> AsyncIterator[Page]:
    """An empty page that measures what is opened in it, in a window of 1440 x 900."""
    async with opened("about:blank") as page:
        await page.set_window(1440, 900)
        await page.call("Page.addScriptToEvaluateOnNewDocument", source=_PROBE)
        await page.call("Performance.enable", timeDomain="threadTicks")
        yield page


async def open_live_page(page: Page, console_url: str, email: str, password: str) -> LivePage:
    """The live page as that operator sees it, who signs in."""
    await page.call("Page.navigate", url=f"{console_url}/sign-in")
    form = "document.readyState === 'complete' && !!document.querySelector('[name=email]')"
    await page.until(form, _OPEN_SECONDS)
    await page.value(_SIGN_IN.format(email=json.dumps(email), password=json.dumps(password)))
    await page.until(
        "document.readyState === 'complete' && !!document.getElementById('moving')", _OPEN_SECONDS
    )
    await page.until("document.getElementById('connection').hidden && bench.messages > 0", _OPEN_SECONDS)
    return LivePage(page, _renderer())


def _renderer() -> psutil.Process:
    """The process that draws our page: beside those of the browser's own pages and of none, it has worked
    most."""
    processes = [(each, each.cmdline()) for each in psutil.Process().children(recursive=True)]
    drawing = [each for each, words in processes if "--type=renderer" in words and not _OTHERS & set(words)]
    return max(drawing, key=lambda each: sum(each.cpu_times()[:2]))
