"""A profile of one of two tenants: what REST, the self-check and combinations show to each."""

from decimal import Decimal
from typing import Any

import httpx
import pytest
from lxml import etree

from app.domain.match import Match
from app.domain.profiles import StakeRule
from app.domain.trading_controls import MarginControl
from app.store.connections import Store
from tests.integration.rest.test_combinations import HOME, ROUNDS, made, read
from tests.integration.rest.test_probabilities import worth
from tests.integration.rest.test_selfcheck import check
from tests.support import stored
from tests.support.eventually import eventually
from tests.support.tenants import give_profile
from tests.support.web import Headers, IssueKey, data


@pytest.fixture
async def other(issue: IssueKey) -> Headers:
    """Headers with the key of another bookmaker, of the same scopes."""
    return {"X-API-Key": await issue("beta", bundles=("cs2.odds.basic",))}


async def odds(client: httpx.AsyncClient, match: Match, headers: Headers) -> dict[str, float]:
    """The odds of each open market; every representation shows the same."""
    path = f"/cs2/v1/matches/{match.id}"
    listed = await data(client, f"{path}/markets", headers)
    whole = (await data(client, path, headers))["markets"]
    assert listed == whole
    xml: Any = etree.fromstring((await client.get(f"{path}/markets.xml", headers=headers)).content)
    shown = {
        f"{each.get('id')}:{each.get('specifiers', '')}": each.find("outcome") for each in xml.iter("market")
    }
    found = {each["market_offer_id"]: each["odds"] for each in listed}
    assert {name: float(outcome.get("odds")) for name, outcome in shown.items()} == found
    return found


async def in_force(
    client: httpx.AsyncClient, match: Match, headers: Headers, before: dict[str, float]
) -> None:
    """Wait until the profile is in force in the web process, as after a command in another one."""

    async def same() -> bool:
        listed = await data(client, f"/cs2/v1/matches/{match.id}/markets", headers)
        return {each["market_offer_id"]: each["odds"] for each in listed} == before

    await eventually(same, False.__eq__)


async def test_each_sees_its_own_odds(
    client: httpx.AsyncClient, store: Store, live: Match, basic: Headers, other: Headers
) -> None:
    before = await odds(client, live, basic)
    assert before == await odds(client, live, other)
    await give_profile(store, 0.2, margins=(MarginControl(0.0, family="round_winner"),))
    await in_force(client, live, basic, before)
    own = await odds(client, live, basic)
    assert await odds(client, live, other) == before
    book = {f"{key[0]}:{key[1]}": market for key, market in (await stored.book(store, live)).items()}
    assert own.keys() == before.keys() and len({book[name].phase for name in own}) == 1
    for name, shown in own.items():
        margin = 0.0 if book[name].family == "round_winner" else 0.2
        fair = 1 / book[name].probability
        assert shown == pytest.approx(min(max(fair / (1 + margin), 1.01), 50), abs=0.001)
    await give_profile(store, None)
    await in_force(client, live, basic, own)
    assert await odds(client, live, basic) == before


async def test_the_self_check_compares_with_its_odds(
    client: httpx.AsyncClient, store: Store, live: Match, basic: Headers, other: Headers
) -> None:
    before = await odds(client, live, basic)
    await give_profile(store, 0.2)
    await in_force(client, live, basic, before)
    markets = await data(client, f"/cs2/v1/matches/{live.id}/markets", basic)
    status = {"active": 1, "suspended": -1}
    held = [[one["id"], one["specifiers"], status[one["status"]], one["odds"]] for one in markets]
    book = {"match": str(live.id), "markets": held}
    assert (await check(client, basic, book))["count"] == 0
    differing = await check(client, other, book)
    assert differing["kinds"]["wrong_price"] > 0


async def test_stakes_follow_its_odds_and_rules(
    client: httpx.AsyncClient, store: Store, live: Match, basic: Headers
) -> None:
    async def advice() -> dict[str, Any]:
        found = (await data(client, f"/cs2/v1/matches/{live.id}/stakes", basic))["markets"]
        return {each["market_offer_id"]: each for each in found}

    before = await odds(client, live, basic)
    await give_profile(store, 0.06)
    await in_force(client, live, basic, before)
    plain = await advice()
    await give_profile(store, 0.06, stakes=(StakeRule(factor=0.5, delay_seconds=4),))
    halved = await eventually(advice, lambda found: found != plain)
    listed = await odds(client, live, basic)
    for name, each in halved.items():
        assert each["odds"] == listed[name]
        assert each["max_stake"] == pytest.approx(plain[name]["max_stake"] / 2, abs=0.011, rel=0.2)
        assert each["bet_delay_seconds"] >= 5


async def test_combinations_have_its_margins(
    client: httpx.AsyncClient, store: Store, live: Match, basic: Headers, other: Headers
) -> None:
    before = await odds(client, live, basic)
    await give_profile(store, 0.0)
    await in_force(client, live, basic, before)
    fair, standard = [await made(client, headers, live, HOME, ROUNDS) for headers in (basic, other)]
    assert [leg["odds"] for leg in standard["legs"]] == [
        before[f"{key[0]}:{key[1]}"] for key in (HOME, ROUNDS)
    ]
    assert fair["odds"] > standard["odds"]
    assert (await read(client, basic, fair["id"]))["odds"] == fair["odds"], "it is stored with its odds"
    stored_legs = [Decimal(str(leg["odds"])) for leg in fair["legs"]]
    book = await stored.book(store, live)
    for key, leg in zip((HOME, ROUNDS), stored_legs, strict=True):
        assert float(leg) == pytest.approx(1 / book[key].probability, abs=0.001)


async def newest_of(client: httpx.AsyncClient, match: Match, headers: Headers) -> int:
    """The number of the newest price of a match."""
    answer = await client.get(f"/cs2/v1/matches/{match.id}/prices?limit=1000", headers=headers)
    return int(answer.json()["data"][-1]["seq"])


async def test_what_a_bet_is_bought_back_for_follows_its_odds(
    client: httpx.AsyncClient, store: Store, live: Match, issue: IssueKey
) -> None:
    """The fair value is that of every tenant; without a margin the bet is bought back for it."""
    fair = {"X-API-Key": await issue(bundles=("cs2.odds.basic",), probabilities=True)}
    before = await odds(client, live, fair)
    market = (await stored.book(store, live))[HOME]
    standard = await worth(client, live, market, fair)
    await give_profile(store, 0.0)
    await in_force(client, live, fair, before)
    own = await worth(client, live, market, fair)
    assert own["seq"] == await newest_of(client, live, fair) > standard["seq"], (
        "the tenant's message is newer"
    )
    assert own["fair_value"] == standard["fair_value"] > standard["cash_out"]
    assert own["cash_out"] == pytest.approx(own["fair_value"], rel=0.002)
