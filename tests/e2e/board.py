"""What one sees at the board of a demo in a real browser: prices move, a settlement leads to its kill, faults
heal."""

import asyncio
from typing import Any

from scripts.local_services import chromium
from scripts.local_services.chromium import Page
from tests.e2e.test_demo import Place

EQUAL = "/0 differences/.test(document.getElementById('equal').textContent)"
#: Opens the settlement of a first kill that has a winner, and returns the facts that it rests on. A void one
#: rests on its round, and one that was taken back on what a restored server no longer counts.
FIRST_KILL = """
(async () => {
  const box = [...document.querySelectorAll("#settlements details")]
    .find((each) => each.querySelector(".result.won, .result.lost") && /first kill/.test(each.textContent));
  if (!box) return "";
  box.open = true;
  for (let wait = 0; wait < 40 && !box.querySelector(".proof").textContent; wait++)
    await new Promise((done) => setTimeout(done, 100));
  return box.querySelector(".proof").textContent;
})()
"""
#: A player's market is shown, and every player by name.
NAMED = """
(() => {
  const names = document.querySelectorAll(".group .name, #settlements .name");
  const shown = [...names].map((each) => each.firstChild.textContent);
  return shown.some((each) => /: kills$/.test(each)) && !shown.some((each) => /:player:/.test(each));
})()
"""
PRICES = "[...document.querySelectorAll('.offer')].map((each) => each.textContent).join('|')"
#: Both sides of a market stand beside each other in one row, and no text has the URN of a match.
ONE_ROW = """
(() => {
  const winner = [...document.querySelectorAll(".lines.single .line")]
    .some((each) => each.querySelectorAll(".offer").length === 2);
  const ladder = [...document.querySelectorAll(".lines:not(.single)")]
    .some((each) => each.children.length > 1);
  return winner && ladder && !/od:match:/.test(document.getElementById("board").innerText);
})()
"""
#: Faults of the demo, and what the page shows of each.
FAULTS = {"drop": "recovery", "consumer": "connection"}
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
#: Controls without a name, and pictures without a text.
NAMELESS = """
[...document.querySelectorAll("button, input, img, progress, [role=img]")]
  .filter((each) => !each.hidden && each.offsetParent !== null)
  .filter((each) => !(each.textContent.trim() || each.getAttribute("aria-label") || each.hasAttribute("alt")
    || each.labels?.length)).map((each) => each.outerHTML)
"""


async def look(place: Place, demo: dict[str, Any], faults: dict[str, str]) -> None:
    async with chromium.opened(demo["board"]["url"]) as page:
        await page.set_window(1440, 900)
        await see_prices_move(page)
        proof = await page.until(FIRST_KILL, 90)
        assert "killed" in proof, proof
        await page.until(NAMED, 30)
        await page.until(ONE_ROW, 30)
        await page.until(EQUAL, 60)
        await see_faults_heal(page, place, faults)
        await fit_every_window(page)
        await speak_both_languages(page)
        assert await page.value("location.hash") == "" and page.errors == []
        await forget_the_key(page)


async def see_prices_move(page: Page) -> None:
    await page.until("document.querySelectorAll('.offer').length > 5", 60)
    before = await page.value(PRICES)
    await page.until(f"{PRICES} !== {before!r} && !!document.querySelector('.offer.fresh')", 60)


async def see_faults_heal(page: Page, place: Place, faults: dict[str, str]) -> None:
    """Messages that never come, and a bookmaker that dies: both end with an equal book, on the page too."""
    for fault, kind in faults.items():
        output = await asyncio.to_thread(place.matchfeed, "fault", fault)
        assert "book equals REST: 0 differences" in output.splitlines()[-1]
        await page.until(f"!!document.querySelector('#story .{kind}')", 30)
        await page.until(EQUAL, 60)


async def fit_every_window(page: Page) -> None:
    for width in (1440, 1024, 720, 360):
        for dark in (False, True):
            await page.set_window(width, 800, dark=dark)
            assert not await page.value(TOO_WIDE), width
    assert await page.value(NAMELESS) == []


async def speak_both_languages(page: Page) -> None:
    await page.set_window(1440, 900)
    for heading, locale in (("Матчи", "ru"), ("Matches", "en")):
        await page.value("document.getElementById('language').click()")
        await page.until(f"document.getElementById('h-matches').textContent === '{heading}'")
        assert await page.value("document.documentElement.lang") == locale
    assert await page.until("!/[А-я]/.test(document.querySelector('.group .name').textContent)")


async def forget_the_key(page: Page) -> None:
    """Without a key, and with a wrong one, there is nothing to see."""
    await page.value("document.getElementById('forget').click()")
    assert await page.until("document.getElementById('board').hidden")
    wrong = (
        "document.getElementById('key').value = 'mfk_wrong'; "
        "document.querySelector('#key-form button').click()"
    )
    await page.value(wrong)
    assert await page.until("document.getElementById('refused').textContent")
    assert await page.value("document.getElementById('board').hidden && !sessionStorage.getItem('key')")
