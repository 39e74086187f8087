"""The list of what happened in a match: its order, what is grouped, and why a price moved."""

import re

import pytest
from msgspec.structs import replace

from app.commands.trading_commands import SetMaxMove
from app.domain import changes as c
from app.domain.ids import match_urn
from app.domain.market import MarketStatus, Result
from app.domain.match import MapPlay, Match, Round
from app.domain.settlement import LedgerEntry, LedgerStatus
from app.domain.suspension_reasons import OFF_OFFER
from app.sites.console.happened import HappenedReader, HappenedRow
from app.sites.console.happened_texts import css_of, happened_in_words, words_of
from app.sites.console.site import CONSOLE, market_path
from app.store import matches
from app.store.connections import Store
from tests.integration.sites.console.test_match_chart import winner
from tests.support.clocks import ManualClock
from tests.support.matches import execute
from tests.support.portal import SCRIPT, Person
from tests.support.statements import recorded_statements
from tests.support.story import Story, kill, offer

PLAY = MapPlay(1, "de_dust2", "live", home_side="CT")
ENGLISH, RUSSIAN = CONSOLE.texts.texts_in("en"), CONSOLE.texts.texts_in("ru")


@pytest.fixture
def times() -> ManualClock:
    return ManualClock(1_790_000_000_000)


@pytest.fixture
def story(store: Store, times: ManualClock) -> Story:
    return Story(store, times)


async def read(store: Store, match: Match, reader: HappenedReader | None = None) -> list[HappenedRow]:
    async with store.snapshot() as tx:
        found = await matches.get(tx, match.id)
        assert found
        return list((await (reader or HappenedReader(match.id)).read(tx, found)).values())


def words(rows: list[HappenedRow]) -> list[str]:
    return [happened_in_words(ENGLISH, row) for row in rows]


async def move(story: Story, match: Match, chance: float, *happened: c.MatchChange, **fields: object) -> None:
    """A price, and what made it, in one transaction; a second after what was before."""
    story._now.now += 1_000  # type: ignore[attr-defined]
    await story._write(match, happened=happened, offered=(winner(chance, **fields),))


async def test_each_move_of_the_price_has_its_cause(store: Store, story: Story, times: ManualClock) -> None:
    match = await story.match(winner(0.5), maps=(PLAY,))
    await move(story, match, 0.51, c.RoundLive(map=1, round=1))
    first, second = (
        replace(kill(times.now, 5, name), id=number) for number, name in ((1, "Ann"), (2, "Cid"))
    )
    await move(story, match, 0.56, c.EventAdded(first), c.EventAdded(second))
    await move(story, match, 0.558)
    await move(story, match, 0.53)
    played = Round(3, 1, 1, "home", "CT", "kills", 1, 0, times.now - 9, times.now, events=(1, 2))
    await move(story, match, 0.6, c.RoundFinished(played))
    await move(story, match, 0.603)
    rows = await read(store, match)
    assert [(text, row.chance) for text, row in zip(words(rows), rows, strict=True)] == [
        ("Map 1, round 1: Northwind, all opponents killed, 1:0", (0.53, 0.6)),
        ("Round 1 goes on: clock, health and equipment", (0.56, 0.53)),
        ("Cid (Northwind) killed Bob, ak47", (0.51, 0.56)),
        ("Ann (Northwind) killed Bob, ak47", None),
        ("Round 1 goes on: clock, health and equipment", (0.5, 0.51)),
    ], "a move of less than a hundredth without a fact is no row"
    assert rows[0].market == market_path(match.number, winner(0.5).key)


async def test_results_of_one_moment_are_one_row_that_leads_to_them(
    store: Store, story: Story, times: ManualClock, person: Person
) -> None:
    markets = [offer(1), replace(offer(1), specifiers="map=1|round=1|team=away")]
    match = await story.match(winner(0.5), *markets, maps=(PLAY,))
    times.now += 1_000
    played = Round(3, 1, 1, "home", "CT", "kills", 1, 0, times.now - 9, times.now)
    settled = LedgerStatus.PENDING, LedgerStatus.SETTLED
    results = zip(markets, (Result.WON, Result.LOST), strict=True)
    entries = [
        LedgerEntry(*each.key, *settled, result, "by the round", rests_on=(3,)) for each, result in results
    ]
    await story._write(
        match, happened=(c.RoundFinished(played),), offered=(winner(0.6), *markets), entries=entries
    )
    rows = await read(store, match)
    assert words(rows) == [
        "2 markets settled: won 1, lost 1 · by round 1 of map 1",
        "Map 1, round 1: Northwind, all opponents killed, 1:0",
    ]
    assert happened_in_words(RUSSIAN, rows[0]).endswith("по раунду 1 карты 1")
    listed = await person.get(rows[0].path)
    assert len(set(re.findall(r"/console/settlements/(\d+)", listed.text))) == 2
    times.now += 1_000
    await story.take_back(match, markets[0])
    (newest, *_) = await read(store, match)
    assert words([newest]) == ["Map 1, round 1: Northwind to win: rolled back · by the test"]
    assert css_of(newest) == "results changed"
    assert "rolled back" in (await person.get(newest.path)).text


async def test_what_a_kill_settles_is_in_its_row(store: Store, story: Story, times: ManualClock) -> None:
    market = replace(offer(1), type_id=28, specifiers="map=1|player=od:player:1000001|threshold=6.5")
    match = await story.match(winner(0.5), market, maps=(PLAY,))
    times.now += 1_000
    entry = LedgerEntry(
        *market.key, LedgerStatus.PENDING, LedgerStatus.SETTLED, Result.WON, "by a kill", rests_on=(1,)
    )
    killed = c.EventAdded(kill(times.now, 5))
    await story._write(match, happened=(killed,), offered=(winner(0.6), market), entries=(entry,))
    (row,) = await read(store, match)
    assert row.chance == (0.5, 0.6) and row.path.startswith("/console/settlements/")
    assert words_of(ENGLISH, row)["settled"].endswith("settled: won")


async def test_a_suspension_is_one_row_with_its_reason_and_end(
    store: Store, story: Story, times: ManualClock
) -> None:
    match = await story.match(winner(0.5), maps=(PLAY,))
    off = {"status": MarketStatus.SUSPENDED}
    await move(story, match, 0.5, reason=OFF_OFFER, **off)
    await move(story, match, 0.5, reason=OFF_OFFER, **off)
    await move(story, match, 0.5, reason="the stream shows a pause", **off)
    rows = await read(store, match)
    assert words(rows) == ["Suspended: the stream shows a pause", f"Suspended for 2 s: {OFF_OFFER}"]
    assert [css_of(row) for row in rows] == ["stopped", "off"]
    await move(story, match, 0.5)
    rows = await read(store, match)
    assert (
        words(rows)[0] == "Suspended for 1 s: the stream shows a pause" and css_of(rows[0]) == "stopped over"
    )


async def test_commands_are_listed_with_what_they_moved(
    store: Store, story: Story, times: ManualClock
) -> None:
    match = await story.match(winner(0.5), maps=(PLAY,))
    times.now += 1_000
    await execute(store, match, SetMaxMove(max_move=0.3), times.now, by="operator tara")
    await move(story, match, 0.55)
    assert "operator tara: Limit price moves" in words(await read(store, match))


async def test_what_does_not_count_any_more_is_taken_away(
    store: Store, story: Story, times: ManualClock
) -> None:
    match = await story.match(winner(0.5), maps=(PLAY,))
    reader = HappenedReader(match.id)
    await move(story, match, 0.51, c.RoundLive(map=1, round=1))
    await move(story, match, 0.56, c.EventAdded(kill(times.now, 5)))
    assert any("killed" in text for text in words(await read(store, match, reader)))
    await move(story, match, 0.5, c.RoundLive(map=1, round=1))
    assert not any("killed" in text for text in words(await read(store, match, reader)))
    played = Round(3, 1, 1, "home", "CT", "kills", 1, 0, times.now - 9, times.now)
    await move(story, match, 0.6, c.RoundFinished(played))
    await move(story, match, 0.5, c.RoundsVoided(map=1, rounds=(played,)))
    assert not any("Map 1, round 1" in text for text in words(await read(store, match, reader)))


async def test_a_read_costs_one_statement_and_says_what_a_first_one_would(
    store: Store, story: Story, times: ManualClock
) -> None:
    match = await story.match(winner(0.5), maps=(PLAY,))
    reader = HappenedReader(match.id)
    await read(store, match, reader)
    for number in range(1, 90):
        killed = replace(kill(times.now, 5), id=number)
        await move(story, match, 0.3 + number / 300, c.EventAdded(killed))
        if number % 30 == 0:
            await read(store, match, reader)
    with recorded_statements() as statements:
        rows = await read(store, match, reader)
    assert len(statements) == 2, "the match, and what is newer"
    assert rows == await read(store, match) and len(rows) == 60
    assert [row.key for row in rows][:2] == ["e89", "e88"], "newest first"


async def test_the_page_shows_the_list_and_names_cannot_become_markup(person: Person, story: Story) -> None:
    match = await story.match(winner(0.5), maps=(PLAY,), home=SCRIPT)
    await move(story, match, 0.56, c.EventAdded(kill(story.at, 5, SCRIPT)))
    await move(story, match, 0.56, status=MarketStatus.SUSPENDED, reason=SCRIPT)
    path = f"/console/matches/{match_urn(match.number)}"
    page = (await person.get(path)).text
    assert SCRIPT not in page and "&lt;script&gt;" in page.partition('data-rows="happened"')[2]
    russian = (await person.get(path, headers={"Accept-Language": "ru"})).text
    assert "Что произошло" in russian and "Приостановлен: " in russian.partition('data-rows="happened"')[2]
