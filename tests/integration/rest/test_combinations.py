"""Combinations over REST: priced, stored, and settled by the ledger."""

import asyncio
from collections.abc import Sequence
from decimal import Decimal
from typing import Any
from uuid import uuid4

import httpx
import pytest

from app.access import admin
from app.domain.ids import match_urn
from app.domain.market import Market, MarketKey, Result, market_name
from app.domain.match import Match
from app.domain.settlement import VoidWindow
from app.kit.clock import system_clock
from app.kit.heavy_work import MOST_CALLS
from app.store import matches
from app.store.connections import Store
from tests.support import stored
from tests.support.heavy_work import occupied_thread
from tests.support.matches import create_match
from tests.support.story import Story
from tests.support.tenants import book, switch
from tests.support.web import Headers, IssueKey

PATH = "/cs2/v1/combinations"
HOME: MarketKey = (1, "team=home")
AWAY: MarketKey = (1, "team=away")
ROUNDS: MarketKey = (8, "map=1|threshold=21.5")
MAP_2: MarketKey = (6, "map=2|team=home")


@pytest.fixture
async def match(store: Store) -> Match:
    """A match before play, whose markets are on offer."""
    return await create_match(store, system_clock(), best_of=3, scheduled_at=system_clock() + 3_600_000)


def leg(match: Match, key: MarketKey, **fields: Any) -> dict[str, Any]:
    return {"match_id": str(match.id), "market_offer_id": market_name(*key), **fields}


async def post(client: httpx.AsyncClient, headers: Headers, *legs: Any, **fields: Any) -> httpx.Response:
    return await client.post(PATH, json={"legs": legs, **fields}, headers=headers)


async def made(client: httpx.AsyncClient, headers: Headers, match: Match, *keys: MarketKey) -> Any:
    answer = await post(client, headers, *[leg(match, key) for key in keys])
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]


async def problems(client: httpx.AsyncClient, headers: Headers, *legs: Any) -> dict[tuple[Any, ...], str]:
    """What is wrong, by place."""
    answer = await post(client, headers, *legs)
    assert answer.status_code == 422, answer.text
    return {tuple(each["loc"]): each["type"] for each in answer.json()["detail"]}


async def read(client: httpx.AsyncClient, headers: Headers, number: str) -> Any:
    answer = await client.get(f"{PATH}/{number}", headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


async def markets_of(store: Store, match: Match, *keys: MarketKey) -> Sequence[Market]:
    present = await stored.book(store, match)
    return [present[key] for key in keys]


async def test_legs_of_one_match_are_priced_by_one_state(
    client: httpx.AsyncClient, store: Store, basic: Headers, match: Match
) -> None:
    by_urn = {"match_urn": match_urn(match.number), "market_offer_id": market_name(*ROUNDS)}
    answer = await post(client, basic, leg(match, HOME), by_urn)
    assert answer.status_code == 201
    data = answer.json()["data"]
    home, rounds = await markets_of(store, match, HOME, ROUNDS)
    assert [one["odds"] for one in data["legs"]] == [float(home.odds), float(rounds.odds)]
    assert [one["market_offer_id"] for one in data["legs"]] == [market_name(*HOME), market_name(*ROUNDS)]
    assert (data["status"], data["settled_odds"], data["independent_matches"]) == (
        "open",
        data["odds"],
        False,
    )
    (of_match,) = data["matches"]
    assert of_match["seq"] == (await stored.present(store, match)).last_seq
    assert of_match["odds"] == data["odds"] > 1 and of_match["valid_until"] is None
    assert of_match["match_urn"] == match_urn(match.number)
    assert "probability" not in answer.text
    assert await read(client, basic, data["id"]) == data


async def test_probabilities_are_for_tenants_that_receive_them(
    client: httpx.AsyncClient, store: Store, issue: IssueKey, match: Match
) -> None:
    headers = {"X-API-Key": await issue(bundles=("cs2.odds.basic",))}
    async with store.transaction() as tx:
        await admin.set_probabilities(tx, "acme", True, by="test", now=1)
    data = await made(client, headers, match, HOME, ROUNDS)
    (home,) = await markets_of(store, match, HOME)
    assert data["legs"][0]["probability"] == pytest.approx(home.probability, abs=1e-6)
    assert 0 < data["probability"] < home.probability
    assert data["matches"][0]["probability"] == data["probability"]


async def test_matches_are_independent_of_each_other(
    client: httpx.AsyncClient, store: Store, basic: Headers, match: Match
) -> None:
    other = await create_match(store, system_clock(), best_of=3, home="Copper Herons", away="Night Ferry")
    answer = await post(client, basic, leg(match, HOME), leg(other, HOME), leg(match, ROUNDS))
    data = answer.json()["data"]
    assert data["independent_matches"] is True
    first, second = data["matches"]
    assert (first["match_id"], second["match_id"]) == (str(match.id), str(other.id))
    assert [one["match_id"] for one in data["legs"]] == [str(match.id), str(other.id), str(match.id)]
    exact = Decimal(str(first["odds"])) * Decimal(str(second["odds"]))
    assert 0 <= exact - Decimal(str(data["odds"])) < Decimal("0.001")


async def test_each_leg_that_cannot_be_part_is_named(
    client: httpx.AsyncClient, store: Store, basic: Headers, match: Match
) -> None:
    story = Story(store)
    (rounds,) = await markets_of(store, match, ROUNDS)
    await story.settle(match, rounds)
    nobody = leg(match, (1, "team=nobody"))
    assert await problems(client, basic, leg(match, HOME), nobody, leg(match, ROUNDS)) == {
        ("body", "legs", 1): "unknown_market",
        ("body", "legs", 2): "unknown_market",
    }
    twice = await problems(client, basic, leg(match, HOME), leg(match, HOME))
    assert set(twice.values()) == {"duplicate"}
    answer = await post(client, basic, leg(match, HOME), leg(match, AWAY))
    (problem, *_) = answer.json()["detail"]
    assert (answer.status_code, problem["type"]) == (422, "impossible")
    assert len(problem["ctx"]["with_legs"]) == 1 and problem["msg"]


async def test_a_match_that_takes_no_bets_is_refused(
    client: httpx.AsyncClient, store: Store, basic: Headers, match: Match
) -> None:
    both = leg(match, HOME), leg(match, ROUNDS)
    places = ("body", "legs", 0), ("body", "legs", 1)
    absent = {"match_id": str(uuid4()), "market_offer_id": "1:team=home"}
    assert await problems(client, basic, both[0], absent) == {places[1]: "unknown_match"}
    await book(store, match, False)
    assert await problems(client, basic, *both) == dict.fromkeys(places, "not_booked")
    await book(store, match, True)
    async with store.transaction() as tx:
        await tx.execute(
            "UPDATE match SET state = (state::jsonb || $1::jsonb)::json WHERE id = $2",
            '{"suspended": "the game server is silent"}',
            match.id,
        )
    assert await problems(client, basic, *both) == dict.fromkeys(places, "match_suspended")
    await Story(store).cancel(match)
    assert await problems(client, basic, *both) == dict.fromkeys(places, "match_over")


async def test_types_that_are_off_are_not_on_offer(
    client: httpx.AsyncClient, store: Store, basic: Headers, match: Match
) -> None:
    before = await made(client, basic, match, HOME, ROUNDS)
    await switch(store, False, ROUNDS[0], now=system_clock() + 1)
    async with asyncio.timeout(5):
        while (await post(client, basic, leg(match, HOME), leg(match, ROUNDS))).status_code == 201:
            await asyncio.sleep(0.02)
    found = await problems(client, basic, leg(match, HOME), leg(match, ROUNDS))
    assert found == {("body", "legs", 1): "not_on_offer"}
    assert (await read(client, basic, before["id"]))["status"] == "open"


async def test_bodies_are_checked(client: httpx.AsyncClient, basic: Headers, match: Match) -> None:
    one = leg(match, HOME)
    for legs in ([], [one], [one] * 11):
        assert (await client.post(PATH, json={"legs": legs}, headers=basic)).status_code == 422
    named_twice = one | {"match_urn": match_urn(match.number)}
    nameless = {"market_offer_id": "1:team=home"}
    found = await problems(client, basic, named_twice, nameless)
    assert found == {("body", "legs", 0): "match", ("body", "legs", 1): "match"}
    for wrong in ("1", "x:", ":team=home", "1:team=home "):
        answer = await post(client, basic, one, one | {"market_offer_id": wrong})
        assert answer.status_code == 422 and "market_offer_id" in answer.text
    assert (await client.post(PATH, content=b" " * 9_000, headers=basic)).status_code == 413


async def test_a_repeated_request_gets_the_combination_of_the_first(
    client: httpx.AsyncClient, store: Store, basic: Headers, issue: IssueKey, match: Match
) -> None:
    legs, named = [leg(match, HOME), leg(match, ROUNDS)], {"request_id": "bet-1"}
    answers = await asyncio.gather(*(post(client, basic, *legs, **named) for _ in range(4)))
    first, *others = [answer.json()["data"] for answer in answers]
    assert first["request_id"] == "bet-1" and all(other == first for other in others)
    refused = await post(client, basic, *reversed(legs), **named)
    assert refused.status_code == 409 and "bet-1" in refused.json()["detail"]
    other = {"X-API-Key": await issue("other", bundles=("cs2.odds.basic",))}
    assert (await post(client, other, *legs, **named)).json()["data"]["id"] != first["id"]
    async with store.autocommit() as tx:
        assert await tx.value("SELECT count(*) FROM combination") == 2
        assert await tx.value("SELECT count(*) FROM priced_state") == 1, "one state, stored once"


async def test_the_ledger_settles_a_combination(
    client: httpx.AsyncClient, store: Store, basic: Headers, match: Match
) -> None:
    story = Story(store)
    data = await made(client, basic, match, HOME, ROUNDS)
    home, rounds = await markets_of(store, match, HOME, ROUNDS)
    await story.settle(match, rounds)
    found = await read(client, basic, data["id"])
    assert (found["status"], [one["status"] for one in found["legs"]]) == ("open", ["open", "won"])
    await story.settle(match, home, result=Result.LOST)
    found = await read(client, basic, data["id"])
    assert found["status"] == "lost" and "settled_odds" not in found
    await story.take_back(match, home)
    assert (await read(client, basic, data["id"]))["status"] == "open"
    await story.settle(match, home)
    found = await read(client, basic, data["id"])
    assert (found["status"], found["settled_odds"]) == ("won", data["odds"])


async def test_a_void_leg_falls_out_and_the_price_is_made_again(
    client: httpx.AsyncClient, store: Store, basic: Headers, match: Match
) -> None:
    """By the stored state: the markets have moved since, and are not on offer any more."""
    story = Story(store)
    pair = await made(client, basic, match, HOME, ROUNDS)
    data = await made(client, basic, match, HOME, MAP_2, ROUNDS)
    home, map_2, rounds = await markets_of(store, match, HOME, MAP_2, ROUNDS)
    await story.void(match, map_2)
    await story.settle(match, home, rounds)
    found = await read(client, basic, data["id"])
    assert (found["status"], found["odds"], found["settled_odds"]) == ("won", data["odds"], pair["odds"])
    async with store.transaction() as tx:
        await tx.execute("DELETE FROM priced_state")
    assert await read(client, basic, data["id"]) == found, "the price that was made again is stored"
    await story.take_back(match, home)
    await story.void(match, home)
    await story.take_back(match, rounds)
    await story.void(match, rounds)
    found = await read(client, basic, data["id"])
    assert (found["status"], found["settled_odds"]) == ("void", 1)


async def test_one_leg_that_is_left_is_paid_at_its_own_odds_and_another_match_at_its(
    client: httpx.AsyncClient, store: Store, basic: Headers, match: Match
) -> None:
    story = Story(store)
    other = await create_match(store, system_clock(), best_of=3, home="Copper Herons", away="Night Ferry")
    answer = await post(client, basic, leg(match, HOME), leg(match, ROUNDS), leg(other, HOME))
    data = answer.json()["data"]
    home, rounds = await markets_of(store, match, HOME, ROUNDS)
    await story.void_bets(match, VoidWindow(0, 2**53), rounds)
    found = await read(client, basic, data["id"])
    assert [one["status"] for one in found["legs"]] == ["open", "void", "open"]
    exact = home.odds * Decimal(str(data["matches"][1]["odds"]))
    assert 0 <= exact - Decimal(str(found["settled_odds"])) < Decimal("0.001")
    await story.void_bets(match, VoidWindow(0, 2**53), rounds, rolled_back=True)
    assert (await read(client, basic, data["id"]))["settled_odds"] == data["odds"]


async def test_a_tenant_sees_its_own_only(
    client: httpx.AsyncClient, basic: Headers, issue: IssueKey, match: Match
) -> None:
    data = await made(client, basic, match, HOME, ROUNDS)
    path = f"{PATH}/{data['id']}"
    other = {"X-API-Key": await issue("other", bundles=("cs2.odds.basic",))}
    finished = {"X-API-Key": await issue(scopes=("cs2:markets:read",), finished_only=True)}
    for headers in (other, finished):
        assert (await client.get(path, headers=headers)).status_code == 404
        assert (await client.get(PATH, headers=headers)).json()["data"] == []
    assert set((await problems(client, finished, leg(match, HOME), leg(match, ROUNDS))).values()) == {
        "unknown_match"
    }
    assert (await client.get(f"{PATH}/{uuid4()}", headers=basic)).status_code == 404
    assert (await client.get(f"{PATH}/7", headers=basic)).status_code == 404


async def test_pages_are_the_whole_list_in_parts(
    client: httpx.AsyncClient, basic: Headers, match: Match
) -> None:
    created = [(await made(client, basic, match, HOME, key))["id"] for key in (ROUNDS, MAP_2, ROUNDS)]
    whole = (await client.get(PATH, headers=basic)).json()
    listed = [(one["created_at"], one["id"]) for one in whole["data"]]
    assert {number for _, number in listed} == set(created) and listed == sorted(listed)
    found: list[str] = []
    query: dict[str, Any] = {"limit": 2}
    while True:
        page = (await client.get(PATH, headers=basic, params=query)).json()
        found += [one["id"] for one in page["data"]]
        if "next_cursor" not in page["meta"]:
            break
        query["cursor"] = page["meta"]["next_cursor"]
    assert found == [number for _, number in listed]
    late = await client.get(PATH, headers=basic, params={"since": "2039-01-01T00:00:00Z"})
    assert late.json()["data"] == []


async def test_they_are_deleted_with_the_first_of_their_matches(
    client: httpx.AsyncClient, store: Store, basic: Headers, match: Match
) -> None:
    other = await create_match(store, system_clock(), best_of=3, home="Copper Herons", away="Night Ferry")
    answer = await post(client, basic, leg(match, HOME), leg(other, HOME))
    lasting = await made(client, basic, other, HOME, ROUNDS)
    story = Story(store)
    await story.finish(match)
    await story.announce()
    async with store.transaction() as tx:
        assert await matches.trim(tx, system_clock() + 1) == [match.id]
    gone = answer.json()["data"]["id"]
    assert (await client.get(f"{PATH}/{gone}", headers=basic)).status_code == 404
    assert (await read(client, basic, lasting["id"]))["status"] == "open"
    async with store.autocommit() as tx:
        assert await tx.value("SELECT count(*) FROM priced_state WHERE match_id = $1", match.id) == 0


async def test_of_many_requests_at_once_some_wait_and_the_others_are_refused(
    client: httpx.AsyncClient, basic: Headers, issue: IssueKey, match: Match
) -> None:
    other = {"X-API-Key": await issue("other", bundles=("cs2.odds.basic",))}
    legs = [leg(match, HOME), leg(match, ROUNDS)]
    async with asyncio.timeout(60), asyncio.TaskGroup() as group, occupied_thread():
        sent = [group.create_task(post(client, basic, *legs)) for _ in range(MOST_CALLS + 4)]
        ended = asyncio.as_completed(sent)
        refused = [await next(ended) for _ in range(3)]
        others = group.create_task(post(client, other, *legs))
    assert {(one.status_code, one.headers["Retry-After"]) for one in refused} == {(429, "1")}
    assert [one.result().status_code for one in sent].count(201) == MOST_CALLS + 1
    assert others.result().status_code == 201
