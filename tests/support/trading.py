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
  .map((row) => [row.querySelector('code').textContent, row.cells[1].textContent.trim()]))
"""
#: The pages of the live matches other than that of a path where a type is closed.
_CLOSED_ELSEWHERE = """
(async () => {
  const read = async (path) => new DOMParser().parseFromString(await (await fetch(path)).text(), "text/html");
  const paths = [...(await read("/console")).querySelectorAll("[data-rows=matches] a")]
    .map((link) => link.getAttribute("href")).filter((path) => path !== %s);
  const pages = await Promise.all(paths.map(read));
  const closed = "[data-rows=markets] [title*='market type closed']";
  return paths.filter((_, index) => pages[index].querySelector(closed));
})()
"""
_FIRST_MATCH = "document.querySelector('[data-rows=matches] tr')"
#: Of the match or a map: the rows of a round go with it.
_OFFERED = "[data-rows=markets] tr[data-key*=':0:0:']:has(a.price:not(.off, .ours))"
_ON_OFFER = f'document.querySelector("{_OFFERED}")'
#: The state of the market whose page is shown.
_NOW = "document.getElementById('now').innerText"
_PANEL = "document.querySelector('#panel:not([hidden])') ? '#panel' : 'main'"
_LATER = "gave the command “Limit price moves” since this page was made"
Task = Callable[[Visitor], Awaitable[None]]


async def preview(visitor: Visitor, command: str, **fields: str) -> str:
    """Fill a command's form in, and open its preview; what that says."""
    form = f"main [data-command={command}]"
    await visitor.page.value(f"(() => {{ document.querySelector('{form}').open = true; }})()")
    for name, value in fields.items():
        await visitor.fill(name, value, form)
    await visitor.press("Preview", form)
    return await beside(visitor)


async def beside(visitor: Visitor) -> str:
    """What the panel beside the page shows; without scripts, the page."""
    return await visitor.text(await visitor.page.value(_PANEL))


async def press_in_preview(visitor: Visitor, button: str) -> None:
    """Press a button of the preview, wherever that is."""
    await visitor.press(button, await visitor.page.value(_PANEL))


async def give(visitor: Visitor, command: str, button: str = "Do it", /, **fields: str) -> str:
    """Give a command by its form, and its preview's, by the button that this has; what the preview said."""
    shown = await preview(visitor, command, **fields)
    await press_in_preview(visitor, button)
    return shown


async def done(visitor: Visitor) -> str:
    """What is said of the command that was executed last."""
    noted = "!!document.querySelector('#note:not([hidden])')"
    return await visitor.text("#note" if await visitor.page.value(noted) else ".done")


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
    assert "Done." in await done(visitor)
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
    assert "match.unsuspend" in await visitor.content("#record tbody")


async def hold_and_release_a_probability(visitor: Visitor) -> None:
    path = await visitor.link("/console", "[data-rows=matches] a")
    market = await visitor.link(path, "[data-rows=markets] a.price:not(.off)")
    await visitor.open(market)
    shown = await give(visitor, "hold_probability", probability="0.4", reason="a star is ill")
    assert "odds_change" in shown and "0.4" in shown
    assert "40.0 %" in await visitor.text("main")
    await give(visitor, "release_probability", reason="well again")
    await visitor.open(path)
    commands = await visitor.content("#commands tbody")
    assert "Hold the probability" in commands and "Release the probability" in commands


async def close_a_type_and_open_it(visitor: Visitor) -> None:
    """Of one match alone: its markets of the type are not on offer, and return."""
    path = await visitor.link("/console", "[data-rows=matches] a")
    market = await visitor.link(path, "[data-rows=markets] a.price:not(.off)")
    await visitor.open(market)
    shown = await give(visitor, "close_type", reason="the price is disputed")
    assert "odds_change" in shown and TYPE_CLOSED in shown
    assert TYPE_CLOSED in await visitor.page.value(_NOW)
    others = await visitor.page.value(_CLOSED_ELSEWHERE % json.dumps(path))
    assert others == [], "other matches"
    await give(visitor, "open_type", reason="agreed")
    assert TYPE_CLOSED not in await visitor.page.value(_NOW)


async def suspend_by_one_key(visitor: Visitor) -> None:
    """From the live page, without a form; and taken back within the seconds in which that is offered."""
    await visitor.open("/console")
    path = await visitor.page.value(f"{_FIRST_MATCH}.querySelector('a').getAttribute('href')")
    await visitor.page.value(f"{_FIRST_MATCH}.focus()")
    await visitor.key("s", 83, "s")
    await visitor.page.until("!document.getElementById('note').hidden", _MOVES_SECONDS)
    assert "Done." in await done(visitor) and "Take back" in await done(visitor)
    row = f"document.querySelector(`[data-rows=matches] a[href='{path}']`).closest('tr')"
    await visitor.page.until(f"{row}.querySelector('.mark.suspended, .mark.alert') !== null", _MOVES_SECONDS)
    await visitor.key("u", 85, "u")
    await visitor.page.until(f"!{row}.classList.contains('suspended')", _MOVES_SECONDS)
    await visitor.page.until("!document.documentElement.dataset.sending", _MOVES_SECONDS)
    await visitor.open(path)
    assert "taken back" in await visitor.content("#commands tbody")


async def edit_a_price_in_place(visitor: Visitor) -> None:
    """A price becomes a field; the preview shows what else moves; Enter does it, and the rows show it."""
    path = await visitor.link("/console", "[data-rows=matches] a")
    await visitor.open(path)
    await visitor.page.value(f"{_ON_OFFER}.focus()")
    await visitor.key("e", 69, "e")
    key = await visitor.page.value("document.activeElement.closest('tr').dataset.key")
    await visitor.page.value("(() => { document.activeElement.value = ''; })()")
    await visitor.type("41%")
    await visitor.enter()
    shown = await beside(visitor)
    assert "odds_change" in shown and "0.41" in shown, shown
    await visitor.enter()
    assert "Done." in await done(visitor)
    held = f"document.querySelector(`[data-rows=markets] [data-key='{key}'] [data-chance='0.4100']`)"
    await visitor.page.until(f"!!{held}", _MOVES_SECONDS)
    await visitor.key("u", 85, "u")
    await visitor.page.until(f"!{held}", _MOVES_SECONDS)


async def settle_by_keyboard_alone(visitor: Visitor) -> None:
    """From the live page: a wrong result is found by its evidence, rolled back, and settled."""
    await visitor.open("/console")
    await visitor.key("g", 71, "g")
    await visitor.leave_by("s")
    rows = "[...document.querySelectorAll('[data-rows=ledger] tr')]"
    place = await visitor.page.value(
        f"{rows}.findIndex((row) => !row.matches('.ended') && row.innerText.includes('settled: won'))"
    )
    for _ in range(place + 1):
        await visitor.key("j", 74, "j")
    await visitor.enter()
    assert "settled: won" in await visitor.text()
    await visitor.tab_to("main a.button")
    await visitor.enter()
    for command, fields in (
        ("roll_back_market", {"reason": "the kill was a team kill"}),
        ("settle_market", {"result": "l", "reason": "it does not count"}),
        ("roll_back_market", {"reason": "it counts after all"}),
        ("settle_market", {"result": "w", "reason": "it counts after all"}),
    ):
        await visitor.page.value("document.activeElement.blur()")
        await visitor.tab_to(f"[data-command={command}] summary")
        await visitor.key("Enter", 13, "\r")
        for name, text in fields.items():
            await visitor.tab_to(f"[data-command={command}] [name={name}]")
            await (visitor.key(text, ord(text.upper()), text) if len(text) == 1 else visitor.type(text))
        await visitor.enter()
        assert "Published to" in await beside(visitor)
        await visitor.enter()
        assert "Done." in await done(visitor)
    assert "settled: won" in await visitor.page.value(_NOW)


async def find_by_name(visitor: Visitor) -> None:
    """Ctrl-K leads from any page to a match, "?" lists the keys, "/" filters the matches."""
    await visitor.open("/console")
    name = await visitor.text("[data-rows=matches] a")
    await visitor.key("/", 191, "/")
    await visitor.type("nobody is called so")
    rows = "[...document.querySelectorAll('[data-rows=matches] > tr')]"
    shown = f"{rows}.filter((row) => row.getClientRects().length).length"
    await visitor.page.until(f"{shown} === 0")
    await visitor.key("Escape", 27)
    await visitor.page.until(f"{shown} > 0")
    await visitor.open("/console/audit")
    await visitor.key("?", 191, "?")
    assert "suspend the match at once" in await visitor.text("#keys")
    await visitor.key("Escape", 27)
    await visitor.page.until("!document.querySelector('dialog[open]')")
    await visitor.key("k", 75, control=True)
    await visitor.page.until("document.getElementById('finder').open")
    await visitor.type(name)
    await visitor.page.until("document.querySelectorAll('#finder li').length === 1", _MOVES_SECONDS)
    await visitor.enter()
    assert name in await visitor.page.value("document.title")


async def trade_at_once(first: Visitor, second: Visitor) -> None:
    """Of two traders on one match the later one is told who did what, loses nothing and goes on: whether the
    other's command comes before the preview of theirs, or between that and its execution."""
    path = await first.link("/console", "[data-rows=matches] a")
    for visitor in (first, second):
        await visitor.open(path)
    await give(first, "set_max_move", max_move="0.5", reason="an injury")
    shown = await preview(second, "suspend", reason="the stream shows a pause")
    assert _LATER in shown and "the stream shows a pause" in shown, shown
    await press_in_preview(second, "Do it")
    paused = "document.querySelector('[data-rows=state]').innerText.includes('the stream shows a pause')"
    await second.page.until(paused, _MOVES_SECONDS)
    shown = await preview(second, "unsuspend", reason="it goes on")
    assert _LATER not in shown
    await first.open(path)
    await give(first, "set_max_move", max_move="0", reason="well again")
    await press_in_preview(second, "Do it")
    shown = await beside(second)
    assert _LATER in shown and "it goes on" in shown, shown
    await press_in_preview(second, "Do it")
    assert "Done." in await done(second)
    commands = await second.content("#commands tbody")
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
        assert "claims of all others are dismissed" in await beside(visitor)
        await press_in_preview(visitor, "Do it")
        sources = await visitor.page.value(_SOURCES)
        assert [sources[name].split()[0] for name in (chosen, other)] == ["followed", "dismissed"]
    await visitor.open("/console")
    await visitor.page.until(
        "!document.querySelector('main').textContent.includes('rival source')", _MOVES_SECONDS
    )


TASKS: tuple[Task, ...] = (
    see_the_matches_move,
    correct_a_wrong_settlement,
    see_why_a_price_moved,
    suspend_and_release_a_match,
    hold_and_release_a_probability,
    close_a_type_and_open_it,
    suspend_by_one_key,
    edit_a_price_in_place,
    settle_by_keyboard_alone,
    find_by_name,
)
