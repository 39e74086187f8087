"""The live page: what it shows, the stream that moves it, and what both cost."""

import time
from contextlib import AsyncExitStack

import msgspec
import pytest

from app.domain.doubts import SERVER_SILENT
from app.domain.ids import match_urn
from app.domain.market import MarketStatus
from app.domain.match import Doubt, MapPlay, Match, Status
from app.domain.tenant import OperatorRole
from app.kit.clock import system_clock
from app.sites.console.row_feed import Changes
from app.sites.console.site import ConsoleDependencies
from app.sites.pages.event_streams import PER_SESSION
from app.store import alerts
from app.store.alerts import AlertKind, AlertSubject
from app.store.connections import Store
from tests.integration.sites.console.conftest import SignIn, console_of
from tests.support.event_stream import EventStream
from tests.support.portal import SCRIPT, Person
from tests.support.statements import recorded_statements
from tests.support.story import Story, offer

EVENTS = "/console/live/events"


def changes_in(event: str) -> Changes:
    return msgspec.json.decode(event.removeprefix("data: "), type=Changes)


@pytest.fixture
def quick(person: Person) -> ConsoleDependencies:
    """The console's dependencies, with streams that look for changes all the time."""
    console = console_of(person.client)
    console.live.seconds = console.streams.seconds = 0.01
    return console


def play(home_score: int, away_score: int) -> tuple[MapPlay, ...]:
    """The maps of a match on its first one."""
    return (MapPlay(1, "de_dust2", "live", home_score=home_score, away_score=away_score, home_side="CT"),)


def score(home: int, away: int) -> str:
    """As a cell has it, home on CT."""
    return f'<b><span class="CT">{home}</span>:<span class="T">{away}</span></b>'


async def playing(story: Story, **fields: object) -> Match:
    """A match in play on its first map."""
    return await story.match(maps=play(7, 5), **fields)


async def test_a_match_in_play_is_shown_with_score_and_markets(person: Person, story: Story) -> None:
    match = await playing(story, last_arrived_at=system_clock())
    await story.offer(match, offer(1), offer(2, status=MarketStatus.SUSPENDED, reason="the bomb is down"))
    await story.match(status=Status.UPCOMING)
    page = await person.get("/console")
    assert page.text.count("<tr data-key=") == 1
    assert f'href="/console/matches/{match_urn(match.number)}"' in page.text
    assert 'dust2</span> <b><span class="CT">7</span>:<span class="T">5</span></b>' in page.text
    assert 'class="mark game"' in page.text, "the game explains what is not on offer"
    assert '1<span class="soft">/2</span>' in page.text


async def test_the_list_of_keys_has_every_page(person: Person) -> None:
    page = (await person.get("/console")).text
    keys = page[page.index('id="keys"') :]
    assert "g, then l r s g c m t p a y" in keys
    assert (
        "Live, Alerts, Settlements, Claims, Consents, Closing line, Tenants, Profiles, Audit log, Account"
        in keys
    )


async def test_what_needs_somebody_comes_first(person: Person, store: Store, story: Story) -> None:
    calm, suspended, alerted = [await playing(story) for _ in range(3)]
    await story.happen(suspended, suspended="why", doubts=(Doubt("operator", "why"),))
    async with store.transaction() as tx:
        about = AlertSubject(AlertKind.RIVAL_SOURCE, match_id=alerted.id, subject="s2")
        await alerts.begin(tx, about, "two servers send", 1)
    page = (await person.get("/console")).text
    rows = page.partition('data-rows="matches"')[2]
    order = [rows.index(f'data-key="{each.number}"') for each in (alerted, suspended, calm)]
    assert order == sorted(order)
    assert "two servers send" in page.partition('data-rows="matches"')[0]


async def test_names_cannot_become_markup(person: Person, story: Story) -> None:
    match = await playing(story, home=SCRIPT, event=SCRIPT, suspended=SCRIPT)
    for path in ("/console", f"/console/matches/{match_urn(match.number)}"):
        page = await person.get(path)
        assert page.status_code == 200 and SCRIPT not in page.text
        assert "&lt;script&gt;" in page.text


async def test_the_stream_sends_only_the_cells_that_changed(
    person: Person, story: Story, quick: ConsoleDependencies
) -> None:
    match, other = await playing(story), await playing(story)
    await quick.live.expire()  # a read for the stream of another test may have begun before
    version = (await person.get("/console")).text.partition('data-version="')[2].partition('"')[0]
    async with EventStream(person.client, EVENTS, since=version) as stream:
        await story.happen(match, maps=play(8, 5))
        changes = changes_in(await stream.next())
        assert set(changes.tables) == {"matches"}
        rows = changes.tables["matches"].rows
        assert set(rows) == {str(match.number)}, rows
        ((_, cells, _),) = rows.values()
        assert list(cells) == [2] and score(8, 5) in cells[2]
        await story.finish(match)
        assert changes_in(await stream.next()).tables["matches"].order == [str(other.number)]


async def test_the_stream_ends_with_the_session(person: Person, quick: ConsoleDependencies) -> None:
    async with EventStream(person.client, EVENTS) as stream:
        assert (await stream.next()).startswith("data: ")
        assert (await person.post("/console/sign-out")).status_code == 303
        await stream.until_ended()
        assert await stream.next() == ""


async def test_a_session_has_a_few_streams_only(person: Person, quick: ConsoleDependencies) -> None:
    async with AsyncExitStack() as stack:
        for _ in range(PER_SESSION):
            await stack.enter_async_context(EventStream(person.client, EVENTS))
        assert (await person.get(EVENTS)).status_code == 429


async def test_the_database_has_one_reader_however_many_pages_are_open(sign_in: SignIn, store: Store) -> None:
    """Twelve pages of two operators: matches and sessions are read as often as for one."""
    story, people = Story(store), [await sign_in(OperatorRole.VIEWER) for _ in range(2)]
    match, seconds = await playing(story), 0.2
    console = console_of(people[0].client)
    console.live.seconds, console.streams.seconds = seconds, seconds / 2
    opened = [EventStream(each.client, EVENTS) for each in people for _ in range(PER_SESSION)]
    with recorded_statements() as statements:
        async with AsyncExitStack() as stack:
            began = time.monotonic()
            streams = [await stack.enter_async_context(each) for each in opened]
            for won in range(1, 5):
                await story.happen(match, maps=play(won, 0))
                for stream in streams:
                    while score(won, 0) not in (await stream.next()).replace('\\"', '"'):
                        pass
        most = (time.monotonic() - began) / seconds + 1
    matches = [each for each in statements if 'xmin::text AS "version"' in each]
    sessions = [each for each in statements if '"portal_session"."id" = ANY' in each]
    assert 4 <= len(matches) <= most and 1 <= len(sessions) <= most * 2


async def test_queries_do_not_grow_with_the_matches(person: Person, store: Store) -> None:
    story, counts = Story(store), []
    for _ in range(2):
        for _ in range(8):
            await story.offer(await playing(story), offer(1))
        with recorded_statements() as statements:
            assert (await person.get("/console")).status_code == 200
        counts.append(len(statements))
    assert counts[0] == counts[1]


async def test_a_match_that_did_not_change_is_not_read_again(person: Person, store: Store) -> None:
    await playing(Story(store))
    await person.get("/console")
    with recorded_statements() as statements:
        assert (await person.get("/console")).status_code == 200
    assert not any('"match"."state"' in each for each in statements)


async def test_who_watches_a_match_is_shown_to_the_others(
    person: Person, sign_in: SignIn, story: Story, quick: ConsoleDependencies
) -> None:
    """As long as the page is open, and some seconds longer; not who merely looks at the list."""
    match, other = await playing(story), await playing(story)
    path = f"/console/matches/{match_urn(match.number)}"
    watcher = await sign_in(OperatorRole.TRADER)
    async with (
        EventStream(watcher.client, f"{path}/events") as stream,
        EventStream(person.client, EVENTS) as live,
    ):
        await stream.next()
        while "◉ " not in (event := await live.next()):
            pass
        assert set(changes_in(event).tables["matches"].rows) >= {str(match.number)}
    await quick.live.expire()
    rows = (await person.get("/console")).text.partition('data-rows="matches"')[2]
    assert rows.count("◉") == 1, f"nobody watches {other.number}"


async def test_matches_are_in_order_of_need_and_then_of_their_start(person: Person, story: Story) -> None:
    now = system_clock()
    later, earlier = [
        await playing(story, started_at=now - at, last_arrived_at=now) for at in (1_000, 60_000)
    ]
    silent = await playing(
        story, started_at=now, last_arrived_at=now, suspended=SERVER_SILENT, doubts=(Doubt("source", "why"),)
    )
    rows = (await person.get("/console")).text.partition('data-rows="matches"')[2]
    order = [rows.index(f'data-key="{each.number}"') for each in (silent, earlier, later)]
    assert order == sorted(order)
