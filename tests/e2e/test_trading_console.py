"""The trading console in a real browser, over a real demo: what traders do, and how every page looks."""

from contextlib import AbstractAsyncContextManager
from typing import Any

import httpx
import pytest

from tests.support import logs
from tests.support.trading import TASKS, correct_a_wrong_settlement, hand_over_a_rival_source, trade_at_once
from tests.support.visitor import Visitor, visiting

#: Pages without a subject.
PAGES = (
    "/console",
    "/console/alerts",
    "/console/settlements",
    "/console/tenants",
    "/console/audit",
    "/console/account",
)
#: What a match in play may take of a window of 1,024 x 768, in pixels.
TALLEST = 2_000
#: Pages of one thing: on which page the first link that matches leads to one.
DETAILS = (
    ("/console", "[data-rows=matches] a"),
    ("/console/settlements", "main tbody th a"),
    ("/console/settlements", "main tbody a[href*='/markets/']"),
)


def signed_in(demo: dict[str, Any], role: str = "admin") -> AbstractAsyncContextManager[Visitor]:
    """An operator of that role, at the live page."""
    operator = next(each for each in demo["operators"] if each["role"] == role)
    base_url = demo["console_url"].removesuffix("/console")
    return visiting(base_url, "/console", operator["email"], operator["password"])


@pytest.mark.long
@pytest.mark.timeout(900)
async def test_what_traders_do(demo: dict[str, Any]) -> None:
    async with signed_in(demo) as visitor:
        for task in TASKS:
            await task(visitor)


@pytest.mark.long
@pytest.mark.timeout(400)
async def test_two_traders_on_one_match_at_once(demo: dict[str, Any]) -> None:
    async with signed_in(demo, "trader") as first, signed_in(demo) as second:
        await trade_at_once(first, second)
        refused = second.page.errors  # the browser logs the answers to the later commands
        assert len(refused) == 2 and all("409 (Conflict)" in each for each in refused), refused
        refused.clear()


@pytest.mark.long
@pytest.mark.timeout(400)
async def test_a_rival_log_source_is_handed_over(demo: dict[str, Any]) -> None:
    async def play(urn: str) -> str:
        """Play of the match from another game server, whose name is returned."""
        server, key = "203.0.113.9:27015", {"X-API-Key": demo["operator_key"]}
        async with httpx.AsyncClient(trust_env=False) as client:
            match = await client.get(f"{demo['operator_url']}/ops/v1/matches/{urn}", headers=key)
            body = logs.body(*logs.kick_off(), *logs.live())
            sink = match.json()["data"]["log_sink_url"]
            sent = await client.post(sink, content=body, headers={"X-Server-Addr": server})
        assert sent.status_code == 200, sent.text
        return server

    async with signed_in(demo, "trader") as visitor:
        await hand_over_a_rival_source(visitor, play)


@pytest.mark.long
@pytest.mark.timeout(600)
async def test_a_keyboard_is_enough(demo: dict[str, Any]) -> None:
    """From the live page to a match and to the audit log, by the keys that `docs/console.md` names."""
    async with signed_in(demo, "viewer") as visitor:
        focused = "document.activeElement.closest('tr')?.rowIndex ?? 0"
        await visitor.key("j", 74, "j")
        first = await visitor.page.value(focused)
        await visitor.key("ArrowDown", 40)
        assert await visitor.page.value(focused) in (first, first + 1)
        await visitor.key("End", 35)
        await visitor.key("Home", 36)
        assert await visitor.page.value(focused) == 1
        await visitor.page.value("document.querySelector('[data-rows=matches] tr').focus()")
        await visitor.enter()
        assert "/console/matches/" in await visitor.page.value("location.pathname")
        await visitor.key("g", 71, "g")
        await visitor.leave_by("a")
        assert await visitor.page.value("location.pathname") == "/console/audit"


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("language", ["English", "Русский"])
async def test_every_page_fits_and_is_accessible(demo: dict[str, Any], language: str) -> None:
    async with signed_in(demo) as visitor:
        details = [await visitor.link(*where) for where in DETAILS]
        await visitor.press(language, "header")
        for path in (*PAGES, *details):
            for width, theme in ((1920, "dark"), (1440, "light"), (1280, "dark"), (1024, "light")):
                await visitor.page.set_window(width, 800)
                await visitor.look(theme=theme)
                await visitor.open(path)
                assert await visitor.too_wide() == [], (path, width)
                assert await visitor.violations() == [], (path, theme)


@pytest.mark.long
@pytest.mark.timeout(400)
async def test_a_match_in_play_is_three_windows_tall_at_most(demo: dict[str, Any]) -> None:
    async with signed_in(demo, "trader") as visitor:
        await visitor.page.set_window(1024, 768)
        found = (
            "[...document.querySelectorAll('[data-rows=matches] a')].map((each) => each.getAttribute('href'))"
        )
        await visitor.open("/console")
        for path in await visitor.page.value(found):
            await visitor.open(path)
            await visitor.page.until("document.querySelectorAll('.plot canvas').length > 0")
            assert await visitor.page.value("document.documentElement.scrollHeight") <= TALLEST, path


@pytest.mark.long
@pytest.mark.timeout(900)
async def test_what_changes_something_works_without_scripts(demo: dict[str, Any]) -> None:
    async with signed_in(demo) as visitor:
        await visitor.scripts(enabled=False)
        await correct_a_wrong_settlement(visitor)
