"""What traders do at the console in a real browser, whatever serves it."""

import asyncio
import json
from collections.abc import Awaitable, Callable

from app.domain.trading_controls import TYPE_CLOSED
from tests.support.visitor import PRICES, Visitor

_MOVES_SECONDS = 120.0
_SETTLED_SECONDS = 300.0  #: a match of the demo has its first results within minutes, on a busy machine too
#: An entry that names a kill or a round, and still stands.
_STANDING = """
[...document.querySelectorAll('main tbody tr:not(.ended)')]
  .filter((row) => row.innerText.includes('settled: won'))
  .map((row) => row.querySelector('th a').getAttribute('href'))
"""
#: The states of a match's log sources, by their names.
_SOURCES = """
Object.fromEntries([...document.querySelectorAll('#sources tbody tr')]
  .map((row) => [row.querySelector('code').textContent, row.cells[1].innerText]))
"""
#: The matches on the live page other than that of a path where a type is closed.
_CLOSED_ELSEWHERE = """
(async () => {
  const page = new DOMParser().parseFromString(await (await fetch("/console")).text(), "text/html");
  return [...page.querySelectorAll("[data-rows=matches] tr")]
    .filter((row) => row.querySelector("a").getAttribute("href") !== %s)
    .map((row) => row.textContent).filter((text) => text.includes("market type closed"));
})()
"""
#: The state of the market whose page is shown.
_NOW = "[...document.querySelectorAll('main > p')].find((each) => each.innerText.startsWith('Now')).innerText"
_LATER = "gave the command “Limit price moves” since this page was made"
Task = Callable[[Visitor], Awaitable[None]]


async def preview(visitor: Visitor, command: str, **fields: str) -> str:
    """Fill a command's form in, and open its preview; what that says."""
    form = f"main [data-command={command}]"
    await visitor.page.value(f"(() => {{ document.querySelector('{form}').open = true; }})()")
    for name, value in fields.items():
        await visitor.fill(name, value, form)
    await visitor.press("Preview", form)
    return await visitor.text()


async def give(visitor: Visitor, command: str, button: str = "Do it", /, **fields: str) -> str:
    """Give a command by its form, and its preview's, by the button that this has; what the preview said."""
    shown = await preview(visitor, command, **fields)
    await visitor.press(button)
    return shown


async def see_the_matches_move(visitor: Visitor) -> None:
    """Nothing but the stream takes a mark away again."""
    await visitor.open("/console")
    mark = "[...document.querySelectorAll('[data-rows=matches] tr')].map((row) => row.cells[4])"
    await visitor.page.value(f"(() => {{ {mark}.forEach((cell) => {{ cell.textContent = 'mark'; }}); }})()")
    await visitor.page.until(f"{mark}.some((cell) => cell.textContent !== 'mark')", _MOVES_SECONDS)
    assert await visitor.page.value("document.querySelector('#connection').hidden")


async def correct_a_wrong_settlement(visitor: Visitor) -> None:
    """Found by what it rests on, rolled back, and settled; and put right again, for the demo's own client."""
    entries: list[str] = []
    deadline = asyncio.get_running_loop().time() + _SETTLED_SECONDS
    while not entries and asyncio.get_running_loop().time() < deadline:
        await visitor.open("/console/settlements")
        entries = await visitor.page.value(_STANDING)
    await visitor.open_with_timeline(entries)
    evidence = await visitor.text("main")
    assert "Map " in evidence and "settled: won" in evidence
    market = await visitor.page.value("document.querySelector('main a.button').getAttribute('href')")
    await visitor.open(market)
    shown = await give(visitor, "roll_back_market", reason="the kill was a team kill")
    assert "rollback_bet_settlement" in shown and "Published to" in shown
    assert "Done." in await visitor.text(".done")
    shown = await give(visitor, "settle_market", result="lost", reason="it does not count")
    assert "bet_settlement" in shown
    assert "settled: lost" in await visitor.text("main")
    await give(visitor, "settle_market", result="won", reason="it counts after all")
    await visitor.open("/console/audit")
    assert "match.settle_market" in await visitor.text("main tbody")


async def see_why_a_price_moved(visitor: Visitor) -> None:
    await visitor.open("/console/settlements")
    await visitor.open(await visitor.page.value(PRICES))
    await visitor.page.until("!!document.querySelector('.plot canvas')")


async def suspend_and_release_a_match(visitor: Visitor) -> None:
    path = await visitor.link("/console", "[data-rows=matches] a")
    await visitor.open(path)
    await give(visitor, "suspend", reason="the stream shows a pause")
    await visitor.page.until(
        "document.querySelector('[data-rows=state]').innerText.includes('the stream shows a pause')",
        _MOVES_SECONDS,
    )
    await give(visitor, "unsuspend", reason="it goes on")
    assert "match.unsuspend" in await visitor.text("#record tbody")


async def hold_and_release_a_probability(visitor: Visitor) -> None:
    path = await visitor.link("/console", "[data-rows=matches] a")
    market = await visitor.link(path, "[data-rows=markets] a")
    await visitor.open(market)
    shown = await give(visitor, "hold_probability", probability="0.4", reason="a star is ill")
    assert "odds_change" in shown and "0.4" in shown
    assert "40.0 %" in await visitor.text("main")
    await give(visitor, "release_probability", reason="well again")
    await visitor.open(path)
    commands = await visitor.text("#commands tbody")
    assert "Hold the probability" in commands and "Release the probability" in commands


async def close_a_type_and_open_it(visitor: Visitor) -> None:
    """Of one match alone: its markets of the type are not on offer, and return."""
    path = await visitor.link("/console", "[data-rows=matches] a")
    market = await visitor.link(path, "[data-rows=markets] a")
    await visitor.open(market)
    shown = await give(visitor, "close_type", reason="the price is disputed")
    assert "odds_change" in shown and TYPE_CLOSED in shown
    assert TYPE_CLOSED in await visitor.page.value(_NOW)
    others = await visitor.page.value(_CLOSED_ELSEWHERE % json.dumps(path))
    assert others == [], "other matches"
    await give(visitor, "open_type", reason="agreed")
    assert TYPE_CLOSED not in await visitor.page.value(_NOW)


async def trade_at_once(first: Visitor, second: Visitor) -> None:
    """Of two traders on one match the later one is told who did what, loses nothing and goes on: whether the
    other's command comes before the preview of theirs, or between that and its execution."""
    path = await first.link("/console", "[data-rows=matches] a")
    for visitor in (first, second):
        await visitor.open(path)
    await give(first, "set_max_move", max_move="0.5", reason="an injury")
    shown = await preview(second, "suspend", reason="the stream shows a pause")
    assert _LATER in shown and "the stream shows a pause" in shown, shown
    await second.press("Do it")
    paused = "document.querySelector('[data-rows=state]').innerText.includes('the stream shows a pause')"
    await second.page.until(paused, _MOVES_SECONDS)
    shown = await preview(second, "unsuspend", reason="it goes on")
    assert _LATER not in shown
    await first.open(path)
    await give(first, "set_max_move", max_move="0", reason="well again")
    await second.press("Do it")
    shown = await second.text()
    assert _LATER in shown and "it goes on" in shown, shown
    await second.press("Do it")
    assert "Done." in await second.text(".done")
    commands = await second.text("#commands tbody")
    assert commands.count("Limit price moves") >= 2
    assert "Suspend the match" in commands and "Release the match" in commands


async def hand_over_a_rival_source(visitor: Visitor, play: Callable[[str], Awaitable[str]]) -> None:
    """A second server sends play of a match: the trader is alerted, follows it, and then the first again.
    `play` sends it, of the match with that URN, and returns the server's name."""
    path = await visitor.link("/console", "[data-rows=matches] a")
    rival = await play(path.rpartition("/")[2])
    await visitor.page.until("document.body.innerText.includes('rival source')", _MOVES_SECONDS)
    await visitor.open(path)
    sources = await visitor.page.value(_SOURCES)
    before = next(name for name, state in sources.items() if state == "followed")
    assert sources[rival].startswith("refused claims the match")
    for chosen, other in ((rival, before), (before, rival)):
        await visitor.submit(f"#sources form:has([name=source][value='{chosen}'])")
        assert "claims of all others are dismissed" in await visitor.text()
        await visitor.press("Do it")
        sources = await visitor.page.value(_SOURCES)
        assert [sources[name].split()[0] for name in (chosen, other)] == ["followed", "dismissed"]
    await visitor.open("/console")
    await visitor.page.until("!document.body.innerText.includes('rival source')", _MOVES_SECONDS)


TASKS: tuple[Task, ...] = (
    see_the_matches_move,
    correct_a_wrong_settlement,
    see_why_a_price_moved,
    suspend_and_release_a_match,
    hold_and_release_a_probability,
    close_a_type_and_open_it,
)
