"""Two operators at the console of a demo, each in a browser of their own: one asks for consent, the other
gives or refuses it; an alert is seen, taken, taken over, handed back and ended, and who comes later reads who
has it."""

import asyncio
import re
import shlex
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from app.kit.clock import system_clock
from app.store import alerts
from app.store.alerts import AlertKind, AlertSubject
from app.store.connections import open_store
from scripts.services import Services
from tests.e2e.test_demo import Place
from tests.e2e.test_trading_console import signed_in
from tests.support import browser
from tests.support.trading import give
from tests.support.visitor import Visitor

#: The market of the oldest results that still stand: on the page of the ledger, newest first.
_STANDING = """
[...document.querySelectorAll('main tbody tr:not(.ended)')]
  .filter((row) => row.innerText.includes('settled: won'))
  .map((row) => row.querySelector(`a[href*='/markets/']`).getAttribute('href')).reverse()
"""
_SETTLED_SECONDS = 300.0
_STREAM_SECONDS = 60.0
Story = Callable[["Desk"], Awaitable[None]]


class Desk:
    """Sam, who settles, and Ada, an administrator, at the demo in `place`."""

    def __init__(self, place: Place, sam: Visitor, ada: Visitor) -> None:
        self.place, self.sam, self.ada = place, sam, ada

    async def begin_alert(self) -> None:
        """As the feed process does about a tenant with too many queues."""
        settings = shlex.split((self.place.var / "demo.env").read_text(), comments=True)
        url = next(each for each in settings if each.startswith("DATABASE_URL=")).partition("=")[2]
        about = AlertSubject(AlertKind.TENANT_RIGHTS, tenant="acme", subject="queues")
        async with await open_store(url, 1) as store, store.transaction() as tx:
            await alerts.begin(tx, about, "it has more queues than it may have", system_clock())

    async def old_results(self, count: int) -> list[str]:
        """The pages of so many markets with a result."""
        found: list[str] = []
        deadline = asyncio.get_running_loop().time() + _SETTLED_SECONDS
        while len(found) < count and asyncio.get_running_loop().time() < deadline:
            await self.sam.open("/console/settlements")
            found = list(dict.fromkeys(await self.sam.page.value(_STANDING)))
        assert len(found) >= count, "the demo has settled too little"
        return found[:count]


@pytest.fixture(scope="module")
def place(services: Services, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A demo where results need consent a second after their publication."""
    browser.require()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("CONSENT_SECONDS", "1")
        place = Place(services, tmp_path_factory.mktemp("together") / "var")
    try:
        yield place
    finally:
        place.run("--stop")


@asynccontextmanager
async def at_console(demo: dict[str, Any], role: str) -> AsyncIterator[Visitor]:
    async with signed_in(demo, role) as visitor:
        yield visitor
        # The browser reports the refusal of who comes later, too.
        visitor.page.errors[:] = [each for each in visitor.page.errors if "409 (Conflict)" not in each]


async def consent(desk: Desk) -> None:
    """One asks, the other sees what it would do and consents: the result changes, and is put right again."""
    sam, ada = desk.sam, desk.ada
    market, _ = await desk.old_results(2)
    await sam.open(market)
    preview = await give(sam, "roll_back_market", "Ask for consent", reason="the kill was a team kill")
    assert "a second operator must consent" in preview and "rollback_bet_settlement" in preview
    assert "It waits for the consent" in await sam.text(".done")
    assert "somebody else must consent" in await sam.text()
    request = await sam.page.value("location.pathname")
    await sam.open(market)
    assert "settled: won" in await sam.text(), "nothing is done yet"
    row = f"document.querySelector(`[data-rows=consents] a[href='{request}']`)"
    await ada.page.until(f"!!{row}", _STREAM_SECONDS)
    await ada.open(request)
    shown = await ada.text()
    assert "rollback_bet_settlement" in shown and "the kill was a team kill" in shown
    await ada.page.set_window(1024, 800, dark=True)
    assert await ada.too_wide() == [] and await ada.violations() == []
    await ada.press("Consent, and do it")
    assert "consented and executed" in await ada.text()
    await sam.open(market)
    assert "Now: suspended" in await sam.text(), "what was consented to is done"
    await give(sam, "settle_market", "Do it", result="won", reason="it counts after all")
    assert "settled: won" in await sam.text()
    await sam.open("/console/audit")
    assert {"consent.request", "consent.give"} <= set(re.findall(r"consent\.\w+", await sam.text()))


async def refusal(desk: Desk) -> None:
    """Without scripts: the other refuses, and the result stands."""
    sam, ada = desk.sam, desk.ada
    _, market = await desk.old_results(2)
    await ada.scripts(enabled=False)
    await sam.open(market)
    await give(sam, "void_market", "Ask for consent", void_reason_id="4", reason="a wrong price")
    request = await sam.page.value("location.pathname")
    await ada.open(request)
    await ada.fill("reason", "the price was right")
    await ada.press("Refuse")
    assert "refused" in await ada.text("#request") and "the price was right" in await ada.text("#request")
    await ada.scripts(enabled=True)
    await sam.open(market)
    assert "settled: won" in await sam.text()


async def alert(desk: Desk) -> None:
    """Seen by one and taken; the other reads that, takes over, hands back and ends it."""
    sam, ada = desk.sam, desk.ada
    await ada.open("/console")
    await desk.begin_alert()
    await ada.page.until(
        "document.querySelector('[data-rows=alerts]').innerText.includes('more queues than')", _STREAM_SECONDS
    )
    await sam.scripts(enabled=False)
    await sam.open("/console")
    row = "[data-rows=alerts]"
    assert "nobody has seen it" in await sam.text(row)
    await ada.press("Seen", row)
    await ada.press("Take", row)
    assert "taken by operator admin@operators.example" in await ada.text(row)
    await sam.press("Take", row)
    assert "operator admin@operators.example has this alert since" in await sam.text()
    await sam.press("Take over", row)
    assert "taken by operator settler@operators.example" in await sam.text(row)
    await sam.press("Hand back", row)
    await sam.press("End", row)
    await sam.open("/console/alerts")
    ended = await sam.text("main tbody tr.ended")
    assert "admin@operators.example" in ended and "settler@operators.example" in ended
    await sam.scripts(enabled=True)
    for language in ("Русский", "English"):
        for path in ("/console/alerts", "/console/consents"):
            await sam.open(path)
            await sam.press(language, "header")
            await sam.page.set_window(1024, 800, dark=language == "English")
            assert await sam.too_wide() == [] and await sam.violations() == []
    await ada.page.until(
        "!document.querySelector('#alerts').innerText.includes('more queues')", _STREAM_SECONDS
    )
    listed = await asyncio.to_thread(desk.place.matchfeed, "alerts", "--all")
    assert "ended by operator settler@operators.example" in listed


STORIES: tuple[Story, ...] = (consent, refusal, alert)


@pytest.mark.long
@pytest.mark.timeout(1200)
async def test_what_two_operators_do_together(place: Place) -> None:
    demo = place.start()
    async with at_console(demo, "settler") as sam, at_console(demo, "admin") as ada:
        for story in STORIES:
            await story(Desk(place, sam, ada))
