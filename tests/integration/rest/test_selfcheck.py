"""A client's digest against what is on offer to it."""

from decimal import Decimal
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from app.domain import scopes
from app.domain.ids import match_urn
from app.domain.market import MarketStatus
from app.domain.match import Match, Status
from app.store import tenants
from app.store.connections import Store
from app.wire.views.selfcheck import MARKETS
from tests.support.story import Story, offer
from tests.support.web import IssueKey

Headers = dict[str, str]
SUSPENDED = MarketStatus.SUSPENDED


@pytest.fixture
def story(store: Store) -> Story:
    return Story(store)


@pytest.fixture
async def match(story: Story) -> Match:
    """A match with an active, a suspended and a settled market."""
    match = await story.match()
    await story.offer(match, offer(1), offer(2, status=SUSPENDED), offer(3))
    await story.settle(match, offer(3))
    return match


def held(match: Match, *markets: Any, **fields: Any) -> dict[str, Any]:
    return {"match": match_urn(match.number), "markets": list(markets), **fields}


def active(number: int, odds: float = 1.85) -> list[Any]:
    return [13, f"map=1|round={number}|team=home", 1, odds]


def suspended(number: int) -> list[Any]:
    return [13, f"map=1|round={number}|team=home", -1]


async def check(client: httpx.AsyncClient, headers: Headers, *matches: Any, **body: Any) -> Any:
    answer = await client.post("/cs2/v1/selfcheck", json={"matches": matches, **body}, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


def kinds(data: Any) -> dict[tuple[str, str], str]:
    return {(each["match"], each["specifiers"]): each["kind"] for each in data["differences"]}


async def test_an_equal_book_has_no_difference(
    client: httpx.AsyncClient, match: Match, basic: Headers
) -> None:
    for named in (match_urn(match.number), str(match.id)):
        mine = held(match, active(1), suspended(2)) | {"match": named}
        data = await check(client, basic, mine)
        assert data == {"matches": 1, "markets": 2, "count": 0, "kinds": {}, "differences": []}


async def test_each_difference_names_match_market_and_both_sides(
    client: httpx.AsyncClient, match: Match, basic: Headers
) -> None:
    data = await check(client, basic, held(match, active(1, 1.9), active(2), active(3)))
    urn, where = match_urn(match.number), "map=1|round={}|team=home".format
    assert data["count"] == 3
    assert data["kinds"] == {"wrong_price": 1, "stale": 1, "extra": 1}
    common = {"match": urn, "id": 13}
    assert sorted(data["differences"], key=lambda each: each["specifiers"]) == [
        common
        | {
            "kind": "wrong_price",
            "specifiers": where(1),
            "yours": {"status": 1, "odds": 1.9},
            "ours": {"status": 1, "odds": 1.85},
        },
        common
        | {
            "kind": "stale",
            "specifiers": where(2),
            "yours": {"status": 1, "odds": 1.85},
            "ours": {"status": -1, "odds": 1.85},
        },
        common | {"kind": "extra", "specifiers": where(3), "yours": {"status": 1, "odds": 1.85}},
    ]


async def test_what_a_complete_digest_leaves_out_is_missing(
    client: httpx.AsyncClient, match: Match, story: Story, basic: Headers
) -> None:
    other = await story.match()
    await story.offer(other, offer(1))
    whole = await check(client, basic, held(match, active(1), suspended(2)))
    assert kinds(whole) == {(match_urn(other.number), "map=1|round=1|team=home"): "missing"}
    part = await check(client, basic, held(match, active(1), suspended(2)), complete=False)
    assert (part["count"], part["matches"]) == (0, 1)
    assert (await check(client, basic))["kinds"] == {"missing": 3}


async def test_behind_says_that_more_has_been_told(
    client: httpx.AsyncClient, match: Match, story: Story, basic: Headers
) -> None:
    told = held(match, active(1), suspended(2), seq=10**6)
    await story.offer(match, replace(offer(1), odds=Decimal("1.91")))
    ahead = await check(client, basic, told)
    assert [each["behind"] for each in ahead["differences"]] == [False]
    late = await check(client, basic, told | {"seq": 1})
    assert [each["behind"] for each in late["differences"]] == [True]


async def test_only_what_is_the_tenants_own_counts(
    client: httpx.AsyncClient, match: Match, store: Store, basic: Headers, issue: IssueKey
) -> None:
    other = {"X-API-Key": await issue("beta", bundles=("cs2.odds.basic",))}
    async with store.transaction() as tx:
        await tenants.unbook(tx, (await tenants.by_slug(tx, "beta")).id, match.id)
    assert (await check(client, other))["count"] == 0
    data = await check(client, other, held(match, active(1)))
    assert data["kinds"] == {"extra": 1}
    assert "ours" not in data["differences"][0]
    assert (await check(client, basic))["kinds"] == {"missing": 2}


async def test_a_key_for_finished_matches_learns_nothing_of_others(
    client: httpx.AsyncClient, match: Match, story: Story, issue: IssueKey
) -> None:
    headers = {"X-API-Key": await issue(scopes=(scopes.MARKETS,), finished_only=True)}
    unknown = await story.match(Status.UPCOMING)
    data = await check(client, headers, held(match, active(1)), held(unknown, active(1)))
    assert (data["matches"], data["markets"], data["kinds"]) == (0, 0, {"extra": 2})


async def test_it_needs_the_scope_of_markets(client: httpx.AsyncClient, issue: IssueKey) -> None:
    headers = {"X-API-Key": await issue(bundles=("cs2.stats",))}
    answer = await client.post("/cs2/v1/selfcheck", json={"matches": []}, headers=headers)
    assert answer.status_code == 403
    assert scopes.MARKETS in answer.json()["detail"]


MATCH = "od:match:1"


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({}, ["matches"]),
        ({"matches": [], "also": 1}, ["also"]),
        ({"matches": [{"match": "7", "markets": []}]}, ["matches", 0, "match"]),
        ({"matches": [{"match": MATCH, "markets": []}] * 2}, ["matches", 1, "match"]),
        ({"matches": [{"match": MATCH, "markets": [[13, "", 1]]}]}, ["matches", 0, "markets", 0]),
        ({"matches": [{"match": MATCH, "markets": [[13, "", -1]] * 2}]}, ["matches", 0, "markets"]),
        ({"matches": [{"match": MATCH, "markets": [[13, "", -3, 1.5]]}]}, ["matches", 0, "markets", 0, 2]),
        ({"matches": [{"match": MATCH, "markets": [["?", "", 1, 1.5]]}]}, ["matches", 0, "markets", 0, 0]),
        (
            {"matches": [{"match": MATCH, "markets": [[1, str(n), -1] for n in range(MARKETS + 1)]}]},
            ["matches"],
        ),
    ],
)
async def test_what_does_not_fit_is_named(
    client: httpx.AsyncClient, basic: Headers, body: Any, where: list[Any]
) -> None:
    answer = await client.post("/cs2/v1/selfcheck", json=body, headers=basic)
    assert answer.status_code == 422, answer.text
    assert [each["loc"] for each in answer.json()["detail"]] == [["body", *where]]


async def test_one_match_under_both_names_is_refused(
    client: httpx.AsyncClient, match: Match, basic: Headers
) -> None:
    number, small, large = held(match, active(1))["match"], str(match.id), str(match.id).upper()
    for first, second in ((number, small), (number, large), (small, large)):
        both: list[Any] = [{"match": name, "markets": []} for name in (first, second)]
        answer = await client.post("/cs2/v1/selfcheck", json={"matches": both}, headers=basic)
        assert answer.status_code == 422, (first, second)
        assert answer.json()["detail"][0]["type"] == "twice"
