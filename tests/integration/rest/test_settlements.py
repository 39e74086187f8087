"""The settlement ledger of all matches: a client that follows it misses nothing and sees nothing twice."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from app.domain import scopes
from app.domain.match import Match
from app.domain.settlement import LedgerEntry, LedgerStatus, VoidWindow
from app.store import changes, matches
from app.store.changes import ChangeDraft
from app.store.connections import Store
from app.store.transaction import Tx
from tests.support.databases import waiting
from tests.support.eventually import eventually
from tests.support.story import Story, offer
from tests.support.web import IssueKey

Read = Callable[..., Awaitable[list[dict[str, Any]]]]


@pytest.fixture
def read(client: httpx.AsyncClient, basic: dict[str, str]) -> Read:
    """Entries after an id, with a bookmaker's key or another."""

    async def fetch(
        since: int = 0, limit: int = 200, headers: dict[str, str] = basic
    ) -> list[dict[str, Any]]:
        query = {"since_id": since, "limit": limit}
        answer = await client.get("/cs2/v1/settlements", params=query, headers=headers)
        assert answer.status_code == 200, answer.text
        assert answer.json()["meta"] == {"count": len(answer.json()["data"]), "limit": limit}
        return list(answer.json()["data"])

    return fetch


async def settled(story: Story, match: Match, *rounds: int) -> None:
    offers = [offer(number) for number in rounds]
    await story.offer(match, *offers)
    await story.settle(match, *offers)


async def followed(read: Read, limit: int) -> list[dict[str, Any]]:
    """Everything, page by page."""
    found: list[dict[str, Any]] = []
    while page := await read(found[-1]["id"] if found else 0, limit):
        found += page
    return found


async def test_pages_show_every_entry_once_in_order(story: Story, read: Read) -> None:
    one, other = await story.match(), await story.match()
    await settled(story, one, 1, 2, 3)
    await settled(story, other, 1, 2)
    await story.take_back(one, offer(2))
    await story.offer(other, offer(3))
    await story.void(other, offer(3))
    whole = await read()
    assert len(whole) == 7 and {entry["match_id"] for entry in whole} == {str(one.id), str(other.id)}
    ids = [entry["id"] for entry in whole]
    assert ids == sorted(set(ids))
    for limit in (1, 2, 3, 7):
        assert await followed(read, limit) == whole
    moves = [(entry["previous_status"], entry["new_status"], entry["outcome"]) for entry in whole[-2:]]
    assert moves == [("settled", "pending", None), ("pending", "voided", "void")]


async def test_pages_of_a_match_show_every_entry_once_in_order(
    story: Story, read: Read, client: httpx.AsyncClient, basic: dict[str, str]
) -> None:
    one, other = await story.match(), await story.match()
    for number in range(1, 4):
        await settled(story, one, number, number + 10)
        await settled(story, other, number)
    await story.take_back(one, offer(2))
    whole = [entry for entry in await read() if entry["match_id"] == str(one.id)]
    assert len(whole) == 7
    path = f"/cs2/v1/matches/{one.id}/settlements"
    for limit in (1, 2, 6, 7, 1000):
        found, query = [], {"limit": str(limit)}
        while query:
            page = (await client.get(path, params=query, headers=basic)).json()
            assert 0 < len(page["data"]) == page["meta"]["count"] <= limit and page["meta"]["total"] == 7
            found += page["data"]
            following = page["meta"].get("next_cursor")
            query = {"limit": str(limit), "cursor": following} if following else {}
        assert found == whole, limit


async def test_a_cursor_of_a_match_stays_where_it_was(
    story: Story, client: httpx.AsyncClient, basic: dict[str, str]
) -> None:
    """Whatever is settled meanwhile comes after it; beyond the last entry there is none."""
    match = await story.match()
    path = f"/cs2/v1/matches/{match.id}/settlements"
    await settled(story, match, 1, 2)
    first = (await client.get(path, params={"limit": 1}, headers=basic)).json()
    await settled(story, match, 3)
    query = {"limit": 2, "cursor": first["meta"]["next_cursor"]}
    rest = await client.get(path, params=query, headers=basic)
    rounds = [entry["specifiers"] for entry in first["data"] + rest.json()["data"]]
    assert rounds == [offer(number).specifiers for number in (1, 2, 3)]
    assert rest.json()["meta"] == {"count": 2, "limit": 2, "total": 3}
    xml = await client.get(path, params={"limit": 1}, headers=basic | {"Accept": "application/xml"})
    assert f'next_cursor="{first["meta"]["next_cursor"]}"' in xml.text
    beyond = await client.get(path, params={"cursor": 2**63 - 1}, headers=basic)
    assert beyond.json() == {"data": [], "meta": {"count": 0, "limit": 200, "total": 3}}
    for wrong in ("-1", "x", "1" * 20, ""):
        refused = await client.get(path, params={"cursor": wrong}, headers=basic)
        assert [each["loc"] for each in refused.json()["detail"]] == [["query", "cursor"]], wrong


async def test_void_bets_leave_a_market_what_it_is(
    story: Story, read: Read, client: httpx.AsyncClient, basic: dict[str, str]
) -> None:
    """The last entry of a market is what holds, whether or not its windows are looked at."""
    match, window = await story.match(), VoidWindow(5, 9)
    await settled(story, match, 1)
    await story.void_bets(match, window, offer(1))
    await story.void_bets(match, window, offer(1), rolled_back=True)
    plain, void, back = await read()
    for entry in (void, back):
        assert (entry["previous_status"], entry["new_status"]) == (plain["new_status"],) * 2
        assert entry["outcome"] == plain["outcome"] == "won"
    assert "void_window" not in plain
    assert void["void_window"] == {"start_time": 5, "end_time": 9, "rolled_back": False}
    assert back["void_window"] == {"start_time": 5, "end_time": 9, "rolled_back": True}
    path = f"/cs2/v1/matches/{match.id}/settlements"
    assert (await client.get(path, headers=basic)).json()["data"] == [plain, void, back]
    xml = (await client.get(path, headers=basic | {"Accept": "application/xml"})).text
    assert '<void_window start_time="5" end_time="9" rolled_back="false"/>' in xml


async def append_entry(tx: Tx, match: Match) -> int:
    """Write one settlement in this transaction; the entry's id."""
    states = LedgerStatus.PENDING, LedgerStatus.SETTLED
    entry = LedgerEntry(13, "map=1|round=1|team=home", *states, None, "appended by the test")
    draft = ChangeDraft("settlement", "13/", "bet_settlement", entry.message, entry=entry)
    return (await changes.append(tx, await matches.lock(tx, match.id), [draft], 1)).last_seq


async def test_a_late_commit_is_not_passed_by(store: Store, story: Story, read: Read) -> None:
    """The second transaction cannot take its number before the first is visible: so nobody can read a
    higher number while a lower one is still to come."""
    slow, quick = await story.match(), await story.match()
    done: list[int] = []

    async def second() -> None:
        async with store.transaction() as tx:
            done.append(await append_entry(tx, quick))

    async with store.transaction() as tx:
        first = await append_entry(tx, slow)
        running = asyncio.create_task(second())
        await eventually(lambda: waiting(store))
        assert (done, await read()) == ([], [])
    await running
    assert first < done[0]
    assert [entry["id"] for entry in await followed(read, 1)] == [first, done[0]]


async def test_keys_for_finished_matches_see_theirs_and_miss_none(
    story: Story, read: Read, issue: IssueKey
) -> None:
    raw = await issue("late", scopes=(scopes.SETTLEMENTS,), finished_only=True)
    headers = {"X-API-Key": raw}
    early, other, off = await story.match(), await story.match(), await story.match()
    await settled(story, off, 1)
    await settled(story, early, 1)
    await story.finish(early)
    await settled(story, other, 1)
    await settled(story, early, 2)
    assert await read(headers=headers) == []
    await story.cancel(off)
    (first,) = await read(headers=headers)
    assert first["match_id"] == str(early.id)
    assert await read(first["id"], headers=headers) == []
    await story.finish(other)
    rest = await read(first["id"], headers=headers)
    assert [entry["match_id"] for entry in rest] == [str(other.id), str(early.id)]
    whole = await read()
    assert [entry for entry in whole if entry["match_id"] != str(off.id)] == [first, *rest]


async def test_what_does_not_fit_is_refused(client: httpx.AsyncClient, basic: dict[str, str]) -> None:
    for query in ["since_id=-1", "since_id=x", f"since_id={2**63}", "limit=0", "limit=201", "x=1"]:
        answer = await client.get(f"/cs2/v1/settlements?{query}", headers=basic)
        assert answer.status_code == 422, query
        assert answer.json()["detail"][0]["loc"] == ["query", query.split("=")[0]], query


async def test_the_largest_id_has_none_after_it(read: Read) -> None:
    assert await read(2**63 - 1) == []
