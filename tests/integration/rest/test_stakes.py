"""Advice on stakes: what it lists, for whom, and by which liquidity."""

from typing import Any

import httpx
import pytest
from lxml import etree
from msgspec.structs import replace

from app.access import admin, profiles
from app.domain import scopes
from app.domain.entrants import Tournament
from app.domain.match import Match, Status
from app.domain.profiles import StakeRule
from app.domain.trading_controls import MarginControl
from app.settings import liquidity
from app.store import entrants, matches
from app.store.connections import Store
from tests.support.eventually import eventually
from tests.support.stored import put_entrants
from tests.support.tenants import ROUND_WINNER, switch
from tests.support.web import Headers, IssueKey, data

AMOUNTS = liquidity("S:1000,A:500,B:250,C:100,D:50,other:50")


async def advice(client: httpx.AsyncClient, match: Match, headers: Headers) -> Any:
    return await data(client, f"/cs2/v1/matches/{match.id}/stakes", headers)


async def test_there_is_advice_on_every_active_market(
    client: httpx.AsyncClient, live: Match, basic: Headers
) -> None:
    found = await advice(client, live, basic)
    listed = await data(client, f"/cs2/v1/matches/{live.id}/markets", basic)
    active = {each["market_offer_id"]: each["odds"] for each in listed if not each["suspended"]}
    assert {each["market_offer_id"]: each["odds"] for each in found["markets"]} == active and active
    assert found["seq"] == live.last_seq and found["valid_until"] is not None
    assert found["liquidity"] == AMOUNTS["other"] and found["reference_age_seconds"] is None
    for each in found["markets"]:
        assert 0 < each["max_stake"] * each["odds"] <= found["liquidity"]
        assert 1 <= each["bet_delay_seconds"] <= 10
        assert set(each["inputs"]) == {"skill_spread", "reference_spread"}


async def test_xml_has_the_same(client: httpx.AsyncClient, live: Match, basic: Headers) -> None:
    answer = await client.get(
        f"/cs2/v1/matches/{live.id}/stakes", headers=basic | {"Accept": "application/xml"}
    )
    document = etree.fromstring(answer.content)
    found = await advice(client, live, basic)
    assert [each.get("max_stake") for each in document.iter("market")] == [
        str(each["max_stake"]) for each in found["markets"]
    ]


async def test_the_probability_is_for_tenants_that_receive_it(
    client: httpx.AsyncClient, store: Store, live: Match, basic: Headers
) -> None:
    async with store.transaction() as tx:
        await admin.set_probabilities(tx, "acme", True, by="test", now=1)

    async def shown() -> set[str]:
        return set((await advice(client, live, basic))["markets"][0]["inputs"])

    await eventually(shown, lambda inputs: {"probability", "margin", "round_spread"} <= inputs)


async def test_liquidity_is_that_of_the_tournaments_tier(
    client: httpx.AsyncClient, store: Store, live: Match, basic: Headers
) -> None:
    before = await advice(client, live, basic)
    await put_entrants(store, entrants.TOURNAMENTS, Tournament(1, "Northern Cup", tier="S"))
    async with store.transaction() as tx:
        changed = replace(await matches.lock(tx, live.id), tournament_id=1)
        await tx.write([matches.save_statement(changed)])
    found = await advice(client, live, basic)
    assert found["liquidity"] == AMOUNTS["S"]
    assert found["markets"][0]["max_stake"] > 10 * before["markets"][0]["max_stake"]


async def test_a_type_that_is_switched_off_has_no_advice(
    client: httpx.AsyncClient, store: Store, live: Match, basic: Headers
) -> None:
    async def types() -> set[str]:
        return {
            each["market_offer_id"].split(":")[0] for each in (await advice(client, live, basic))["markets"]
        }

    assert str(ROUND_WINNER) in await types()
    await switch(store, False)
    await eventually(types, lambda shown: str(ROUND_WINNER) not in shown)


async def test_it_needs_the_right_to_read_markets_and_the_match(
    client: httpx.AsyncClient, store: Store, live: Match, issue: IssueKey
) -> None:
    path = f"/cs2/v1/matches/{live.id}/stakes"
    reader = {"X-API-Key": await issue(scopes=(scopes.READ,))}
    assert (await client.get(path, headers=reader)).status_code == 403
    wanted = (scopes.READ, scopes.MARKETS)
    finished_only = {"X-API-Key": await issue("beta", scopes=wanted, finished_only=True)}
    assert (await client.get(path, headers=finished_only)).status_code == 404


async def test_a_match_that_is_over_has_none(
    client: httpx.AsyncClient, store: Store, live: Match, basic: Headers
) -> None:
    async with store.transaction() as tx:
        over = replace(await matches.lock(tx, live.id), status=Status.CANCELLED, current=None)
        await tx.write([matches.save_statement(over)])
        await tx.execute("UPDATE market SET status = -4 WHERE match_id = $1", live.id)
    found = await advice(client, live, basic)
    assert found["markets"] == [] and found["silent_seconds"] == 0


async def test_a_profile_changes_the_advice(
    client: httpx.AsyncClient, store: Store, live: Match, basic: Headers
) -> None:
    """A factor and a delay for one family change the advice on its markets, and on no other."""

    async def give(content: profiles.ProfileDraft, at: int) -> None:
        async with store.transaction() as tx:
            await profiles.publish(tx, "own", content, by="test", now=at)
        async with store.transaction() as tx:
            await profiles.assign(tx, "acme", "own", by="test", now=at)

    async def listed() -> dict[str, Any]:
        return {each["market_offer_id"]: each for each in (await advice(client, live, basic))["markets"]}

    standard, plain = await listed(), profiles.ProfileDraft((MarginControl(0.1),))
    await give(plain, 1)
    before = await eventually(listed, lambda shown: _of(shown, "odds") != _of(standard, "odds"))
    rule = StakeRule("round_winner", factor=0.5, delay_seconds=7)
    await give(replace(plain, stakes=(rule,)), 2)
    delay = "bet_delay_seconds"
    after = await eventually(listed, lambda shown: _of(shown, delay) != _of(before, delay))
    for name, each in after.items():
        seconds, factor = (7, 0.5) if name.startswith(f"{ROUND_WINNER}:") else (0, 1)
        assert each["bet_delay_seconds"] == before[name]["bet_delay_seconds"] + seconds
        assert each["max_stake"] == pytest.approx(factor * before[name]["max_stake"], abs=0.02)


def _of(found: dict[str, Any], field: str) -> dict[str, Any]:
    return {name: each[field] for name, each in found.items()}
