"""What the client package requests over REST beside its feed, from the service itself."""

from decimal import Decimal

import httpx
import pytest
from matchfeed_client.rest import ClientError, Rest

from app.domain.ids import match_urn
from app.domain.market import market_name
from app.domain.match import Match
from app.store.connections import Store
from tests.integration.rest.test_combinations import HOME, ROUNDS
from tests.support import stored
from tests.support.web import IssueKey


@pytest.fixture
async def rest(client: httpx.AsyncClient, issue: IssueKey) -> Rest:
    """Of a bookmaker who receives probabilities."""
    key = await issue(bundles=("cs2.odds.basic",), probabilities=True)
    return Rest(str(client.base_url), key, client._transport)


async def test_a_combination_is_made_once_and_found_again(rest: Rest, live: Match) -> None:
    legs = [(match_urn(live.number), market_name(*key)) for key in (HOME, ROUNDS)]
    made = await rest.combine(legs, "bet-1")
    assert [leg["market_offer_id"] for leg in made["legs"]] == [market for _, market in legs]
    assert (await rest.combine(legs, "bet-1"))["id"] == made["id"]
    assert (await rest.combination(made["id"]))["status"] == "open"
    with pytest.raises(ClientError, match="this is leg 1 again"):
        await rest.combine([legs[0], legs[0]])


async def test_what_a_bet_is_worth(rest: Rest, store: Store, live: Match) -> None:
    market = (await stored.book(store, live))[HOME]
    bet = await rest.cash_out(match_urn(live.number), market_name(*HOME), Decimal("2.5"), Decimal(10))
    assert bet["fair_value"] == pytest.approx(25 * market.probability, abs=0.01)
    assert bet["cash_out"] < bet["fair_value"]
    with pytest.raises(ClientError, match="Odds are a number above 1"):
        await rest.cash_out(match_urn(live.number), market_name(*HOME), Decimal(1), Decimal(10))


async def test_prices_of_all_pages(rest: Rest, store: Store, live: Match) -> None:
    name = market_name(*HOME)
    rows = [row async for row in rest.prices(match_urn(live.number))]
    own = [row async for row in rest.prices(match_urn(live.number), name)]
    assert own == [row for row in rows if row["market_offer_id"] == name] and len(rows) > 200
    assert own[-1]["odds"] == float((await stored.book(store, live))[HOME].odds)
    assert [row async for row in rest.prices(match_urn(live.number), since_seq=rows[-1]["seq"])] == []
