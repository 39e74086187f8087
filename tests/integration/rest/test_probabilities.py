"""What bets on a match are worth over REST: for whom, of which markets, and by which state."""

from collections import defaultdict
from decimal import Decimal
from typing import Any

import httpx
import pytest
from lxml import etree
from msgspec.structs import replace

from app.commands import match_commands
from app.domain import scopes
from app.domain.market import Market, Result, market_name
from app.domain.match import Match
from app.domain.settlement import VoidWindow
from app.kit.clock import iso_millis, system_clock
from app.store import matches
from app.store.connections import Store
from app.trading.cash_out import cash_out_share, void_chance
from tests.integration.ingest.conftest import NOW, Server
from tests.support import stored, world
from tests.support.eventually import eventually
from tests.support.matches import create_match, execute
from tests.support.story import Story, offer
from tests.support.tenants import ROUND_WINNER, book, switch
from tests.support.web import Headers, IssueKey, data
from tests.support.world import World

OPEN_ONLY = (scopes.READ, scopes.MARKETS)


@pytest.fixture
async def fair(issue: IssueKey) -> Headers:
    """Headers with the key of a bookmaker who receives probabilities."""
    return {"X-API-Key": await issue(bundles=("cs2.odds.basic",), probabilities=True)}


def path(match: Match, what: str = "probabilities") -> str:
    return f"/cs2/v1/matches/{match.id}/{what}"


async def shown(client: httpx.AsyncClient, match: Match, headers: Headers, query: str = "") -> dict[str, Any]:
    """The markets by name."""
    found = await data(client, path(match) + query, headers)
    return {one["market_offer_id"]: one for one in found["markets"]}


async def ask(
    client: httpx.AsyncClient, match: Match, offered: Market, headers: Headers, **query: str
) -> httpx.Response:
    """A cash-out of 100 at 2.105, unless the query says otherwise."""
    named = {"market": market_name(*offered.key), "odds": "2.105", "stake": "100"}
    return await client.get(path(match, "cashout"), params=named | query, headers=headers)


async def worth(
    client: httpx.AsyncClient, match: Match, offered: Market, headers: Headers, **query: str
) -> Any:
    answer = await ask(client, match, offered, headers, **query)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


async def test_open_markets_have_the_probability_that_prices_them(
    client: httpx.AsyncClient, store: Store, live: Match, fair: Headers
) -> None:
    found = await data(client, path(live), fair)
    assert found["seq"] == live.last_seq and found["match_urn"] == f"od:match:{live.number}"
    stated = {market_name(*key): market for key, market in (await stored.book(store, live)).items()}
    assert {one["market_offer_id"] for one in found["markets"]} == set(stated)
    for one in found["markets"]:
        market = stated[one["market_offer_id"]]
        if one["status"] == "active":
            assert one["probability"] == pytest.approx(market.probability, abs=1e-6)
        assert ("probability" in one) == (one["status"] == "active")
    groups: dict[str, list[float]] = defaultdict(list)
    for one in found["markets"]:
        if "probability" in one:
            groups[one["group"]].append(one["probability"])
    assert len(groups) > 20
    assert all(sum(group) == pytest.approx(1, abs=len(group) * 1e-6) for group in groups.values())


async def test_until_when_they_stand_is_when_time_alone_moves_a_price(
    client: httpx.AsyncClient, store: Store, fair: Headers
) -> None:
    server = Server(store, await create_match(store, NOW, scheduled_at=NOW))
    await server.begin()
    match = await server.state()
    async with store.autocommit() as tx:
        due = await matches.reprice_at(tx, match.id)
    assert due is not None
    assert (await data(client, path(match), fair))["valid_until"] == iso_millis(due)
    (market, *_) = await stored.active(store, match)
    assert (await worth(client, match, market, fair))["valid_until"] == iso_millis(due)
    await server.win(1, 0)
    assert (await data(client, path(match), fair))["valid_until"] is None


async def test_markets_with_a_result_are_as_the_ledger_says(
    client: httpx.AsyncClient, store: Store, fair: Headers, issue: IssueKey
) -> None:
    played: World = await world.made(store)
    open_only = {"X-API-Key": await issue(scopes=OPEN_ONLY, probabilities=True)}
    for match in (played.finished, played.live, played.cancelled):
        latest = {market_name(*entry.key): entry for entry in await stored.ledger(store, match)}
        results = {name: one.get("result") for name, one in (await shown(client, match, fair)).items()}
        settled = {name: str(entry.result) for name, entry in latest.items() if entry.result}
        assert {name: result for name, result in results.items() if result} == settled and settled
        for hidden in (
            await shown(client, match, open_only),
            await shown(client, match, fair, "?closed=false"),
        ):
            assert set(hidden) == {name for name in results if name not in settled}


async def test_a_filter_by_market(client: httpx.AsyncClient, live: Match, fair: Headers) -> None:
    every = await shown(client, live, fair)
    some = await shown(client, live, fair, "?market=1")
    assert some == {name: one for name, one in every.items() if one["id"] == 1} and len(some) == 2
    assert set(await shown(client, live, fair, "?market=1:team%3Dhome")) == {"1:team=home"}
    assert await shown(client, live, fair, "?market=1:team%3Dnobody") == {}
    assert (await client.get(f"{path(live)}?market=999", headers=fair)).status_code == 404


async def test_a_suspended_market_has_a_reason_and_no_value(
    client: httpx.AsyncClient, store: Store, live: Match, fair: Headers
) -> None:
    (market, *_) = await stored.active(store, live)
    await execute(store, live, match_commands.Suspend(reason="the server is down"), NOW + 60_000)
    (one,) = (await shown(client, live, fair, f"?market={market_name(*market.key)}")).values()
    assert "probability" not in one and one["suspended_reason_code"] == "operator"
    assert one["suspended_reason"] == "suspended by an operator"
    bet = await worth(client, live, market, fair)
    assert bet["status"] == "suspended" and bet["suspended_reason_code"] == "operator"
    assert (bet["fair_value"], bet["cash_out"], bet["payout"]) == (None, None, 210.5)


async def test_a_bet_is_bought_back_for_its_fair_value_less_the_margin(
    client: httpx.AsyncClient, store: Store, live: Match, fair: Headers
) -> None:
    for market in await stored.active(store, live):
        bet = await worth(client, live, market, fair)
        assert bet["payout"] == 210.5 and bet["offered_odds"] == float(market.odds)
        returned = void_chance(live, market, NOW)
        assert bool(returned) == (market.type_id == 38)
        for amount, share in (
            ("fair_value", market.probability),
            ("cash_out", cash_out_share(market.probability, market.odds)),
        ):
            expected = (1 - returned) * 210.5 * share + returned * 100
            assert bet[amount] == pytest.approx(expected, abs=0.01)
        assert 0 <= bet["cash_out"] < bet["fair_value"] < bet["payout"]
        assert bet["seq"] == live.last_seq and bet["valid_until"] is None


async def test_afterwards_it_is_worth_what_it_pays(
    client: httpx.AsyncClient, story: Story, fair: Headers, issue: IssueKey
) -> None:
    won, lost, void, taken_back = (offer(number) for number in range(1, 5))
    match = await story.match(won, lost, void, taken_back)
    await story.settle(match, won, taken_back)
    await story.settle(match, lost, result=Result.LOST)
    await story.void(match, void)
    await story.take_back(match, taken_back)
    for market, result, value in ((won, "won", 210.5), (lost, "lost", 0), (void, "void", 100)):
        bet = await worth(client, match, market, fair)
        assert (bet["result"], bet["fair_value"], bet["cash_out"]) == (result, value, value)
        assert "probability" not in bet
    assert (await worth(client, match, taken_back, fair))["cash_out"] is None
    open_only = {"X-API-Key": await issue(scopes=OPEN_ONLY, probabilities=True)}
    refused = await ask(client, match, won, open_only)
    assert refused.status_code == 403 and scopes.SETTLEMENTS in refused.json()["detail"]
    assert (await ask(client, match, taken_back, open_only)).status_code == 200


async def test_a_bet_of_a_void_window_is_worth_its_stake(
    client: httpx.AsyncClient, story: Story, fair: Headers
) -> None:
    market = offer(1)
    match = await story.match(market)
    await story.void_bets(match, VoidWindow(NOW, NOW + 1000), market)
    inside, before = iso_millis(NOW + 500), iso_millis(NOW - 500)
    bet = await worth(client, match, market, fair, placed_at=inside)
    assert (bet["status"], bet["result"], bet["cash_out"]) == ("active", "void", 100)
    for query in ({}, {"placed_at": before}):
        assert "result" not in await worth(client, match, market, fair, **query)
    await story.void_bets(match, VoidWindow(NOW, NOW + 1000), market, rolled_back=True)
    assert "result" not in await worth(client, match, market, fair, placed_at=inside)


async def test_what_is_no_bet_is_refused(client: httpx.AsyncClient, live: Match, fair: Headers) -> None:
    for query, field in [
        *(({"odds": odds}, "odds") for odds in ("1", "1.000", "0.5", "-2", "10000", "2.1055", "1e3", "٢")),
        *(({"odds": odds}, "odds") for odds in ("NaN", "Infinity", "", "2,1", " 2.1", "02.1")),
        *(
            ({"stake": stake}, "stake")
            for stake in ("0", "0.00", "-1", "1.005", "1000000000", "NaN", "1e2", "")
        ),
        ({"market": "0"}, "market"),
        ({"market": "x"}, "market"),
        ({"placed_at": "yesterday"}, "placed_at"),
    ]:
        answer = await ask(client, live, offer(1), fair, **query)
        assert answer.status_code == 422, answer.text
        (wrong,) = answer.json()["detail"]
        assert wrong["loc"] == ["query", field] and wrong["msg"], query


async def test_everything_that_is_wrong_is_said_at_once(
    client: httpx.AsyncClient, live: Match, fair: Headers
) -> None:
    answer = await ask(client, live, offer(1), fair, odds="1", stake="0")
    assert [one["loc"][1] for one in answer.json()["detail"]] == ["odds", "stake"]


async def test_a_market_that_is_not_there_is_404(
    client: httpx.AsyncClient, live: Match, fair: Headers
) -> None:
    for unknown in (replace(offer(1), type_id=999), replace(offer(1), specifiers=""), offer(99)):
        answer = await ask(client, live, unknown, fair)
        assert answer.status_code == 404 and market_name(*unknown.key) in answer.json()["detail"]
    gone = replace(live, id=live.id.__class__(int=1))
    assert (await ask(client, gone, offer(1), fair)).status_code == 404


async def test_a_type_that_is_switched_off_is_never_worth_anything_new(
    client: httpx.AsyncClient, store: Store, story: Story, fair: Headers
) -> None:
    """From before: suspended, then its result. Opened later: nothing, also when the type is on again."""
    before, unsold = offer(1), offer(2)
    match = await story.match(before)
    await switch(store, False)
    await eventually(
        lambda: shown(client, match, fair), lambda seen: "probability" not in seen[_name(before)]
    )
    assert (await worth(client, match, before, fair))["suspended_reason_code"] == "type_switched_off"
    await story.offer(match, replace(unsold, first_opened_at=system_clock() + 60_000))
    assert set(await shown(client, match, fair)) == {_name(before)}
    await story.settle(match, before, replace(unsold, first_opened_at=system_clock() + 60_000))
    assert {name: one["result"] for name, one in (await shown(client, match, fair)).items()} == {
        _name(before): "won"
    }
    await switch(store, True)
    await story.offer(match, offer(3))
    found = await eventually(lambda: shown(client, match, fair), lambda seen: _name(offer(3)) in seen)
    assert set(found) == {_name(before), _name(offer(3))}
    assert (await ask(client, match, unsold, fair)).status_code == 404
    assert before.type_id == ROUND_WINNER


def _name(market: Market) -> str:
    return market_name(*market.key)


async def test_who_may_ask(
    client: httpx.AsyncClient, store: Store, live: Match, basic: Headers, issue: IssueKey
) -> None:
    """Tenants that receive probabilities, by a key that may read markets, whether it is booked or not."""
    (market, *_) = await stored.active(store, live)
    wanted = (path(live), f"{path(live, 'cashout')}?market=1:team%3Dhome&odds=2&stake=1")
    without_scope = {"X-API-Key": await issue("beta", scopes=(scopes.READ,), probabilities=True)}
    finished_only = {
        "X-API-Key": await issue("beta", scopes=OPEN_ONLY, finished_only=True, probabilities=True)
    }
    booked = {"X-API-Key": await issue("beta", scopes=OPEN_ONLY, probabilities=True)}
    await book(store, live, False, "beta")
    for address in wanted:
        refused = await client.get(address, headers=basic)
        assert refused.status_code == 403 and "probabilities" in refused.json()["detail"]
        assert (await client.get(address, headers=without_scope)).status_code == 403
        assert (await client.get(address, headers=finished_only)).status_code == 404
        assert (await client.get(address, headers=booked)).status_code == 200
    assert market.odds > Decimal(1)


async def test_xml_has_the_same(client: httpx.AsyncClient, live: Match, fair: Headers) -> None:
    found = await shown(client, live, fair)
    answer = await client.get(path(live), headers=fair | {"Accept": "application/xml"})
    listed = {
        one.get("market_offer_id"): one.get("probability")
        for one in etree.fromstring(answer.content).iter("market")
    }
    assert listed == {name: one.get("probability") and str(one["probability"]) for name, one in found.items()}
