"""Combinations as clients of the established layout request them."""

from collections.abc import Iterable
from typing import Any

import httpx
import pytest

from app.domain.ids import match_urn
from app.domain.market import MarketKey, market_name
from app.domain.match import Match
from app.kit.clock import system_clock
from app.settings import Settings
from app.store.connections import Store
from tests.support import stored
from tests.support.facade import SDK, document, with_sdk_address
from tests.support.matches import create_match
from tests.support.tenants import book
from tests.support.web import Headers, IssueKey, serving

HOME: MarketKey = (1, "team=home")
AWAY: MarketKey = (1, "team=away")
ROUNDS: MarketKey = (8, "map=1|threshold=21.5")
CALCULATE, FILTER = "/v1/custombet/calculate", "/v1/custombet/calculate-filter"


@pytest.fixture
async def match(store: Store) -> Match:
    """A match before play, whose markets are on offer."""
    return await create_match(store, system_clock(), best_of=3, scheduled_at=system_clock() + 3_600_000)


def selections(match: Match, *keys: MarketKey) -> str:
    """A request of these markets."""
    name = match_urn(match.number)
    listed = "".join(
        f'<selection id="{name}" market_id="{type_id}" specifiers="{specifiers}" outcome_id="1"/>'
        for type_id, specifiers in keys
    )
    return f"<selections>{listed}</selections>"


async def post(client: httpx.AsyncClient, path: str, headers: Headers, body: str) -> httpx.Response:
    return await client.post(path, content=body, headers=headers | {"Content-Type": "application/xml"})


def listed(event: Any) -> set[MarketKey]:
    """The markets of an event of a response."""
    assert all([outcome.get("id") for outcome in market] == ["1"] for market in event.iter("market"))
    return {(int(market.get("id")), market.get("specifiers", "")) for market in event.iter("market")}


def named(fields: Iterable[dict[str, Any]]) -> dict[tuple[Any, ...], str]:
    return {tuple(field["loc"]): field["type"] for field in fields}


async def test_what_can_be_selected_of_a_match(
    client: httpx.AsyncClient, store: Store, basic: Headers, match: Match
) -> None:
    name = match_urn(match.number)
    path = f"/v1/custombet/{name}/available_selections"
    (event,) = document(await client.get(path, headers=basic), "available_selections")
    assert event.get("id") == name and {HOME, ROUNDS} <= listed(event)
    assert listed(event) <= {market.key for market in await stored.active(store, match)}
    await book(store, match, False)
    unknown = await client.get(f"{path}?again=1", headers=basic)
    (event,) = document(unknown, "available_selections")
    assert event.get("id") == name and listed(event) == set()


async def test_a_calculation_is_the_price_of_a_stored_combination(
    client: httpx.AsyncClient, basic: Headers, match: Match
) -> None:
    answer = await post(client, CALCULATE, basic, selections(match, HOME, ROUNDS))
    calculation, available = document(answer, "calculation_response")
    number = answer.headers["x-combination-id"]
    found = (await client.get(f"/cs2/v1/combinations/{number}", headers=basic)).json()["data"]
    assert float(calculation.get("odds")) == found["odds"]
    assert [one["market_offer_id"] for one in found["legs"]] == [market_name(*HOME), market_name(*ROUNDS)]
    (event,) = available
    assert event.get("id") == match_urn(match.number)
    further = listed(event)
    assert further and further.isdisjoint({HOME, AWAY, ROUNDS})
    added = await post(client, CALCULATE, basic, selections(match, HOME, ROUNDS, min(further)))
    document(added, "calculation_response")


async def test_a_filtered_calculation_says_what_conflicts(
    client: httpx.AsyncClient, basic: Headers, match: Match
) -> None:
    market = '<market market_id="1" specifiers="team=home" outcome_id="1"/>'
    body = (
        f'<filterSelections><selection id="{match_urn(match.number)}">{market}</selection></filterSelections>'
    )
    answer = await post(client, FILTER, basic, body)
    assert "x-combination-id" not in answer.headers
    calculation, available = document(answer, "filtered_calculation_response")
    assert float(calculation.get("odds")) > 1
    conflicts = {
        (int(one.get("id")), one.get("specifiers", "")): one.get("conflict")
        for one in available.iter("market")
    }
    assert conflicts[HOME] == "false" and conflicts[ROUNDS] == "false" and conflicts[AWAY] == "true"
    assert all(one.get("conflict") == one.getparent().get("conflict") for one in available.iter("outcome"))
    stored_one = await post(client, FILTER, basic, selections(match, HOME, ROUNDS))
    assert stored_one.headers["x-combination-id"]


async def test_without_probabilities_the_odds_are_shown_in_their_place(
    client: httpx.AsyncClient, issue: IssueKey, basic: Headers, match: Match
) -> None:
    without = {"x-access-token": await issue("other", bundles=("cs2.odds.basic",))}
    answer = await post(client, CALCULATE, without, selections(match, HOME, ROUNDS))
    (calculation, _) = document(answer, "calculation_response")
    implied = 1 / float(calculation.get("odds"))
    assert float(calculation.get("probability")) == pytest.approx(implied, abs=1e-6)
    answer = await post(client, CALCULATE, basic, selections(match, HOME, ROUNDS))
    (calculation, _) = document(answer, "calculation_response")
    assert 0 < float(calculation.get("probability")) < implied - 1e-4


async def test_what_is_wrong_with_each_selection_is_said(
    client: httpx.AsyncClient, basic: Headers, match: Match
) -> None:
    wrong = selections(match, HOME, (1, "team=nobody"), ROUNDS).replace(match_urn(match.number), "x", 1)
    answer = await post(client, CALCULATE, basic, wrong)
    assert answer.status_code == 422
    assert named(answer.json()["detail"]) == {("body", "selection", 0): "unknown_match"}
    answer = await post(client, CALCULATE, basic, selections(match, HOME, (1, "team=nobody")))
    assert named(answer.json()["detail"]) == {("body", "selection", 1): "unknown_market"}
    answer = await post(client, CALCULATE, basic, selections(match, HOME, AWAY))
    assert set(named(answer.json()["detail"]).values()) == {"impossible"}
    assert (await post(client, CALCULATE, basic, "<selections")).status_code == 400
    assert (await post(client, CALCULATE, basic, " " * 9_000)).status_code == 413


async def test_the_sdk_address_repeats_the_id(
    settings: Settings, store: Store, basic: Headers, match: Match
) -> None:
    async with serving(with_sdk_address(settings)) as client:
        name = f"xx:match:{match.number}"
        unknown = await client.get(f"{SDK}/v1/custombet/{name}/available_selections", headers=basic)
        assert unknown.status_code == 404
        answer = await post(client, f"{SDK}{CALCULATE}", basic, selections(match, HOME, ROUNDS))
        document(answer, "calculation_response")
