"""The settlement ledger in the portal: what it shows to whom, its evidence, its filter, its file."""

import csv
import io
import re
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from app.domain import changes as c
from app.domain.ids import match_urn
from app.domain.match import Match, MatchPlayer, Round, TimelineEvent
from app.domain.settlement import LedgerEntry, LedgerStatus, VoidWindow
from app.domain.tenant import Role
from app.store.connections import Store
from tests.integration.sites.portal.conftest import SignIn
from tests.support import stored
from tests.support.portal import SCRIPT, Person, found_in
from tests.support.story import Story, offer
from tests.support.tenants import book, give_vhost, switch
from tests.support.web import IssueKey

FORMULA = '=HYPERLINK("http://example.test")'
KILL = TimelineEvent(
    *(1, "kill", 1, 3, 5_000, 34_000),
    MatchPlayer(1, SCRIPT),
    "home",
    "CT",
    MatchPlayer(2, "bob"),
    "away",
    "T",
    weapon="ak47",
)
PLAYED = Round(2, 1, 3, "home", "CT", "kills", 2, 1, 1, 9_000, events=(1,))


@pytest.fixture
async def person(sign_in: SignIn, issue: IssueKey) -> Person:
    await issue(bundles=("cs2.odds.basic",))
    return await sign_in(Role.READER)


async def settled(story: Story, rounds: int = 1) -> Match:
    """A match with that many settled markets."""
    offers = [offer(number) for number in range(1, rounds + 1)]
    match = await story.match(*offers)
    await story.settle(match, *offers)
    return match


def entry(**fields: Any) -> LedgerEntry:
    pending, done = LedgerStatus.PENDING, LedgerStatus.SETTLED
    return replace(LedgerEntry(*offer(3).key, pending, done, None, "by the test"), **fields)


def ids(page: httpx.Response) -> list[int]:
    """The entries of a list, as it shows them."""
    return [
        int(each) for each in re.findall(r'<th scope="row"><a href="/portal/settlements/(\d+)"', page.text)
    ]


async def test_every_page_is_newest_first_and_none_is_shown_twice(person: Person, story: Story) -> None:
    await settled(story, 60)
    first = await person.get("/portal/settlements")
    assert len(ids(first)) == 50
    older = found_in(first.text, r'href="(/portal/settlements\?before=\d+)"')
    everything = ids(first) + ids(await person.get(older))
    assert len(set(everything)) == 60 and everything == sorted(everything, reverse=True)


async def test_a_rollback_and_what_it_withdraws_lead_to_each_other(person: Person, story: Story) -> None:
    match = await settled(story)
    await story.take_back(match, offer(1))
    await story.settle(match, offer(1))
    again, rollback, first = ids(await person.get("/portal/settlements"))
    page = await person.get(f"/portal/settlements/{first}")
    assert f"rolled back by {rollback}" in page.text
    assert f"withdraws {first}" in (await person.get(f"/portal/settlements/{rollback}")).text
    assert "rolled back by" not in (await person.get(f"/portal/settlements/{again}")).text
    listed = await person.get("/portal/settlements?result=rolled_back")
    assert ids(listed) == [rollback]


async def test_a_window_of_bets_is_rolled_back_by_its_own_entry(person: Person, story: Story) -> None:
    match = await settled(story)
    (settlement,) = ids(await person.get("/portal/settlements"))
    window = VoidWindow(1_000, 2_000)
    await story.void_bets(match, window, offer(1))
    await story.void_bets(match, window, offer(1), rolled_back=True)
    restored, voided, _ = ids(await person.get("/portal/settlements"))
    assert f"rolled back by {restored}" in (await person.get(f"/portal/settlements/{voided}")).text
    assert "rolled back by" not in (await person.get(f"/portal/settlements/{settlement}")).text
    assert ids(await person.get("/portal/settlements?result=void")) == [voided]
    assert ids(await person.get("/portal/settlements?result=rolled_back")) == [restored]
    assert ids(await person.get("/portal/settlements?result=won")) == [settlement]


async def test_the_evidence_is_the_kills_and_rounds_named_by_the_entry(person: Person, story: Story) -> None:
    match = await story.match()
    other = replace(KILL, id=7, actor=MatchPlayer(9, "not-this-one"))
    happened = [c.EventAdded(event=KILL), c.EventAdded(event=other), c.RoundFinished(round=PLAYED)]
    await story.happen(match, *happened)
    await story.record(match, offer(3), entry(rests_on=(1, 2, 99)))
    (own,) = ids(await person.get("/portal/settlements"))
    page = (await person.get(f"/portal/settlements/{own}")).text
    assert "Map 1, round 3" in page and "0:34" in page and "ak47" in page and "2:1" in page
    assert SCRIPT not in page and "&lt;script&gt;" in page
    assert "not-this-one" not in page
    assert "not stored any more: 99" in page


async def test_void_reasons_are_words_in_the_language_of_the_page(person: Person, story: Story) -> None:
    match = await story.match()
    voided = entry(new_status=LedgerStatus.VOIDED, void_reason_id=14, settled_by="admin")
    await story.record(match, offer(3), voided)
    english = (await person.get("/portal/settlements", headers={"Accept-Language": "en"})).text
    russian = (await person.get("/portal/settlements", headers={"Accept-Language": "ru"})).text
    assert "no answer" in english and "operator" in english
    assert "исход определить невозможно" in russian and "Northwind" in russian


async def test_the_filter_selects_by_match_type_result_and_time(person: Person, story: Story) -> None:
    one, two = await settled(story), await settled(story)
    about: dict[str, Any] = {"type_id": 1, "specifiers": "team=home"}
    await story.record(two, offer(3, **about), entry(**about))
    everything = ids(await person.get("/portal/settlements"))
    assert len(everything) == 3
    for match, count in ((one, 1), (two, 2)):
        for ref in (match_urn(match.number), str(match.id)):
            assert len(ids(await person.get(f"/portal/settlements?match={ref}"))) == count
    assert ids(await person.get("/portal/settlements?type=1")) == everything[:1]
    assert ids(await person.get("/portal/settlements?result=won")) == everything[1:]
    assert ids(await person.get("/portal/settlements?since=2001-01-01T00:00")) == everything
    assert ids(await person.get("/portal/settlements?until=2001-01-01T00:00")) == []


async def test_a_wrong_filter_is_refused_with_a_sentence(person: Person) -> None:
    for query, status in [
        ("type=x", 422),
        ("type=99999999999999999999999", 422),
        ("result=maybe", 422),
        ("since=yesterday", 422),
        ("match=4", 422),
        ("match=od:match:404", 404),
        ("before=0", 422),
        ("page=2", 422),
    ]:
        page = await person.get(f"/portal/settlements?{query}")
        assert page.status_code == status and 'role="alert"' in page.text, query


async def test_a_tenant_sees_no_more_than_its_keys(
    sign_in: SignIn, issue: IssueKey, story: Story, store: Store
) -> None:
    """No key with the scope: nothing. Finished-only keys: finished matches."""
    live, over = await settled(story), await settled(story)
    await story.finish(over)
    await issue("stats", bundles=("cs2.stats",))
    stats = await sign_in(Role.OWNER, "stats")
    for path in ("/portal/settlements", "/portal/settlements.csv", "/portal/settlements/1"):
        assert (await stats.get(path)).status_code == 403, path
    await issue("past", scopes=("cs2:markets:settlements",), finished_only=True)
    past = await sign_in(Role.OWNER, "past")
    page = await past.get("/portal/settlements")
    assert match_urn(over.number) in page.text and match_urn(live.number) not in page.text
    assert (await past.get(f"/portal/settlements?match={live.id}")).status_code == 404
    hidden = await ledger_id(store, live)
    assert (await past.get(f"/portal/settlements/{hidden}")).status_code == 404
    assert match_urn(live.number) not in (await past.get("/portal/settlements.csv")).text


async def test_a_tenant_with_a_vhost_alone_sees_what_it_has_booked(
    sign_in: SignIn, story: Story, store: Store
) -> None:
    person = await sign_in()
    mine, given_back = await settled(story), await settled(story)
    await give_vhost(store)
    await book(store, given_back, False, now=1)
    page = await person.get("/portal/settlements")
    assert match_urn(mine.number) in page.text and match_urn(given_back.number) not in page.text
    hidden = await ledger_id(store, given_back)
    assert (await person.get(f"/portal/settlements/{hidden}")).status_code == 404
    assert (await person.get(f"/portal/settlements?match={given_back.id}")).status_code == 404


async def ledger_id(store: Store, match: Match) -> int:
    return (await stored.ledger(store, match))[0].id


async def test_the_file_has_every_entry_of_the_filter_and_nothing_that_a_spreadsheet_evaluates(
    person: Person, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.sites.portal.settlements._FILE_ROWS", 7)
    match = await settled(story, 30)
    await settled(story)
    await story.happen(match, home=FORMULA)
    response = await person.get(f"/portal/settlements.csv?match={match_urn(match.number)}")
    assert response.headers["content-type"].startswith("text/csv; charset=utf-8")
    assert "attachment" in response.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(response.text)))
    listed = [int(row["id"]) for row in rows]
    assert len(set(listed)) == 30 and listed == sorted(listed, reverse=True)
    assert {row["match_name"] for row in rows} == {f"'{FORMULA} – Harbour"}
    assert {row["result"] for row in rows} == {"won"}
    for row in rows:
        assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in row.values())


async def test_names_are_text(person: Person, story: Story) -> None:
    await story.happen(await settled(story), home=SCRIPT)
    page = await person.get("/portal/settlements")
    assert SCRIPT not in page.text and "&lt;script&gt;" in page.text


async def test_settlements_of_markets_never_offered_are_on_no_page_and_in_no_file(
    person: Person, story: Story, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page is full without them, and says that it is the last one when it is."""
    monkeypatch.setattr("app.sites.portal.settlements._ROWS", 2)
    offered, later = [offer(number) for number in (1, 2, 3)], [offer(number) for number in (4, 5, 6)]
    match = await story.match(*offered)
    await switch(store, False)
    await story.offer(match, *later)
    for one, other in zip(offered, later, strict=True):
        await story.settle(match, one)
        await story.settle(match, other)
    entries = await stored.ledger(store, match)
    known = {each.key for each in offered}
    published = [each.id for each in reversed(entries) if each.key in known]
    first = await person.get("/portal/settlements?type=13")
    assert ids(first) == published[:2]
    last = await person.get(found_in(first.text, r'href="(/portal/settlements\?[^"]*before=\d+)"'))
    assert ids(last) == published[2:] and "before=" not in last.text
    file = await person.get("/portal/settlements.csv")
    assert [int(row["id"]) for row in csv.DictReader(io.StringIO(file.text))] == published
    for each in entries:
        found = await person.get(f"/portal/settlements/{each.id}")
        assert found.status_code == (200 if each.id in published else 404), each.key


async def test_a_market_that_was_offered_late_shows_what_it_rolls_back_only_if_that_was_published(
    person: Person, story: Story, store: Store
) -> None:
    match = await story.match()
    await switch(store, False)
    await story.offer(match, offer(1))
    await story.settle(match, offer(1))
    await switch(store, True)
    await story.take_back(match, offer(1))
    (rollback,) = ids(await person.get("/portal/settlements"))
    page = await person.get(f"/portal/settlements/{rollback}")
    unpublished = await ledger_id(store, match)
    assert page.status_code == 200 and str(rollback) in page.text
    assert f"/portal/settlements/{unpublished}" not in page.text
