"""Markets of a match, and the price history of each, as a table and as a plot."""

import asyncio
import re
from decimal import Decimal
from typing import Any
from urllib.parse import quote, unquote

import pytest
from markupsafe import escape
from msgspec.structs import replace

from app.domain.doubts import LOG_GAP
from app.domain.ids import match_urn
from app.domain.market import Market, MarketStatus, market_name
from app.domain.match import Match
from app.domain.tenant import Role
from app.domain.tenant_offer import REASON
from app.http.request_guard import PER_TENANT
from app.kit.heavy_work import MOST_CALLS
from app.store.connections import Store
from tests.integration.sites.portal.conftest import SignIn
from tests.support.clocks import ManualClock
from tests.support.heavy_work import occupied_thread
from tests.support.portal import SCRIPT, Person, found_in
from tests.support.story import Story, offer
from tests.support.tenants import book, give_vhost, switch
from tests.support.web import IssueKey

SUSPENDED = MarketStatus.SUSPENDED
#: A team may have any name.
TIME_OUT = f"tactical time-out of {SCRIPT}"


@pytest.fixture
def times() -> ManualClock:
    return ManualClock(1_700_000_000_000)


@pytest.fixture
def story(store: Store, times: ManualClock) -> Story:
    return Story(store, times)


@pytest.fixture
async def person(sign_in: SignIn, issue: IssueKey) -> Person:
    await issue(bundles=("cs2.odds.basic",))
    return await sign_in(Role.READER)


def markets_of(match: Match) -> str:
    return f"/portal/matches/{match_urn(match.number)}/markets"


def history_of(match: Match, number: int = 1) -> str:
    return f"{markets_of(match)}/{quote(market_name(*offer(number).key))}"


def files_of(match: Match, number: int) -> list[str]:
    return [f"{history_of(match, number)}/{name}" for name in ("history.json", "prices.csv")]


async def lived(story: Story, times: ManualClock) -> Match:
    """A match whose market was priced, suspended for two reasons, released, repriced, settled and rolled
    back, ten seconds apart."""
    match = await story.match()
    suspended = offer(1, status=SUSPENDED, reason=LOG_GAP)
    steps: list[Any] = [
        offer(1),
        suspended,
        replace(suspended, reason=TIME_OUT),
        offer(1, odds=Decimal("2.1")),
    ]
    for step in steps:
        await story.offer(match, step, offer(2))
        times.now += 10_000
    await story.settle(match, offer(1))
    times.now += 10_000
    await story.take_back(match, offer(1))
    return match


async def test_the_plot_has_prices_suspensions_with_reasons_and_settlements(
    person: Person, story: Story, times: ManualClock
) -> None:
    begin = times.now
    match = await lived(story, times)
    drawn = (await person.get(f"{history_of(match)}/history.json")).json()
    at = [begin + 10_000 * step for step in range(6)]
    assert [[when // 1000, odds] for when, odds in drawn["points"]] == [
        [when // 1000, odds] for when, odds in zip(at, (1.85, 1.85, 1.85, 2.1, None, 1.85), strict=True)
    ]
    spans = [[since // 1000, until and until // 1000, *why] for since, until, *why in drawn["suspensions"]]
    assert spans == [
        [at[1] // 1000, at[2] // 1000, LOG_GAP, "missing_data"],
        [at[2] // 1000, at[3] // 1000, TIME_OUT, "tactical_timeout"],
        [at[5] // 1000, None, "", "other"],
    ]
    assert [kind for _, _, kind in drawn["marks"]] == ["settled", "rolled_back"]
    assert drawn["complete"]


async def test_the_table_says_what_the_plot_shows(person: Person, story: Story, times: ManualClock) -> None:
    match = await lived(story, times)
    page = await person.get(history_of(match))
    rows = page.text.split("<tbody>")[1].count("<tr>")
    assert rows == 8, "six states of the market and two entries of the ledger"
    assert SCRIPT not in page.text and "&lt;script&gt;" in page.text and escape(LOG_GAP) in page.text
    assert "2023-11-14 22:13:20 UTC" in page.text, "how far back the log reaches"
    assets = re.findall(r'(?:src|href)="(/portal/assets/[^"]+)"', page.text)
    sizes = [(await person.client.get(path)).num_bytes_downloaded for path in assets]
    assert len(assets) == 7 and sum(sizes) + len(page.content) < 100_000


async def test_files_have_what_rest_has(
    person: Person, story: Story, times: ManualClock, issue: IssueKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a market and of the match, in pieces."""
    monkeypatch.setattr("app.sites.portal.market_pages._FILE_ROWS", 2)
    match = await lived(story, times)
    headers = {"X-API-Key": await issue(bundles=("cs2.odds.basic",)), "Accept": "text/csv"}
    pages = (history_of(match), markets_of(match))
    for page, query in zip(pages, ({"market": market_name(*offer(1).key)}, {}), strict=True):
        path = found_in((await person.get(page)).text, r'href="([^"]+prices\.csv)"')
        file = await person.get(path)
        assert file.headers["content-type"].startswith("text/csv")
        rest = f"/cs2/v1/matches/{match.id}/prices"
        assert file.text == (await person.client.get(rest, params=query, headers=headers)).text
        assert file.text.count("\r\n") == (9 if query else 13)


async def test_a_long_history_is_shown_in_pages_and_the_plot_is_cut(
    person: Person, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.sites.portal.market_pages.CHANGES", 3)
    for module in ("portal.market_pages", "pages.market_history"):
        monkeypatch.setattr(f"app.sites.{module}.POINTS", 4)
    match = await story.match()
    prices = [Decimal(f"1.{number}") for number in range(50, 56)]
    for price in prices:
        await story.offer(match, offer(1, odds=price))
    first = await person.get(history_of(match))
    second = await person.get(found_in(first.text, r'href="([^"]+\?before=\d+)"'))
    shown = re.findall(r'<td class="number">([\d.]+)</td>', first.text + second.text)
    assert shown == [str(price) for price in reversed(prices)]
    drawn = (await person.get(f"{history_of(match)}/history.json")).json()
    assert [odds for _, odds in drawn["points"]] == [float(price) for price in prices[2:]]
    assert not drawn["complete"]


async def test_the_markets_of_a_match_are_listed_in_pages(
    person: Person, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.sites.portal.market_pages._MARKETS", 4)
    match = await story.match(*map(offer, range(1, 8)), home=SCRIPT)
    pages = [await person.get(markets_of(match))]
    while found := re.search(r'href="([^"]+\?after=[^"]+)"', pages[-1].text):
        pages.append(await person.get(found[1]))
    found_markets = [re.findall(r'<th scope="row"><a href="([^"]+)"', page.text) for page in pages]
    assert [len(each) for each in found_markets] == [4, 3]
    assert len({path for each in found_markets for path in each}) == 7
    assert (await person.get(found_markets[0][0])).status_code == 200
    assert SCRIPT not in pages[0].text


async def test_what_a_tenant_does_not_see_does_not_exist(
    person: Person, sign_in: SignIn, story: Story, store: Store, issue: IssueKey
) -> None:
    match = await story.match(offer(1))
    for path in (
        *(f"{markets_of(match)}/13:map=1", f"{markets_of(match)}/x", f"{markets_of(match)}/13"),
        "/portal/matches/od:match:404/markets",
    ):
        assert (await person.get(path)).status_code == 404, path
    assert (await person.get(f"{markets_of(match)}?after=x")).status_code == 422
    vhost_only = await sign_in(Role.OWNER, "vhost")
    await give_vhost(store, "vhost")
    await book(store, match, False, "vhost", now=1)
    await issue("stats", bundles=("cs2.stats",))
    stats = await sign_in(Role.OWNER, "stats")
    files = (f"{history_of(match)}/prices.csv", f"/portal/matches/{match_urn(match.number)}/prices.csv")
    for path in (markets_of(match), history_of(match), f"{history_of(match)}/history.json", *files):
        assert (await vhost_only.get(path)).status_code == 404, path
        assert (await stats.get(path)).status_code == 403, path
        assert (await person.get(path)).status_code == 200, path


async def test_a_market_never_offered_does_not_exist(
    person: Person, story: Story, times: ManualClock, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page of the list is full without them."""
    monkeypatch.setattr("app.sites.portal.market_pages._MARKETS", 2)
    offered, later = (1, 3, 5), (2, 4, 6)
    match = await story.match(*map(offer, offered))
    await switch(store, False, now=times.now)
    times.now += 10_000
    await story.offer(match, *map(offer, later))
    for number in offered + later:
        for path in (history_of(match, number), *files_of(match, number)):
            assert (await person.get(path)).status_code == (200 if number in offered else 404), path
    first = await person.get(markets_of(match))
    pages = [first, await person.get(found_in(first.text, r'href="([^"]+\?after=[^"]+)"'))]
    listed = [re.findall(r'<th scope="row"><a href="([^"]+)"', page.text) for page in pages]
    shown = [[unquote(path) for path in each] for each in listed]
    expected = [unquote(history_of(match, number)) for number in offered]
    assert shown == [expected[:2], expected[2:]]
    assert "active" not in first.text.split("<tbody>")[1]
    await switch(store, True, now=times.now)
    assert (await person.get(history_of(match, 2))).status_code == 200


async def test_a_history_is_suspended_while_its_type_is_off(
    person: Person, sign_in: SignIn, story: Story, times: ManualClock, store: Store, issue: IssueKey
) -> None:
    """It has what the tenant received: until the next switch no price, and a later market begins with that.
    Another tenant sees all prices."""
    begin, match = times.now, await story.match(offer(1))
    steps: list[Any] = [None, offer(1, odds=Decimal("2.1")), True, offer(1, odds=Decimal("2.4"))]
    await issue("beta", bundles=("cs2.odds.basic",))
    other = await sign_in(Role.READER, "beta")
    for step in steps:
        times.now += 10_000
        if isinstance(step, Market):
            await story.offer(match, step, offer(2))
        else:
            await switch(store, bool(step), now=times.now)
    drawn = (await person.get(f"{history_of(match)}/history.json")).json()
    seconds = [(when - begin) // 1000 for when, _ in drawn["points"]]
    assert seconds == [0, 10, 30, 40]
    spans = [[(at - begin) // 1000, (to - begin) // 1000, *why] for at, to, *why in drawn["suspensions"]]
    assert spans == [[10, 30, REASON, "type_switched_off"]]
    late = (await person.get(f"{history_of(match, 2)}/history.json")).json()
    assert [(when - begin) // 1000 for when, _ in late["points"]] == [30, 40] and not late["suspensions"]
    rows = (await person.get(history_of(match))).text.split("<tbody>")[1]
    assert rows.count(REASON) == 1 and rows.count("<tr>") == 4
    everything = (await other.get(f"{history_of(match)}/history.json")).json()
    assert [(when - begin) // 1000 for when, _ in everything["points"]] == [0, 20, 40]
    assert everything["suspensions"] == []


async def test_a_tenants_people_cannot_download_without_end_at_once(
    person: Person, story: Story, times: ManualClock, sign_in: SignIn, issue: IssueKey
) -> None:
    """Each file keeps the process busy for as long as it is; other tenants' requests would wait."""
    others = []
    for slug in ("beta", "gamma"):
        await issue(slug, bundles=("cs2.odds.basic",))
        others.append(await sign_in(Role.OWNER, slug))
    match = await lived(story, times)
    urn = match_urn(match.number)
    paths = [
        f"{history_of(match)}/prices.csv",
        f"/portal/matches/{urn}/prices.csv",
        "/portal/settlements.csv",
    ]
    of_others = [other.get(paths[-1]) for other in others for _ in range(PER_TENANT)]
    found = await asyncio.gather(*of_others, *(person.get(path) for path in paths * 4))
    assert {each.status_code for each in found[: len(of_others)]} == {200}, "nobody waits for other tenants"
    found = found[len(of_others) :]
    refused = [each for each in found if each.status_code != 200]
    assert 0 < len(refused) <= len(found) - PER_TENANT
    assert {(each.status_code, "retry-after" in each.headers) for each in refused} == {(429, True)}
    for path in paths:
        assert (await person.get(path)).status_code == 200, path


async def test_many_requests_of_a_tenants_people_at_once_wait_for_each_other(
    person: Person, story: Story, times: ManualClock
) -> None:
    path = f"{history_of(await lived(story, times))}/history.json"
    async with asyncio.timeout(60), asyncio.TaskGroup() as group, occupied_thread():
        sent = [group.create_task(person.get(path)) for _ in range(MOST_CALLS + 2)]
        refused = await next(asyncio.as_completed(sent))
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")
    assert [one.result().status_code for one in sent].count(200) == MOST_CALLS + 1
