"""What traders do at the console in a real browser, whatever serves it."""

import asyncio
from collections.abc import Awaitable, Callable

from tests.support.visitor import Visitor

_MOVES_SECONDS = 120.0
_SETTLED_SECONDS = 300.0  #: a match of the demo has its first results within minutes, on a busy machine too
#: An entry that names a kill or a round, and still stands.
_STANDING = """
[...document.querySelectorAll('main tbody tr:not(.ended)')]
  .filter((row) => row.innerText.includes('settled: won'))
  .map((row) => row.querySelector('th a').getAttribute('href'))
"""
Task = Callable[[Visitor], Awaitable[None]]


async def give(visitor: Visitor, command: str, button: str, **fields: str) -> str:
    """Give a command by its form, and its preview's; what the preview said."""
    form = f"main [data-command={command}]"
    await visitor.page.value(f"(() => {{ document.querySelector('{form}').open = true; }})()")
    for name, value in fields.items():
        await visitor.fill(name, value, form)
    await visitor.press("Preview", form)
    preview = await visitor.text()
    await visitor.press(button)
    return preview


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
    for entry in entries:  # some rest on the end of a map alone
        await visitor.open(entry)
        if await visitor.page.value("document.querySelectorAll('.timeline li').length"):
            break
    else:
        raise AssertionError("no settlement names a kill")
    evidence = await visitor.text("main")
    assert "Map " in evidence and "settled: won" in evidence
    market = await visitor.page.value("document.querySelector('main a.button').getAttribute('href')")
    await visitor.open(market)
    preview = await give(visitor, "roll_back_market", "Do it", reason="the kill was a team kill")
    assert "rollback_bet_settlement" in preview and "Published to" in preview
    assert "Done." in await visitor.text(".done")
    preview = await give(visitor, "settle_market", "Do it", result="lost", reason="it does not count")
    assert "bet_settlement" in preview
    assert "settled: lost" in await visitor.text("main")
    await give(visitor, "settle_market", "Do it", result="won", reason="it counts after all")
    await visitor.open("/console/audit")
    assert "match.settle_market" in await visitor.text("main tbody")


async def see_why_a_price_moved(visitor: Visitor) -> None:
    await visitor.open("/console/settlements")
    await visitor.open(
        await visitor.page.value("document.querySelector(`main a[href*='/markets/']`).getAttribute('href')")
    )
    await visitor.page.until("!!document.querySelector('.plot canvas')")


async def suspend_and_release_a_match(visitor: Visitor) -> None:
    path = await visitor.link("/console", "[data-rows=matches] a")
    await visitor.open(path)
    await give(visitor, "suspend", "Do it", reason="the stream shows a pause")
    await visitor.page.until(
        "document.querySelector('[data-rows=state]').innerText.includes('the stream shows a pause')",
        _MOVES_SECONDS,
    )
    await give(visitor, "unsuspend", "Do it", reason="it goes on")
    assert "match.unsuspend" in await visitor.text("#record tbody")


async def hold_and_release_a_probability(visitor: Visitor) -> None:
    path = await visitor.link("/console", "[data-rows=matches] a")
    market = await visitor.link(path, "[data-rows=markets] a")
    await visitor.open(market)
    preview = await give(visitor, "hold_probability", "Do it", probability="0.4", reason="a star is ill")
    assert "odds_change" in preview and "0.4" in preview
    assert "40.0 %" in await visitor.text("main")
    await give(visitor, "release_probability", "Do it", reason="well again")
    await visitor.open(path)
    commands = await visitor.text("#commands tbody")
    assert "Hold the probability" in commands and "Release the probability" in commands


TASKS: tuple[Task, ...] = (
    see_the_matches_move,
    correct_a_wrong_settlement,
    see_why_a_price_moved,
    suspend_and_release_a_match,
    hold_and_release_a_probability,
)
