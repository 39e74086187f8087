from decimal import Decimal
from uuid import uuid4

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.domain.market import Market, MarketStatus, Result
from app.store import markets
from app.store.connections import Store
from tests.integration.store.conftest import NewMarket

anything = st.builds(
    Market,
    type_id=st.integers(1, 500),
    specifiers=st.sampled_from(["", "map=1", "map=1|round=3|team=home", "map=2|total=21.5"]),
    status=st.sampled_from(MarketStatus),
    odds=st.decimals("1.001", "999.999", places=3),
    probability=st.floats(0, 1),
    group=st.sampled_from(["", "map=1|round=3"]),
    reason=st.sampled_from(["", "round over"]),
    result=st.none() | st.sampled_from(Result),
    void_reason_id=st.none() | st.integers(1, 9),
    rests_on=st.lists(st.integers(1, 2**31), max_size=3).map(tuple),
    settled_by=st.sampled_from(["", "engine", "admin"]),
    opened_at=st.integers(0, 2**50),
    priced_at=st.integers(0, 2**50),
)


@given(st.lists(anything, max_size=30))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_every_market_comes_back_exactly(store: Store, offers: list[Market]) -> None:
    match_id = uuid4()
    async with store.transaction() as tx:
        await tx.write(markets.save_statements(match_id, offers))
        book = await markets.book(tx, match_id)
        active = await markets.open_of_match(tx, match_id)
    assert book == {offer.key: offer for offer in offers}
    assert {key: str(offer.odds) for key, offer in book.items()} == {o.key: str(o.odds) for o in offers}
    assert active == sorted((offer for offer in book.values() if offer.open), key=lambda offer: offer.key)


async def test_the_later_state_is_written(store: Store, market: NewMarket) -> None:
    match_id = uuid4()
    dearer = market(odds=Decimal("2.125"))
    settled = market(status=MarketStatus.SETTLED, result=Result.WON)
    async with store.transaction() as tx:
        await tx.write(markets.save_statements(match_id, [market(), dearer]))
        assert await markets.book(tx, match_id) == {dearer.key: dearer}
        await tx.write(markets.save_statements(match_id, [settled]))
        assert await markets.book(tx, match_id) == {settled.key: settled}
        assert await markets.open_of_match(tx, match_id) == []


async def test_matches_with_an_active_market(store: Store, market: NewMarket) -> None:
    offered, suspended = uuid4(), uuid4()
    async with store.transaction() as tx:
        await tx.write(markets.save_statements(offered, [market(), market("map=1|round=2")]))
        await tx.write(markets.save_statements(suspended, [market(status=MarketStatus.SUSPENDED)]))
        assert await markets.matches_with_active(tx) == [offered]
