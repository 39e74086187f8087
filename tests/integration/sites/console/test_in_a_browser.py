"""What traders do, in a real browser: the page moves, a wrong settlement is found and put right."""

from collections.abc import AsyncIterator
from decimal import Decimal

import pytest
from msgspec.structs import replace

from app.domain import changes as c
from app.domain.market import MarketStatus, Result
from app.domain.match import Doubt, MapPlay, Match, Round
from app.domain.settlement import LedgerEntry, LedgerStatus
from app.domain.tenant import OperatorRole
from app.kit.clock import system_clock
from app.settings import Settings
from app.sites.console.site import market_path, match_path
from app.store import alerts, log_state
from app.store.alerts import AlertKind, AlertSubject
from app.store.connections import Store
from app.store.log_state import LogSender
from tests.integration.sites.console.conftest import visiting_console
from tests.support.story import Story, kill, offer
from tests.support.trading import TASKS, close_a_type_and_open_it, edit_a_price_in_place, see_the_matches_move
from tests.support.visitor import Visitor

_SECONDS = 60.0
#: Tasks that need a game server which plays.
_OF_PLAY = (see_the_matches_move, close_a_type_and_open_it, edit_a_price_in_place)
_LONG = "the game server's statistics contradict the events of round 23: 14 kills of 15; " * 2


@pytest.fixture
async def visitor(store: Store, settings: Settings) -> AsyncIterator[Visitor]:
    async with visiting_console(store, settings, OperatorRole.ADMIN) as visitor:
        yield visitor


async def settled_by_a_kill(story: Story) -> Match:
    """A match with a market that moved, and was settled by a round with a kill."""
    match = await story.match()
    for odds in ("1.85", "1.7", "1.6"):
        await story.offer(match, offer(1, odds=Decimal(odds)))
    killed = kill(story.at, 35_000)
    played = Round(2, 1, 1, "home", "CT", "kills", 1, 0, story.at, story.at + 1, events=(1,))
    play = MapPlay(1, "de_dust2", "live", home_score=1, home_side="CT", rounds=(played,))
    strengths = {"home_strength": 1500.0, "away_strength": 1500.0}
    happened = (c.EventAdded(killed), c.RoundFinished(played))
    await story.happen(match, *happened, maps=(play,), next_history_id=3, **strengths)
    won = replace(offer(1), status=MarketStatus.SETTLED, result=Result.WON, rests_on=(1, 2))
    entry = LedgerEntry(
        *won.key, LedgerStatus.PENDING, LedgerStatus.SETTLED, Result.WON, "by the round", rests_on=(1, 2)
    )
    await story.record(match, replace(won, settled_by="engine"), entry)
    return match


@pytest.mark.timeout(400)
async def test_what_traders_do(visitor: Visitor, store: Store) -> None:
    match = await settled_by_a_kill(Story(store))
    for task in TASKS:
        if task not in _OF_PLAY:
            await task(visitor)
    await visitor.open(market_path(match.number, offer(1).key))
    assert "settled: won" in await visitor.text()


@pytest.mark.timeout(400)
async def test_a_row_that_is_not_drawn_yet_is_waited_for(visitor: Visitor, store: Store) -> None:
    """The finder, with an empty text for a match's name, listed everything."""
    match, page = await Story(store).match(), visitor.page
    link = "[data-rows=matches] a"
    text = f"document.querySelector('{link}')?.innerText"
    await visitor.open("/console")
    await page.until(f"!!{text}", _SECONDS)
    await page.value("document.querySelector('main').style.marginTop = '9000px'")
    await page.until(f"{text} === ''", _SECONDS)
    later = "setTimeout(() => { document.querySelector('main').style.marginTop = ''; }, 500)"
    await page.value(f"(() => {{ {later}; }})()")
    assert await visitor.text(link) == f"{match.home} – {match.away}"


@pytest.mark.timeout(400)
async def test_the_live_page_moves_and_keeps_the_focus(visitor: Visitor, store: Store) -> None:
    """Score, new matches and ended ones arrive by the stream; the row that is focused stays so."""
    story, page = Story(store), visitor.page
    match, ended = await story.match(), await story.match()
    await visitor.open("/console")
    row = "document.querySelector('[data-rows=matches] tr[data-key=\"{}\"]')".format
    await page.until(f"!!{row(match.number)} && !!{row(ended.number)}", _SECONDS)
    await page.value(f"{row(match.number)}.focus()")
    play = MapPlay(1, "de_dust2", "live", home_score=7, away_score=5, home_side="CT")
    await story.happen(match, maps=(play,))
    await page.until(f"{row(match.number)}.innerText.includes('7:5')", _SECONDS)
    added = await story.match()
    await page.until(f"!!{row(added.number)}", _SECONDS)
    await story.finish(ended)
    await page.until(f"!{row(ended.number)}", _SECONDS)
    assert await page.value(f"document.activeElement === {row(match.number)}")
    await visitor.key("Shift", 16)
    await story.happen(added, suspended="why", doubts=(Doubt("operator", "why"),))
    first = "document.querySelector('[data-rows=matches]').rows[0]"
    suspended = f"{row(added.number)}.classList.contains('suspended')"
    place = await page.until(f"{suspended} && ({first} === {row(match.number)} ? 'kept' : 'moved')", _SECONDS)
    assert place == "kept", "nothing jumps while a row has the focus"
    await visitor.key("Escape", 27)
    await page.until(f"{first} === {row(added.number)}", _SECONDS)
    await visitor.key("j", 74, "j")
    assert await page.value(f"document.activeElement === {row(added.number)}")
    assert await visitor.violations() == []
    await page.set_window(1024, 800)
    assert await visitor.too_wide() == []
    await visitor.enter()
    assert str(added.number) in await page.value("location.pathname")
    await visitor.key("g", 71, "g")
    await visitor.leave_by("a")
    assert await page.value("location.pathname") == "/console/audit"


@pytest.mark.timeout(400)
async def test_arrows_lead_from_the_alerts_to_the_matches_and_back(visitor: Visitor, store: Store) -> None:
    """An open alert is the first row; home and end stay in its table."""
    match = await Story(store).match()
    async with store.transaction() as tx:
        await alerts.begin(tx, AlertSubject(AlertKind.TENANT_RIGHTS, tenant="acme"), "too many queues", 1)
    await visitor.open("/console")
    await visitor.page.until(f"!!document.querySelector('[data-rows=matches] [data-key=\"{match.number}\"]')")
    table = "document.activeElement.closest('[data-rows]')?.dataset.rows"
    for key, code, reached in (
        ("ArrowDown", 40, "alerts"),
        ("End", 35, "alerts"),
        ("ArrowDown", 40, "matches"),
        ("k", 75, "alerts"),
        ("ArrowUp", 38, "alerts"),
        ("j", 74, "matches"),
        ("ArrowDown", 40, "matches"),
    ):
        await visitor.key(key, code)
        assert await visitor.page.value(table) == reached
    await visitor.enter()
    assert str(match.number) in await visitor.page.value("location.pathname")


@pytest.mark.timeout(400)
async def test_nothing_is_cut_off_from_1024_px_on(visitor: Visitor, store: Store, settings: Settings) -> None:
    """With long names, an alert with a long text that somebody has taken, and lines that were not read."""
    story = Story(store)
    match = await settled_by_a_kill(story)
    names = {"home": "Academy of the Northern Harbour", "away": "Sankt-Petersburg Gorodskoi Klub"}
    await story.happen(match, **names, suspended=_LONG, doubts=(Doubt("operator", _LONG),))
    line = 'L 11/28/2026 - 12:00:00: "somebody<3><[U:1:77]><CT>" [-1234 -567 89] killed "'
    sender = LogSender(
        source="server-01.games.example:27015",
        server="203.0.113.5:27015",
        peer="203.0.113.5",
        map="de_overpass",
        state="refused",
        why="server-02.games.example:27015 (203.0.113.9:27015) is followed",
        claims=True,
        first_seen=1,
        last_seen=2,
        last_line=line,
        unread_lines=12,
        unread_line=line,
    )
    async with store.transaction() as tx:
        await tx.write(log_state.save_senders(match.id, [sender]))
        about = AlertSubject(AlertKind.STATISTICS_CONTRADICTION, match_id=match.id)
        await alerts.begin(tx, about, _LONG, 1)
        [alert] = await alerts.listing(tx, ended=False)
        someone = "operator maximilian.mustermann@trading.example"
        await alerts.save_handling(
            tx, replace(alert, seen_by=someone, seen_at=1, taken_by=someone, taken_at=2)
        )
    own, wrong = match_path(match.number), {}
    paths = ["/console", own, f"{own}/closed", market_path(match.number, offer(1).key)]
    paths += ["/console/alerts", "/console/audit", "/console/settlements"]
    for language in ("English", "Русский"):
        await visitor.open("/console")
        await visitor.press(language, "header")
        for path in paths:
            await visitor.open(path)
            for width in (1024, 1280, 1440, 1920):
                await visitor.page.set_window(width, 900)
                if cut := await visitor.too_wide():
                    wrong[path, width, language] = cut
    assert wrong == {}


@pytest.mark.timeout(400)
async def test_thirty_matches_are_on_one_screen(visitor: Visitor, store: Store) -> None:
    """In play, each on one line of 28 to 32 px, at 1,440 x 900 without scrolling."""
    story, now = Story(store), system_clock()
    play = MapPlay(1, "de_overpass", "live", home_score=11, away_score=12, home_side="T")
    for number in range(30):
        names = {"home": f"Midnight Plumbers {number}", "away": "Clockwork Geese"}
        match = await story.match(maps=(play,), best_of=3, score_home=1, last_arrived_at=now, **names)
        team = "team=home"
        await story.offer(
            match, offer(1, type_id=1, specifiers=team), offer(2, status=MarketStatus.SUSPENDED)
        )
    await visitor.page.set_window(1440, 900)
    await visitor.open("/console")
    rows = "[...document.querySelectorAll('[data-rows=matches] > tr')]"
    await visitor.page.until(f"{rows}.length === 30", _SECONDS)
    heights = await visitor.page.value(f"{rows}.map((row) => row.getBoundingClientRect().height)")
    assert len(heights) == 30 and all(28 <= each <= 32 for each in heights), heights
    assert await visitor.page.value("document.documentElement.scrollHeight") <= 900
    assert await visitor.violations() == []


@pytest.mark.timeout(400)
async def test_no_key_gives_a_command_that_was_not_meant(visitor: Visitor, store: Store) -> None:
    """Not a key that is held down, not a letter after "g", not what is no price; "e" edits the main line, and
    a cell that was edited shows what came meanwhile."""
    story, page = Story(store), visitor.page
    lines = [
        offer(
            1,
            type_id=type_id,
            specifiers=f"map=1|threshold={line}",
            odds=Decimal(odds),
            probability=probability,
            group=f"map_total_rounds:map=1|threshold={line}",
        )
        for line, over, chance in (("19.5", "1.35", 0.7), ("20.5", "1.9", 0.5))
        for type_id, odds, probability in ((8, over, chance), (9, "2.9", 1 - chance))
    ]
    match = await story.match(*lines)
    path = match_path(match.number)
    revision = "document.querySelectorAll('#commands tbody tr').length"
    await visitor.open(path)
    await visitor.key("g", 71, "g")
    await visitor.leave_by("s")
    assert await page.value("location.pathname") == "/console/settlements"
    await visitor.open(path)
    assert await page.value(revision) == 0, "the match is not suspended"
    await page.value("document.querySelector('[data-rows=markets] tr:has(a.price)').focus()")
    await visitor.key("e", 69, "e")
    assert await page.value("document.activeElement.value") == "1.9", "the main line"
    for typed in ("1", "abc", "%50", "0x10", "1e9", "200%"):
        await page.value(f"(() => {{ document.activeElement.value = '{typed}'; }})()")
        await visitor.key("Enter", 13, "\r")
        assert await page.value("document.activeElement.getAttribute('aria-invalid')") == "true", typed
    moved = replace(lines[2], odds=Decimal("2.5"), probability=0.4)
    await story.offer(match, moved)
    await page.until("document.activeElement.closest('td').latest !== undefined", _SECONDS)
    await visitor.key("Escape", 27)
    assert "2.5" in await visitor.text("[data-rows=markets] .main ~ a.price")
    await visitor.key("e", 69, "e")
    await page.value("(() => { document.activeElement.value = '41%'; })()")
    pressed = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}
    for repeat in (False, *[True] * 5):
        await page.call("Input.dispatchKeyEvent", type="keyDown", **pressed, autoRepeat=repeat)
    await page.until("!document.getElementById('panel').hidden", _SECONDS)
    for _ in range(5):
        await page.call("Input.dispatchKeyEvent", type="keyDown", **pressed, autoRepeat=True)
    await page.call("Input.dispatchKeyEvent", type="keyUp", **pressed)
    assert await page.value("!document.getElementById('panel').hidden"), "it is read before it is done"
    await visitor.enter()
    await page.until(f"{revision} === 1", _SECONDS)
