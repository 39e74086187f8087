"""The history of a match's markets over REST: what it has, in which order, in pages, and for whom."""

import csv
import io
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import httpx
import pytest
from lxml import etree

from app.access import admin
from app.domain import scopes
from app.domain.market import MarketStatus
from app.domain.match import Match
from app.domain.settlement import VoidWindow
from app.domain.tenant_offer import REASON
from app.store import changes, market_history, tenants
from app.store.connections import Store
from tests.support.clocks import ManualClock
from tests.support.eventually import eventually
from tests.support.story import Story, offer
from tests.support.tenants import ROUND_WINNER, book, give_profile, switch
from tests.support.web import Headers, IssueKey

OTHER = 1
WINDOW = VoidWindow(1_700_000_000_000, 1_700_000_005_000)
Row = dict[str, Any]


class Reader:
    """One key's requests about a match."""

    def __init__(self, client: httpx.AsyncClient, match: Match, key: Headers) -> None:
        self._client, self._match, self._key = client, match, key

    async def answer(self, accept: str = "application/json", **query: object) -> httpx.Response:
        path = f"/cs2/v1/matches/{self._match.id}/prices"
        headers = self._key | {"Accept": accept}
        return await self._client.get(
            path, params={key: str(each) for key, each in query.items()}, headers=headers
        )

    async def page(self, **query: object) -> Any:
        return (await self.answer(**query)).raise_for_status().json()

    async def rows(self, **query: object) -> list[Row]:
        """Those of all pages."""
        found: list[Row] = []
        since, more = 0, True
        while more:
            page = await self.page(since_seq=since, **query)
            assert page["meta"]["count"] == len(page["data"])
            found += page["data"]
            since, more = page["meta"]["next_since_seq"], page["meta"]["more"]
        return found


@pytest.fixture
def times() -> ManualClock:
    return ManualClock(1_700_000_000_000)


@pytest.fixture
def story(store: Store, times: ManualClock) -> Story:
    return Story(store, times)


async def lived(story: Story, times: ManualClock) -> Match:
    """A match with everything that happens to markets."""
    match = await story.match()
    await story.offer(match, offer(1), offer(2), offer(9, type_id=OTHER))
    for step in (
        offer(1, status=MarketStatus.SUSPENDED, reason="=a trader's text"),
        offer(1, odds=Decimal("2.105")),
    ):
        times.now += 10_000
        await story.offer(match, step)
    await story.settle(match, offer(1))
    await story.take_back(match, offer(1))
    await story.void(match, offer(2))
    await story.take_back(match, offer(2))
    await story.void_bets(match, WINDOW, offer(9, type_id=OTHER))
    await story.void_bets(match, WINDOW, offer(9, type_id=OTHER), rolled_back=True)
    return match


@pytest.fixture
async def match(story: Story, times: ManualClock) -> Match:
    return await lived(story, times)


@pytest.fixture
def reader(client: httpx.AsyncClient, match: Match, basic: Headers) -> Reader:
    return Reader(client, match, basic)


def outline(rows: Iterable[Row]) -> list[tuple[Any, ...]]:
    return [(row["message"], row["status"], row.get("odds"), row.get("outcome")) for row in rows]


def of_round(number: int) -> str:
    return f"{ROUND_WINNER}:map=1|round={number}|team=home"


async def test_everything_that_happened_to_a_market_in_the_order_of_the_change_log(
    reader: Reader, match: Match
) -> None:
    rows = await reader.rows()
    assert [row["seq"] for row in rows] == sorted({row["seq"] for row in rows})
    first = [row for row in rows if row["market_offer_id"] == of_round(1)]
    assert outline(first) == [
        ("odds_change", "active", 1.85, None),
        ("odds_change", "suspended", 1.85, None),
        ("odds_change", "active", 2.105, None),
        ("bet_settlement", "settled", None, "won"),
        ("odds_change", "settled", None, None),
        ("rollback_bet_settlement", "pending", None, None),
        ("odds_change", "suspended", 1.85, None),
    ]
    begin = first[0]["timestamp"]
    assert [(row["timestamp"] - begin) // 10_000 for row in first[:3]] == [0, 1, 2]
    assert (first[1]["suspended_reason"], first[1]["suspended_reason_code"]) == ("=a trader's text", "other")
    assert {(row["market_id"], row["specifiers"]) for row in first} == {(13, "map=1|round=1|team=home")}
    second = [row["message"] for row in rows if row["market_offer_id"] == of_round(2)]
    assert [name for name in second if name != "odds_change"] == ["bet_cancel", "rollback_bet_cancel"]
    windows = [row for row in rows if "void_from" in row]
    assert [(row["message"], row["void_from"], row["void_until"]) for row in windows] == [
        ("bet_cancel", WINDOW.start_time, WINDOW.end_time),
        ("rollback_bet_cancel", WINDOW.start_time, WINDOW.end_time),
    ]


async def test_the_last_change_of_each_market_is_its_state(
    client: httpx.AsyncClient, reader: Reader, match: Match, basic: Headers
) -> None:
    last = {row["market_offer_id"]: row for row in await reader.rows() if row["message"] == "odds_change"}
    listed = (await client.get(f"/cs2/v1/matches/{match.id}/markets", headers=basic)).json()["data"]
    names = ("market_offer_id", "specifiers", "status", "odds", "suspended_reason_code")
    assert {
        name: {each: row.get(each) for each in names}
        for name, row in last.items()
        if row["status"] in ("active", "suspended")
    } == {row["market_offer_id"]: {each: row.get(each) for each in names} for row in listed}


async def test_one_type_or_one_market(reader: Reader, story: Story, match: Match) -> None:
    await story.offer(match, offer(11))
    everything = await reader.rows()
    for wanted in (of_round(1), of_round(11), of_round(2)):
        rows = [row for row in everything if row["market_offer_id"] == wanted]
        assert await reader.rows(market=wanted, limit=2) == rows and rows
    for wanted in (ROUND_WINNER, OTHER):
        rows = [row for row in everything if row["market_id"] == wanted]
        assert await reader.rows(market=wanted, limit=2) == rows and rows


async def test_pages_lose_and_repeat_nothing_while_rows_are_appended(
    reader: Reader, story: Story, match: Match
) -> None:
    found: list[Row] = []
    since = 0
    for number in range(20, 30):
        page = await reader.page(since_seq=since, limit=3)
        found += page["data"]
        since = page["meta"]["next_since_seq"]
        await story.offer(match, offer(number), offer(number + 100))
    while (page := await reader.page(since_seq=since, limit=3))["data"]:
        found += page["data"]
        since = page["meta"]["next_since_seq"]
    assert found == await reader.rows() and not page["meta"]["more"]
    await story.offer(match, offer(50))
    (new,) = (await reader.page(since_seq=since))["data"]
    assert new["market_offer_id"] == of_round(50)


async def test_a_page_ends_after_so_many_changes_of_other_markets(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = await reader.rows(market=of_round(2))
    monkeypatch.setattr("app.store.market_history.SCANNED", 3)
    first = await reader.page(market=of_round(2))
    assert first["meta"]["more"] and first["meta"]["count"] < len(everything)
    assert await reader.rows(market=of_round(2)) == everything


async def test_csv_has_what_json_has(reader: Reader) -> None:
    for query in ({"limit": 3}, {}, {"since_seq": 2**62}):
        page = await reader.page(**query)
        answer = (await reader.answer("text/csv", **query)).raise_for_status()
        assert answer.headers["content-type"] == "text/csv; charset=utf-8; header=present"
        meta = {
            name: answer.headers[f"x-{name.replace('_', '-')}"]
            for name in ("next_since_seq", "more", "complete_from")
        }
        assert meta == {name: str(page["meta"][name]).lower() for name in meta}
        lines = list(csv.DictReader(io.StringIO(answer.text, newline="")))
        texts = [{name: str(value) for name, value in row.items()} for row in page["data"]]
        for row in texts:
            if row.get("suspended_reason", "").startswith("="):
                row["suspended_reason"] = "'" + row["suspended_reason"]
        assert [{name: cell for name, cell in line.items() if cell} for line in lines] == texts


async def test_xml_has_what_json_has(reader: Reader) -> None:
    document = etree.fromstring((await reader.answer("application/xml")).content)
    page = await reader.page()
    assert [int(item.get("seq")) for item in document.iter("item")] == [row["seq"] for row in page["data"]]
    assert document.find("meta").get("next_since_seq") == str(page["meta"]["next_since_seq"])


async def test_a_type_that_is_off_has_what_was_published(
    client: httpx.AsyncClient, story: Story, basic: Headers, issue: IssueKey, store: Store, times: ManualClock
) -> None:
    match = await story.match()
    await story.offer(match, offer(1), offer(2))
    beta = Reader(client, match, {"X-API-Key": await issue("beta", bundles=("cs2.odds.basic",))})
    await switch(store, False, now=times.now)
    times.now += 10_000
    await story.offer(match, offer(1, odds=Decimal("2.2")), offer(3))
    await story.settle(match, offer(1), offer(3))
    await switch(store, True, now=times.now)
    await story.offer(match, offer(2, odds=Decimal("2.4")))
    reader = Reader(client, match, basic)

    async def seen() -> list[tuple[Any, ...]]:
        rows = await reader.rows(limit=2)
        return [(row["specifiers"][12:13], row["message"], row["status"], row.get("odds")) for row in rows]

    expected = [
        ("1", "odds_change", "active", 1.85),
        ("2", "odds_change", "active", 1.85),
        ("1", "odds_change", "suspended", 1.85),
        ("2", "odds_change", "suspended", 1.85),
        ("1", "bet_settlement", "settled", None),
        ("1", "odds_change", "settled", None),
        ("2", "odds_change", "active", 1.85),
        ("2", "odds_change", "active", 2.4),
    ]
    await eventually(seen, lambda rows: rows == expected)
    suspended = [row for row in await reader.rows() if row["status"] == "suspended"]
    assert {row["suspended_reason"] for row in suspended} == {REASON}
    assert len(await beta.rows()) == 9


async def test_a_market_never_offered_does_not_exist(
    client: httpx.AsyncClient, story: Story, basic: Headers, issue: IssueKey, store: Store, times: ManualClock
) -> None:
    match = await story.match(offer(1))
    await switch(store, False, now=times.now)
    times.now += 10_000
    await story.offer(match, offer(2))
    beta = Reader(client, match, {"X-API-Key": await issue("beta", bundles=("cs2.odds.basic",))})
    reader = Reader(client, match, basic)

    async def hidden() -> bool:
        return (await reader.answer(market=of_round(2))).status_code == 404

    await eventually(hidden)
    assert (await reader.answer(market=of_round(1))).status_code == 200
    assert (await beta.answer(market=of_round(2))).status_code == 200


async def test_probabilities_are_for_tenants_that_receive_them(reader: Reader, store: Store) -> None:
    assert not any("probability" in row for row in await reader.rows())
    async with store.transaction() as tx:
        await admin.set_probabilities(tx, "acme", True, by="test", now=1)

    async def shown() -> list[Row]:
        return [row for row in await reader.rows() if "probability" in row]

    rows = await eventually(shown, bool)
    assert {row["probability"] for row in rows} == {0.5}
    assert all("odds" in row for row in rows)


async def test_results_need_the_right_to_read_settlements(
    client: httpx.AsyncClient, match: Match, reader: Reader, issue: IssueKey
) -> None:
    prices = Reader(client, match, {"X-API-Key": await issue("beta", scopes=(scopes.MARKETS,))})
    everything = await reader.rows()
    assert await prices.rows(limit=2) == [row for row in everything if row["message"] == "odds_change"]
    assert not any({"outcome", "void_reason_id", "reason"} & row.keys() for row in await prices.rows())
    ledger = Reader(client, match, {"X-API-Key": await issue("gamma", scopes=(scopes.SETTLEMENTS,))})
    assert (await ledger.answer()).status_code == 403
    wanted = (scopes.READ, scopes.MARKETS)
    finished = Reader(client, match, {"X-API-Key": await issue("delta", scopes=wanted, finished_only=True)})
    assert (await finished.answer()).status_code == 404


async def test_bookings_change_nothing_as_for_the_match(reader: Reader, store: Store, match: Match) -> None:
    before = await reader.rows()
    await book(store, match, False)
    await book(store, match, True)
    assert await reader.rows() == before


async def test_what_was_pruned_is_named(
    client: httpx.AsyncClient,
    reader: Reader,
    story: Story,
    store: Store,
    match: Match,
    times: ManualClock,
    basic: Headers,
) -> None:
    """Of a match of which all was pruned, of one of which a part was, and of one that began later."""
    page = await reader.page()
    assert page["meta"]["complete_from"] == 0
    old = await story.match(offer(1))
    times.now += 1_000_000
    await story.offer(match, offer(40))
    later = await story.match(offer(1))
    async with store.transaction() as tx:
        assert await changes.prune(tx, times.now - 1) > 0
        oldest = await changes.oldest(tx)
    assert oldest > page["data"][-1]["seq"]
    for each, rows, complete_from in ((old, 0, oldest), (match, 1, oldest), (later, 1, 0)):
        found = await Reader(client, each, basic).page()
        assert (found["meta"]["count"], found["meta"]["complete_from"]) == (rows, complete_from)


async def test_a_wrong_parameter_is_named(reader: Reader) -> None:
    for query, name in [
        ({"market": "x"}, "market"),
        ({"market": ""}, "market"),
        ({"since_seq": "-1"}, "since_seq"),
        ({"since_seq": "soon"}, "since_seq"),
        ({"limit": "0"}, "limit"),
        ({"limit": "1001"}, "limit"),
        ({"since": "1"}, "since"),
    ]:
        answer = await reader.answer(**query)
        assert answer.status_code == 422 and [each["loc"] for each in answer.json()["detail"]] == [
            ["query", name]
        ], query


async def test_no_such_market_and_no_such_format(reader: Reader) -> None:
    for market in (of_round(99), "99999"):
        missing = await reader.answer(market=market)
        assert missing.status_code == 404 and market in missing.json()["detail"]
    refused = await reader.answer("text/html")
    assert refused.status_code == 406 and "text/csv" in refused.json()["detail"]
    assert (await reader.answer("text/csv;q=0.5, application/xml;q=0.6")).headers[
        "content-type"
    ] == "application/xml"


async def test_a_profile_makes_the_odds_from_its_place_on(
    client: httpx.AsyncClient, story: Story, basic: Headers, issue: IssueKey
) -> None:
    """Earlier odds stay as they were received, and other tenants have nothing of the switch."""
    other = {"X-API-Key": await issue("beta", bundles=("cs2.odds.basic",))}
    match = await story.match(offer(1))
    await give_profile(story.store, 0.25)
    await story.offer(match, offer(1, probability=0.4))
    await give_profile(story.store, None)
    for key, wanted in ((basic, [1.85, 1.6, 2.0, 1.85]), (other, [1.85, 1.85])):
        reader = Reader(client, match, key)

        async def odds(reader: Reader = reader) -> list[float]:
            return [row["odds"] for row in await reader.rows()]

        await eventually(odds, wanted.__eq__)
        lines = csv.DictReader(io.StringIO((await reader.answer("text/csv")).text, newline=""))
        assert [float(line["odds"]) for line in lines] == wanted


async def test_the_offer_of_the_moment_decides_whatever_was_known_of_the_tenant(
    store: Store, story: Story, match: Match, basic: Headers
) -> None:
    """A key is remembered for a second, and a file takes longer: what was published meanwhile must not be
    shown with the odds of before."""
    async with store.snapshot() as tx:
        known = await tenants.by_slug(tx, "acme")
        since = await changes.head(tx)
    await give_profile(store, 0.25)
    await story.offer(match, offer(3))
    async with store.snapshot() as tx:
        key = offer(3).key
        later = await market_history.following(tx, known, match.id, key, after=since, limit=10)
        newest = await market_history.newest(tx, known, match.id, key, limit=10)
    assert [one.what for one in later.changes] == [one.what for one in newest.changes]
    assert [getattr(one.what, "odds", None) for one in later.changes] == [Decimal("1.600")]
