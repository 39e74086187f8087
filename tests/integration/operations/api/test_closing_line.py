"""The closing-line report: our prices and the market's at fixed times before play, with what came."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from app.commands import creation, match_references, reference_import
from app.commands import match_commands as c
from app.commands.creation import NewMatch
from app.commands.reference_import import ImportedPrice
from app.domain.match import Match, Status
from app.settings import Settings
from app.store import matches
from app.store.connections import Store
from app.trading.pricing import PricingConfig
from tests.integration.ingest.conftest import NOW
from tests.support.matches import execute
from tests.support.web import Headers, serving

PATH = "/ops/v1/reports/closing-line"
PRICING = PricingConfig()
HOUR = 3_600_000
START = NOW - HOUR


@pytest.fixture
async def client(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(settings, lambda: NOW) as client:
        yield client


async def new_match(store: Store) -> Match:
    new = NewMatch(home="Northwind", away="Harbour", event="Cup", best_of=3, scheduled_at=START)
    new = replace(new, home_strength=1500.0, away_strength=1500.0)
    return await creation.create_match(store, new, START - 48 * HOUR, PRICING)


async def quote(store: Store, match: Match, odds: tuple[float, float], at: int) -> None:
    rows = [
        ImportedPrice(source="one", match=str(match.id), specifiers=f"team={team}", odds=price, at=at)
        for team, price in zip(("home", "away"), odds, strict=True)
    ]
    async with store.transaction() as tx:
        placed = [(("rows", at), row) for at, row in enumerate(rows)]
        await reference_import.import_references(tx, placed, by="tester", now=at)
    await match_references.refresh(store, [match.id], at, PRICING)


async def play(store: Store, match: Match) -> None:
    """The match begins, and home wins it."""
    async with store.transaction() as tx:
        live = replace(await matches.lock(tx, match.id), status=Status.LIVE, started_at=START)
        await tx.write([matches.save_statement(live)])
        await tx.execute("UPDATE match SET started_at = $1", START)
    for team, result in (("home", "won"), ("away", "lost")):
        decided = c.SettleMarket(market_id=1, specifiers=f"team={team}", reason="it won", result=result)
        await execute(store, match, decided, NOW - 1)


async def report(client: httpx.AsyncClient, operator: Headers) -> dict[str, Any]:
    answer = await client.get(PATH, headers=operator)
    assert answer.status_code == 200, answer.text
    data: dict[str, Any] = answer.json()["data"]
    return data


async def test_each_moment_has_the_prices_of_its_time(
    client: httpx.AsyncClient, operator: Headers, store: Store
) -> None:
    match = await new_match(store)
    await quote(store, match, (1.9, 1.9), START - 25 * HOUR)
    await quote(store, match, (1.6, 2.4), START - 2 * HOUR)
    await quote(store, match, (1.5, 2.6), START - 60_000)
    await play(store, match)
    found = await report(client, operator)
    (shown,) = found["matches"]
    assert (shown["match"], shown["team_a"]) == (f"od:match:{match.number}", "Northwind")
    home = {one["moment"]: one for one in shown["markets"] if one["specifiers"] == "team=home"}
    assert list(home) == ["24h", "1h", "5m", "start"], "what was 19 hours old six hours before was stale"
    theirs = [one["theirs"] for one in home.values()]
    assert theirs[0] == 0.5 < theirs[1] == theirs[2] < theirs[3]
    assert home["24h"]["ours"] < home["1h"]["ours"] < home["start"]["ours"] < home["start"]["theirs"]
    assert all(one["own"] == 0.5 and one["won"] and one["odds"] > 1 for one in home.values())
    assert home["start"]["value"] < 0
    compared = {one["moment"]: one for one in found["comparisons"]}
    assert compared["start"]["log_loss_theirs"] < compared["start"]["log_loss_ours"]
    assert compared["start"]["log_loss_ours"] < compared["start"]["log_loss_own"] == 0.6931


async def test_value_that_was_on_sale_is_named(
    client: httpx.AsyncClient, operator: Headers, store: Store
) -> None:
    match = await new_match(store)
    await execute(store, match, c.FollowReferences(follow=False), START - 3 * HOUR)
    await quote(store, match, (1.4, 3.0), START - 2 * HOUR)
    await play(store, match)
    found = await report(client, operator)
    assert {one["value_share"] for one in found["comparisons"]} == {1.0}
    start = next(one for one in found["comparisons"] if one["moment"] == "start")
    assert start["value"] > 0.2 and start["slope"] is None


async def test_matches_without_references_or_a_result_are_left_out(
    client: httpx.AsyncClient, operator: Headers, store: Store
) -> None:
    await new_match(store)
    open_match = await new_match(store)
    await quote(store, open_match, (1.4, 3.0), START - 2 * HOUR)
    found = await report(client, operator)
    assert (found["comparisons"], found["matches"]) == ([], [])
