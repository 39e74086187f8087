"""The self-check in the portal: a book, uploaded or pasted, and what its differences mean."""

import json
import re
from typing import Any

import httpx
import pytest

from app.access.selfcheck import BODY_BYTES
from app.domain.ids import match_urn
from app.domain.market import MarketStatus
from app.domain.match import Match
from app.domain.tenant import Role
from tests.integration.sites.portal.conftest import SignIn
from tests.support.portal import SCRIPT, Person
from tests.support.statements import recorded_statements
from tests.support.story import Story, offer
from tests.support.tenants import book
from tests.support.web import IssueKey

PATH = "/portal/selfcheck"


@pytest.fixture
async def person(sign_in: SignIn, issue: IssueKey) -> Person:
    await issue(bundles=("cs2.odds.basic",))
    person = await sign_in(Role.TRADER)
    await person.get(PATH)
    return person


@pytest.fixture
async def match(story: Story) -> Match:
    """A match with two active markets and a suspended one."""
    return await story.match(offer(1), offer(2), offer(3, status=MarketStatus.SUSPENDED))


def market(number: int, status: int = 1, odds: float | None = 1.85) -> list[Any]:
    return [13, f"map=1|round={number}|team=home", status, odds]


async def check(person: Person, *matches: Any, **body: Any) -> httpx.Response:
    document = json.dumps({"matches": matches, **body})
    return await person.post(PATH, {"file": ("book.json", document, "application/json")})


async def test_our_own_book_equals_ours(person: Person, match: Match, story: Story) -> None:
    given_back = await story.match(offer(1))
    await book(story.store, given_back, False, now=1)
    example = await person.get("/portal/selfcheck.json")
    assert "attachment" in example.headers["content-disposition"]
    (own,) = example.json()["matches"]
    assert own["match"] == match_urn(match.number) and len(own["markets"]) == 3
    uploaded = await person.post(PATH, {"file": ("book.json", example.content, "application/json")})
    pasted = await person.post(PATH, {"file": ("", b"")}, digest=example.text)
    for page in (uploaded, pasted):
        assert page.status_code == 200 and "Both books are equal" in page.text


async def test_each_kind_is_counted_explained_and_listed(person: Person, match: Match) -> None:
    urn = match_urn(match.number)
    unknown = {"match": "od:match:999", "markets": [[13, SCRIPT, 1, 2.5]]}
    own = {"match": urn, "seq": 10**9, "markets": [market(1, 1, 1.9), market(3), market(8)]}
    page = await check(person, own, unknown)
    rows = dict(re.findall(r'<th scope="row">([a-z ]+)</th><td class="number">(\d+)</td>', page.text))
    assert rows == {"missing": "1", "extra": "2", "stale": "1", "wrong price": "1"}
    assert f"/portal/recoveries?match={urn.replace(':', '%3A')}" in page.text
    assert "Your seq is current" in page.text and "no such match open" in page.text
    assert SCRIPT not in page.text and "&lt;script&gt;" in page.text


async def test_a_seq_that_is_behind_is_said_to_be(person: Person, match: Match) -> None:
    own = {"match": match_urn(match.number), "markets": [market(1, 1, 1.9)]}
    assert "Your seq is behind" in (await check(person, own | {"seq": 0})).text
    assert "has no seq" in (await check(person, own)).text


async def test_what_cannot_be_read_is_named_with_its_place(person: Person, match: Match) -> None:
    urn = match_urn(match.number)
    twice = {"match": urn, "markets": []}
    wrong = {
        '{"matches": [\n  {"match": }\n]}': "Line 2, column 13",
        '{"matches": [{"match": "od:match:1", "markets": [["x", "", 1]]}]}': "$.matches[0].markets[0][0]",
        '{"matches": [{"match": "4", "markets": []}]}': "At matches[0].match",
        json.dumps({"matches": [twice, twice]}): "At matches[1].match",
        json.dumps({"matches": [{"match": urn, "markets": [[13, "a", 1]]}]}): "matches[0].markets[0]",
        "[" * 100_000: "This is no digest",
        "": "Choose a file",
        "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"): "Line 1, column 1",
    }
    for document, sentence in wrong.items():
        page = await person.post(PATH, {"file": ("", b"")}, digest=document)
        assert page.status_code == 422 and sentence in page.text, (document[:50], page.text[-3000:])
    broken = await person.post(PATH, {"file": ("book.json", b'{"matches": ["\xff"]}')})
    assert broken.status_code == 422 and 'role="alert"' in broken.text


async def test_the_limit_is_that_of_the_api(person: Person) -> None:
    book = b'{"matches":[]}'
    most = await person.post(PATH, {"file": ("book.json", book + b" " * (BODY_BYTES - len(book)))})
    assert most.status_code == 200
    more = await person.post(PATH, {"file": ("book.json", book + b" " * (BODY_BYTES + 1))})
    assert more.status_code == 422 and "larger than 2.5 MB" in more.text
    far_more = await person.post(PATH, {"file": ("book.json", b" " * (BODY_BYTES + 100_000))})
    assert far_more.status_code == 413 and "too large" in far_more.text


async def test_a_large_difference_is_cut_and_read_with_few_statements(
    person: Person, match: Match, story: Story
) -> None:
    counts = []
    for rounds in (5, 300):
        await story.match(*[offer(number) for number in range(1, rounds)])
        with recorded_statements() as statements:
            page = await check(person)
        counts.append(len(statements))
    assert counts[0] == counts[1]
    assert "200 of 306 are listed" in page.text and len(page.content) < 60_000


async def test_only_keys_that_read_markets_open_the_self_check(sign_in: SignIn, issue: IssueKey) -> None:
    await issue("stats", bundles=("cs2.stats",))
    person = await sign_in(Role.OWNER, "stats")
    await person.get(PATH)
    assert (await check(person)).status_code == 403
    assert (await person.get("/portal/selfcheck.json")).status_code == 403
