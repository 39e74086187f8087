"""Operators' requests about profiles, and what a tenant's odds are then."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from app.access import profiles
from app.access.profiles import ProfileContent
from app.domain.market import Market
from app.domain.match import Match
from app.kit.clock import system_clock
from app.store import changes, markets, tenants
from app.store.connections import Store
from app.store.transaction import Tx
from tests.support.eventually import eventually
from tests.support.profiles import CONTENT, match_with_markets
from tests.support.story import Story
from tests.support.tenants import book, switch
from tests.support.web import Headers

OTHER = CONTENT | {"margins": [{"margin": 0.02}]}


class Desk:
    """The API as an operator calls it."""

    def __init__(self, client: httpx.AsyncClient, headers: Headers) -> None:
        self.client, self.headers = client, headers

    async def request(self, method: str, path: str, expect: int = 200, body: Any = None) -> Any:
        answer = await self.client.request(method, f"/ops/v1{path}", headers=self.headers, json=body)
        assert answer.status_code == expect, answer.text
        return answer.json().get("data", answer.json().get("detail"))

    async def publish(self, body: Any = CONTENT, query: str = "", expect: int = 200) -> Any:
        return await self.request("PUT", f"/profiles/tight{query}", expect, body)

    async def give(self, slug: str, name: str | None = "tight", expect: int = 200) -> Any:
        return await self.request("PUT", f"/tenants/{slug}/profile", expect, {"profile": name})

    async def preview(self, query: str = "", body: Any = OTHER) -> dict[str | None, Any]:
        found = await self.request("POST", f"/profiles/tight/preview{query}", 200, body)
        return {one["tenant"]: one for one in found}


@pytest.fixture
async def desk(client: httpx.AsyncClient, operator: Headers) -> Desk:
    desk = Desk(client, operator)
    for slug in ("beta", "gamma"):
        await desk.request("POST", "/tenants", 201, {"slug": slug, "name": slug})
    return desk


@pytest.fixture
async def match(story: Story) -> Match:
    return await match_with_markets(story)


async def _seen(store: Store, slug: str) -> dict[str, Market]:
    """The open markets as the tenant sees them."""
    async with store.autocommit() as tx:
        offer, present = (await tenants.by_slug(tx, slug)).offer, await markets.open_by_match(tx)
    shown = [offer.now.markets_in_list(own) for own in present.values()]
    return {f"{one.type_id}:{one.specifiers}": one for own in shown for one in own}


async def _sent(store: Store, slug: str) -> int:
    """How many rows of markets the change log has for the tenant alone."""
    async with store.autocommit() as tx:
        owner = await tenants.by_slug(tx, slug)
        rows = await changes.read(tx, 0, 1000)
    return sum(row.entity == changes.TENANT_MARKET and row.key.startswith(str(owner.id)) for row in rows)


async def test_equal_content_is_the_same_version(desk: Desk) -> None:
    first = await desk.publish()
    assert first == {"name": "tight", "version": 1, "new": True, "tenants": []}
    assert await desk.publish() == first | {"new": False}
    assert (await desk.publish(OTHER))["version"] == 2
    assert (await desk.publish())["version"] == 3
    shown = await desk.request("GET", "/profiles/tight")
    assert [one["version"] for one in shown["versions"]] == [3, 2, 1]
    assert {one["published_by"].split("/")[0] for one in shown["versions"]} == {"key:house"}
    assert await desk.publish(shown["versions"][0]["content"]) == first | {"version": 3, "new": False}


async def test_a_version_reaches_each_tenant_that_has_the_profile(desk: Desk) -> None:
    await desk.publish()
    for slug in ("gamma", "beta"):
        given = await desk.give(slug)
        assert (given["profile"], given["profile_version"]) == ("tight", 1)
        assert given == await desk.request("GET", f"/tenants/{slug}")
    assert (await desk.publish(OTHER))["tenants"] == ["beta", "gamma"]
    assert (await desk.publish(OTHER))["tenants"] == []
    shown = await desk.request("GET", "/profiles/tight")
    assert [(one["slug"], one["version"]) for one in shown["tenants"]] == [("beta", 2), ("gamma", 2)]
    given = await desk.give("beta", None)
    assert (given["profile"], given["profile_version"]) == (None, None)
    assert (await desk.publish())["tenants"] == ["gamma"]
    (listed,) = await desk.request("GET", "/profiles")
    assert (listed["version"], listed["tenants"], listed["tenants_behind"]) == (3, 1, 0)


async def test_repeating_gives_the_version_to_those_that_a_failure_left_out(desk: Desk, store: Store) -> None:
    await desk.publish()
    for slug in ("beta", "gamma"):
        await desk.give(slug)
    calls = iter((*[store.transaction] * 3, _broken))

    @asynccontextmanager
    async def failing() -> AsyncIterator[Tx]:
        async with next(calls)() as tx:
            yield tx

    draft = ProfileContent(margins=(profiles.MarginRule(0.02),))
    with pytest.raises(ConnectionError):
        await profiles.put_in_force(failing, "tight", draft, by="test", clock=system_clock)
    (listed,) = await desk.request("GET", "/profiles")
    assert (listed["version"], listed["tenants"], listed["tenants_behind"]) == (2, 1, 1)
    assert await desk.publish({"margins": [{"margin": 0.02}]}) == {
        "name": "tight",
        "version": 2,
        "new": False,
        "tenants": ["gamma"],
    }


async def test_a_tenant_that_has_lost_the_profile_meanwhile_is_left_as_it_is(
    desk: Desk, store: Store
) -> None:
    await desk.publish()
    await desk.give("beta")
    calls = 0

    @asynccontextmanager
    async def losing() -> AsyncIterator[Tx]:
        nonlocal calls
        calls += 1
        if calls == 2:  # the version is published, and beta is next
            await desk.give("beta", None)
        async with store.transaction() as tx:
            yield tx

    draft = ProfileContent(margins=(profiles.MarginRule(0.02),))
    done = await profiles.put_in_force(losing, "tight", draft, by="test", clock=system_clock)
    assert (done.profile.version, done.moved, calls) == (2, [], 2)
    assert (await desk.request("GET", "/tenants/beta"))["profile"] is None


@asynccontextmanager
async def _broken() -> AsyncIterator[Tx]:
    raise ConnectionError
    yield


async def test_odds_change_when_a_tenant_gets_a_profile_and_for_no_other(
    desk: Desk, store: Store, match: Match
) -> None:
    standard = await _seen(store, "gamma")
    await desk.publish()
    await desk.give("beta")
    seen = await _seen(store, "beta")
    assert seen["1:team=home"].odds == seen["1:team=away"].odds
    assert str(seen["1:team=home"].odds) == "1.818"  # 1 / (0.5 * 1.1)
    assert seen["6:map=1|team=home"].status == -1  # 1 / (0.96 * 1.05) is below 1.05
    assert str(seen["6:map=1|team=away"].odds) == "20.000"  # 1 / (0.04 * 1.05) is above 20
    assert await _sent(store, "beta") == 4
    assert await _seen(store, "gamma") == standard and await _sent(store, "gamma") == 0
    await desk.give("beta")
    assert await _sent(store, "beta") == 4
    await desk.give("beta", None)
    assert await _seen(store, "beta") == standard and await _sent(store, "beta") == 8


async def test_a_preview_says_what_then_changes(desk: Desk, store: Store, match: Match) -> None:
    (alone,) = (await desk.preview()).values()
    assert (alone["tenant"], alone["changed"], alone["suspended"]) == (None, 4, 1)
    await desk.publish()
    await desk.give("beta")
    before = await _seen(store, "beta")
    found = await desk.preview()
    assert found.keys() == {"beta"}
    told = {
        one["market_offer_id"]: (one["odds_then"], one["status_then"])
        for family in found["beta"]["families"]
        for one in family["examples"]
    }
    assert await _seen(store, "beta") == before
    sent = await _sent(store, "beta")
    await desk.publish(OTHER)
    after = await _seen(store, "beta")
    changed = {name: one for name, one in after.items() if one != before[name]}
    assert found["beta"]["changed"] == len(changed) == await _sent(store, "beta") - sent
    assert told == {name: (float(one.odds), one.status) for name, one in changed.items()}
    winners = next(one for one in found["beta"]["families"] if one["family"] == "match_winner")
    assert (winners["margin_now"], winners["margin_then"]) == (
        pytest.approx(0.1, abs=0.001),
        pytest.approx(0.02, abs=0.001),
    )


async def test_a_preview_counts_what_the_tenant_sees(desk: Desk, store: Store, match: Match) -> None:
    await switch(store, False, 6, slug="beta")
    (found,) = (await desk.preview("?tenant=beta"))["beta"]["families"]
    assert (found["family"], found["changed"]) == ("match_winner", 2)
    await book(store, match, False, slug="beta")
    assert (await desk.preview("?tenant=beta"))["beta"]["families"] == []
    assert (await desk.preview("?tenant=gamma"))["gamma"]["changed"] == 4
    await desk.request("POST", "/profiles/tight/preview?tenant=nobody", 404, OTHER)


async def test_a_version_that_is_based_on_an_older_one_is_refused(desk: Desk) -> None:
    await desk.publish(query="?based_on=0")
    await desk.publish(query="?based_on=0")  # repeated: it has the content already
    assert "newest version of 'tight' is 1" in await desk.publish(OTHER, "?based_on=0", 409)
    assert (await desk.publish(OTHER, "?based_on=1"))["version"] == 2


UNFIT: tuple[tuple[dict[str, Any], list[Any]], ...] = (
    ({"margins": []}, ["body", "margins"]),
    ({"margins": [{"margin": 0.05, "phase": "in_play"}]}, ["body", "margins"]),
    ({"margins": [{"margin": 0.05}, {"margin": 0.05}]}, ["body", "margins", 1]),
    ({"margins": [{"margin": 0.51}]}, ["body", "margins", 0, "margin"]),
    ({"margins": [{"margin": 0.05}, {"margin": 0.1, "family": "x"}]}, ["body", "margins", 1, "family"]),
    ({"margins": [{"margin": 0.05, "long_shots": 2}]}, ["body", "margins", 0, "long_shots"]),
    (CONTENT | {"min_odds": 1}, ["body", "min_odds"]),
    (CONTENT | {"min_odds": 8, "max_odds": 8}, ["body", "max_odds"]),
    (CONTENT | {"min_move": 0.3}, ["body", "min_move"]),
    (CONTENT | {"stakes": [{"factor": -1}]}, ["body", "stakes", 0, "factor"]),
    (CONTENT | {"stakes": [{"delay_seconds": 61}]}, ["body", "stakes", 0, "delay_seconds"]),
    (CONTENT | {"stakes": [{"family": "match_winner"}, {"family": "nil"}]}, ["body", "stakes", 1, "family"]),
)


async def test_what_is_wrong_is_named(desk: Desk) -> None:
    for body, loc in UNFIT:
        for method, path in (("PUT", "/profiles/tight"), ("POST", "/profiles/tight/preview")):
            assert [one["loc"] for one in await desk.request(method, path, 422, body)] == [loc]
    for body in ({}, CONTENT | {"mine": 1}, {"margins": [{"margin": 0.05, "longshots": 0.2}]}, []):
        assert await desk.publish(body, expect=422)
    assert await desk.request("PUT", "/profiles/Tight", 422, CONTENT)
    assert await desk.request("GET", "/profiles") == []
    await desk.request("GET", "/profiles/tight", 404)
    assert "publish it first" in await desk.give("beta", "tight", 404)
    await desk.give("nobody", None, 404)
    await desk.request("PUT", "/tenants/beta/profile", 422, {})


async def test_who_is_given_the_profile_at_that_moment_gets_the_new_version(desk: Desk, store: Store) -> None:
    await desk.publish()

    async def newest() -> int:
        return int((await desk.request("GET", "/profiles/tight"))["versions"][0]["version"])

    async with store.transaction() as tx:
        await profiles.assign(tx, "beta", "tight", by="test", now=system_clock())
        publishing = asyncio.create_task(desk.publish(OTHER))
        assert await eventually(newest, lambda version: version == 2)
    assert (await publishing)["tenants"] == ["beta"]


async def test_changes_are_audited_once(desk: Desk, store: Store) -> None:
    for _ in range(2):
        await desk.publish()
        await desk.give("beta")
    records = await desk.request("GET", "/tenants/beta/audit")
    assert [(one["action"], one["details"]) for one in records if one["action"] == "tenant.profile"] == [
        ("tenant.profile", {"profile": "tight", "version": 1})
    ]
    async with store.autocommit() as tx:
        rows = await tx.fetch("SELECT subject FROM audit WHERE action = 'profile.publish'")
    assert [row["subject"] for row in rows] == ["tight"]
