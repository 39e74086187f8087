"""The chart of a match, and what happened in it, in a real browser: both move, and lead to the evidence."""

from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from app.domain import changes as c
from app.domain.match import CurrentRound, Match
from app.domain.tenant import OperatorRole
from app.settings import Settings
from app.sites.console.site import market_path, match_path
from app.store.connections import Store
from tests.integration.sites.console.conftest import visiting_console
from tests.integration.sites.console.test_match_chart import PLAY, played, winner
from tests.support.story import Story, kill
from tests.support.visitor import Visitor

_SECONDS = 60.0
_DRAWN = "!!document.querySelector('#plot canvas')"
_FIGURES = "document.getElementById('chart-figures').textContent"
_FACTS = "document.getElementById('chart-facts').textContent"
#: How many colours a column of the plot has: more than its ground as soon as anything is drawn.
_PAINTED = """
(() => {
  const canvas = document.querySelector("#plot canvas");
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const colours = new Set();
  for (let at = 0; at < pixels.length; at += 4) {
    if (pixels[at + 3] === 255) colours.add(pixels.slice(at, at + 3).join());
  }
  return colours.size;
})()
"""
_REQUESTS = (
    "performance.getEntriesByType('resource').filter((each) => each.name.includes('chart.json')).length"
)


@pytest.fixture
async def visitor(store: Store, settings: Settings) -> AsyncIterator[Visitor]:
    async with visiting_console(store, settings, OperatorRole.VIEWER) as visitor:
        yield visitor


async def kill_again(story: Story, match: Match, chance: float) -> None:
    """Another kill, and the price that it makes."""
    await story.happen(match, c.EventAdded(replace(kill(story.at + 1, 9, "Cid"), id=3, side="CT")))
    await story.offer(match, winner(chance))


@pytest.mark.timeout(400)
async def test_the_chart_draws_moves_and_says_what_it_shows(visitor: Visitor, store: Store) -> None:
    story, page = Story(store), visitor.page
    match = await played(story)
    await visitor.open(match_path(match.number))
    await page.until(_DRAWN, _SECONDS)
    assert await page.value("document.getElementById('plot').ariaLabel") == "Map 1: Northwind to win"
    assert "our chance 60.0 %" in await page.value(_FIGURES)
    assert await page.value(_PAINTED) > 3
    before = await page.value(_REQUESTS)
    await kill_again(story, match, 0.7)
    play = replace(PLAY, home_score=1)
    await story.happen(match, maps=(play,), current=CurrentRound(1, 2))
    await page.until(f"{_FIGURES}.includes('our chance 70.0 %')", _SECONDS)
    assert await page.value(_REQUESTS) > before
    await page.value("document.getElementById('plot').focus()")
    await visitor.key("ArrowLeft", 37)
    assert "Cid (Northwind) killed Bob, ak47" in await page.value(_FACTS)
    await visitor.key("Escape", 27)
    assert "Cid" not in await page.value(_FACTS)
    assert await visitor.violations() == []
    for width in (1024, 1440):
        for dark in (True, False):
            await page.set_window(width, 900, dark=dark)
            assert await visitor.too_wide() == []


@pytest.mark.timeout(400)
async def test_the_chart_of_a_market_is_of_chances_or_of_odds(visitor: Visitor, store: Store) -> None:
    story, page = Story(store), visitor.page
    match = await played(story)
    await visitor.open(market_path(match.number, winner(0.5).key))
    await page.until(_DRAWN, _SECONDS)
    painted = await page.value(_PAINTED)
    await page.value("document.querySelector('[data-chart-unit=odds]').click()")
    assert await page.value("document.querySelector('[data-chart-unit=odds]').ariaPressed") == "true"
    assert painted > 3 and await page.value(_PAINTED) > 3
    assert "on sale 1.583" in await page.value(_FIGURES)
    assert await visitor.violations() == []
    await visitor.scripts(False)
    await visitor.open(market_path(match.number, winner(0.5).key))
    assert "The chart needs scripts" in await visitor.text("#chart")


@pytest.mark.timeout(400)
async def test_a_result_is_found_in_what_happened_and_its_evidence_opened(
    visitor: Visitor, store: Store
) -> None:
    """By the keyboard; the list moves meanwhile, and is a window of its own."""
    story, page = Story(store), visitor.page
    match = await played(story)
    await visitor.open(match_path(match.number))
    rows = "document.querySelector('[data-rows=happened]')"
    await page.until(f"{rows}.innerText.includes('Suspended for')", _SECONDS)
    await story.settle(match, winner(0.6))
    await page.until(f"{rows}.innerText.includes('Map 1: Northwind to win: settled: won')", _SECONDS)
    for number in range(10, 40):
        await story.happen(match, c.EventAdded(replace(kill(story.at + 1, 9), id=number, side="CT")))
    await page.until("document.querySelector('[data-rows=happened]').rows.length > 30", _SECONDS)
    assert await page.value("document.getElementById('happened').getBoundingClientRect().height") < 500
    await page.value("[...document.querySelector('[data-rows=happened]').rows].at(-1).focus()")
    await visitor.key("k", 75)
    focused = "document.activeElement.closest('[data-rows=happened] tr')"
    assert await page.value(f"!!{focused}")
    assert await visitor.violations() == []
    settled = "[...document.querySelectorAll('[data-rows=happened] tr.results')][0]"
    await page.value(f"{settled}.focus()")
    await visitor.enter()
    assert "/console/settlements/" in await page.value("location.pathname")
    assert "by the test" in await visitor.text()
    assert await visitor.page.value("!!document.querySelector('main a.button[href*=\"/markets/\"]')")
