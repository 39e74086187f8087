"""How stored combinations stand by the settlement ledger, and what they pay.

A leg that is void falls out, and the price is made again from the legs that are left, by the states at which
the whole was priced. It is stored when it was made first, so that another version of the models cannot change
it.
"""

from collections.abc import Sequence
from uuid import UUID

import msgspec
from msgspec.structs import replace

from app.combinations.request import forecast_of
from app.domain.combination import (
    STAKE_BACK,
    Combination,
    CombinationSettlement,
    CombinationStatus,
    CombinedMatch,
    Price,
    places_name,
    product,
    settlement_of,
)
from app.domain.market import Book
from app.domain.tenant import Grant
from app.kit.errors import NotFound
from app.kit.heavy_work import run_in_thread
from app.store import combinations
from app.store.combinations import Place, PricedState
from app.store.connections import Store
from app.store.transaction import Tx
from app.trading.combinations import combined_price


class SettledCombination(msgspec.Struct, frozen=True):
    """A combination and how it stands. `paid` are the odds that a won bet on it is paid at, those of the legs
    that are not void; None for one that is lost."""

    combination: Combination
    settlement: CombinationSettlement
    paid: Price | None


async def find(store: Store, grant: Grant, combination_id: UUID) -> SettledCombination:
    """The tenant's combination as it stands; raises `NotFound`."""
    async with store.snapshot() as tx:
        found = await combinations.get(tx, grant.tenant.id, combination_id, finished_only=grant.finished_only)
        if found is None:
            raise NotFound(f"There is no combination {combination_id}.")
        standings = await _standings(tx, [found])
    return await _with_price(store, found, standings[0])


async def page(
    store: Store, grant: Grant, *, since: int, after: Place | None, limit: int
) -> list[SettledCombination]:
    """At most `limit` of the tenant's combinations as they stand, priced since `since` (ms), oldest first,
    after the place `after`."""
    async with store.snapshot() as tx:
        found = await combinations.page(
            *(tx, grant.tenant.id), since=since, after=after, limit=limit, finished_only=grant.finished_only
        )
        standings = await _standings(tx, found)
    return [await _with_price(store, one, standing) for one, standing in zip(found, standings, strict=True)]


async def _standings(tx: Tx, found: Sequence[Combination]) -> list[CombinationSettlement]:
    markets = {(leg.match_id, leg.key) for one in found for leg in one.legs}
    ledger = await combinations.ledger_of(tx, markets)
    return [settlement_of(one, ledger) for one in found]


async def _with_price(
    store: Store, combination: Combination, standing: CombinationSettlement
) -> SettledCombination:
    if standing.status is CombinationStatus.LOST:
        return SettledCombination(combination, standing, None)
    if standing.status is CombinationStatus.VOID:
        return SettledCombination(combination, standing, Price(STAKE_BACK, 1.0))
    if not standing.reduced:
        return SettledCombination(combination, standing, combination.price)
    name = places_name(standing.counting)
    price = combination.remade.get(name)
    if price is None:
        price = await _made_again(store, combination, standing.counting)
        async with store.transaction() as tx:
            await combinations.add_price(tx, combination.id, name, price)
    return SettledCombination(combination, standing, price)


async def _made_again(store: Store, combination: Combination, counting: Sequence[int]) -> Price:
    """The price of the legs at these places."""
    prices: list[Price] = []
    for match in combination.matches:
        legs = [place for place, leg in enumerate(combination.legs) if leg.match_id == match.match_id]
        left = [place for place in legs if place in counting]
        if left == legs:
            prices.append(Price(match.odds, match.probability))
        elif left:
            state = await _state(store, match)
            prices.append(await run_in_thread(_combined, combination, left, state))
    return product(prices)


async def _state(store: Store, match: CombinedMatch) -> PricedState:
    async with store.autocommit() as tx:
        state = await combinations.state(tx, match.match_id, match.state)
    if state is None:
        raise RuntimeError(f"the state {match.state} of match {match.match_id} is not stored")
    return state


def _combined(combination: Combination, places: Sequence[int], state: PricedState) -> Price:
    """The price of legs of one match by its stored state, at the odds that the tenant had of each."""
    legs = [combination.legs[place] for place in places]
    book: Book = {market.key: market for market in state.markets}
    for leg in legs:
        book[leg.key] = replace(book[leg.key], odds=leg.odds)
    made = combined_price(forecast_of(state), book, [leg.key for leg in legs])
    return Price(made.odds, made.probability)
