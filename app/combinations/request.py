"""Price combinations for a tenant, and store them."""

from collections.abc import Iterator, Sequence
from operator import itemgetter
from uuid import UUID, uuid4

import msgspec
from msgspec.structs import replace

from app.domain.combination import MIN_LEGS, Combination, CombinationLeg, CombinedMatch, Price, product
from app.domain.doubts import public_reason
from app.domain.ids import match_number, match_uuid
from app.domain.market import ACTIVE, Book, Market, MarketKey, market_name
from app.domain.match import Match
from app.domain.suspension_reasons import pause_reason
from app.domain.tenant import Grant, Tenant
from app.kit.clock import Clock
from app.kit.errors import Conflict, Field, Invalid
from app.kit.heavy_work import run_in_thread
from app.store import combinations, markets, matches, tenants
from app.store.combinations import EncodedState, PricedState
from app.store.connections import Store
from app.store.transaction import Tx
from app.trading.combinations import CombinationRefused, CombinedPrice, available, combine
from app.trading.forecast import Forecast
from app.trading.match_facts import collect_facts

#: Ingest prices live rounds anew as often: what is priced within one such step is priced by one state.
_STEP_MILLIS = 250
Loc = tuple[str | int, ...]


class WantedLeg(msgspec.Struct, frozen=True):
    """A leg as a client names it: its match by UUID or ``od:match:<n>``, its market by type and specifiers;
    `loc` is its place in the request."""

    match: str
    type_id: int
    specifiers: str
    loc: Loc

    @property
    def key(self) -> MarketKey:
        return self.type_id, self.specifiers


class _Legs(msgspec.Struct, frozen=True):
    """The legs of one match, and their places in the combination; the match with its open markets, and when
    its prices may next change because time passes (ms)."""

    match: Match
    markets: Sequence[Market]
    places: tuple[int, ...] = ()
    keys: tuple[MarketKey, ...] = ()
    reprice_at: int | None = None

    def state(self, now: int) -> PricedState:
        """What the legs are priced by at `now` (ms): the same for every tenant."""
        active = tuple(market for market in self.markets if market.status is ACTIVE)
        seen_at = now - now % _STEP_MILLIS if self.match.current else 0
        return PricedState(self.match, active, seen_at)


class _PricedLegs(msgspec.Struct, frozen=True):
    """The legs of one match with their price, and what they were priced by; `further`: the markets that may
    be added."""

    legs: _Legs
    price: CombinedPrice
    state: EncodedState
    priced_at: int
    further: tuple[MarketKey, ...] = ()
    every: tuple[MarketKey, ...] = ()


class Selections(msgspec.Struct, frozen=True):
    """Markets of a match by whether they can be part of a combination with what is in it: `chosen` are in it,
    `further` can be added, `every` can be part of a combination at all."""

    match_number: int
    chosen: tuple[MarketKey, ...]
    further: tuple[MarketKey, ...]
    every: tuple[MarketKey, ...]


class Calculation(msgspec.Struct, frozen=True):
    """A price, of a combination that is stored if there is more than one leg; and by match which markets go
    with its legs."""

    price: Price
    combination: Combination | None
    selections: tuple[Selections, ...]


class CombinationService(msgspec.Struct, frozen=True):
    """Prices and stores combinations."""

    store: Store
    clock: Clock

    async def create(
        self, grant: Grant, legs: Sequence[WantedLeg], request_id: str | None = None
    ) -> Combination:
        """The stored combination of these legs; of a `request_id` that is repeated, the first one. Raises
        `Invalid` with what is wrong with each leg, `Conflict` for a `request_id` of other legs."""
        if request_id is not None and (known := await self._known(grant, legs, request_id)):
            return known
        priced = await self._priced(grant, legs)
        combination = await self._stored(grant.tenant, len(legs), priced, request_id)
        if combination is None and request_id is not None:  # a request at the same time was first
            combination = await self._known(grant, legs, request_id)
        if combination is None:
            raise Conflict("This combination cannot be stored; send the request again.")
        return combination

    async def calculate(self, grant: Grant, legs: Sequence[WantedLeg]) -> Calculation:
        """The price of these legs and what goes with them; raises `Invalid`."""
        priced = await self._priced(grant, legs, with_further=True)
        price = product(Price(one.price.odds, one.price.probability) for one in priced)
        stored = await self._stored(grant.tenant, len(legs), priced) if len(legs) >= MIN_LEGS else None
        selections = tuple(
            Selections(one.legs.match.number, one.legs.keys, one.further, one.every) for one in priced
        )
        return Calculation(price, stored, selections)

    async def selections(self, grant: Grant, ref: str) -> tuple[Match, tuple[MarketKey, ...]] | None:
        """The match that `ref` names, and its markets that can be part of a combination: none of a match that
        may not be bet on. None for a match that this key may not see."""
        async with self.store.snapshot() as tx:
            match = await matches.find(tx, ref, finished_only=grant.finished_only)
            if match is None:
                return None
            if await _refusal(tx, grant, match):
                return match, ()
            legs = _Legs(match, await markets.open_of_match(tx, match.id))
        return match, await run_in_thread(_available, grant.tenant, legs, self.clock())

    async def _known(self, grant: Grant, legs: Sequence[WantedLeg], request_id: str) -> Combination | None:
        """The tenant's combination with that request id; raises `Conflict` if it has other legs."""
        async with self.store.snapshot() as tx:
            found = await combinations.by_request(tx, grant.tenant.id, request_id)
        if found is None:
            return None
        names = {one.match_id: one.number for one in found.matches}
        same = len(legs) == len(found.legs) and all(
            leg.key == known.key
            and (match_number(leg.match) == names[known.match_id] or match_uuid(leg.match) == known.match_id)
            for leg, known in zip(legs, found.legs, strict=True)
        )
        if not same:
            raise Conflict(
                f"The request id {request_id!r} was used for another combination: choose a new one."
            )
        return found

    async def _priced(
        self, grant: Grant, legs: Sequence[WantedLeg], *, with_further: bool = False
    ) -> list[_PricedLegs]:
        """The price of each match's legs at this moment; raises `Invalid` with what is wrong with each leg.
        Matches are priced by calls of their own, between which other tenants have theirs."""
        async with self.store.snapshot() as tx:
            groups = await _by_match(tx, grant, legs)
        now, priced, wrong = self.clock(), list[_PricedLegs](), list[tuple[int, Field]]()
        for group in groups:
            try:
                priced.append(await run_in_thread(_price, grant.tenant, group, now, with_further))
            except CombinationRefused as refused:
                wrong += _problems(refused, group, legs)
        if wrong:
            raise Invalid(*[field for _, field in sorted(wrong, key=itemgetter(0))])
        return priced

    async def _stored(
        self, tenant: Tenant, count: int, priced: Sequence[_PricedLegs], request_id: str | None = None
    ) -> Combination | None:
        """The combination, stored; None if the tenant has one with its request id."""
        combination = _combination(tenant.id, self.clock(), count, priced, request_id)
        async with self.store.transaction() as tx:
            added = await combinations.add(tx, combination, [one.state for one in priced])
        return combination if added else None


def tenant_book(tenant: Tenant, found: Sequence[Market]) -> Book:
    """The open markets as this tenant is offered them: the only place that knows a tenant's odds of a
    leg."""
    return {market.key: market for market in tenant.offer.now.markets_in_list(found)}


async def _by_match(tx: Tx, grant: Grant, legs: Sequence[WantedLeg]) -> list[_Legs]:
    """The legs by match, in the order of their first; raises `Invalid` for matches that may not be bet on."""
    found: dict[UUID, tuple[Match, list[int]]] = {}
    wrong: list[Field] = []
    known: dict[str, Match | Field] = {}
    for place, leg in enumerate(legs):
        if leg.match not in known:
            known[leg.match] = await _match(tx, grant, leg)
        match = known[leg.match]
        if isinstance(match, Field):
            wrong.append(replace(match, loc=leg.loc))
        else:
            found.setdefault(match.id, (match, []))[1].append(place)
    if wrong:
        raise Invalid(*wrong)
    return [await _legs(tx, match, places, legs) for match, places in found.values()]


async def _legs(tx: Tx, match: Match, places: Sequence[int], legs: Sequence[WantedLeg]) -> _Legs:
    present, keys = await markets.open_of_match(tx, match.id), tuple(legs[place].key for place in places)
    live = match.current is not None and match.current.phase == "live"
    reprice_at = await matches.reprice_at(tx, match.id) if live else None
    return _Legs(match, present, tuple(places), keys, reprice_at)


async def _match(tx: Tx, grant: Grant, leg: WantedLeg) -> Match | Field:
    """The match of a leg, or why it cannot be part of a combination."""
    match = await matches.find(tx, leg.match, finished_only=grant.finished_only)
    if match is None:
        return Field(leg.loc, f"There is no match {leg.match!r}.", "unknown_match", leg.match)
    refused = await _refusal(tx, grant, match)
    return Field(leg.loc, refused[1], refused[0], leg.match) if refused else match


async def _refusal(tx: Tx, grant: Grant, match: Match) -> tuple[str, str] | None:
    """Why no bet on the match is taken, as a code and a sentence."""
    if match.over:
        return "match_over", "This match is over: nothing of it is on offer."
    if not await tenants.booked(tx, grant.tenant.id, [match.id]):
        return "not_booked", "You have not booked this match: book it first."
    if reason := public_reason(match) or pause_reason(match):
        return "match_suspended", f"This match is suspended: {reason}. Try again when its markets are active."
    return None


def _price(tenant: Tenant, legs: _Legs, now: int, with_further: bool) -> _PricedLegs:
    """The price of one match's legs at `now` (ms); raises `CombinationRefused`."""
    state, book = legs.state(now), tenant_book(tenant, legs.markets)
    forecast = forecast_of(state)
    price = combine(forecast, book, legs.keys)
    further = tuple(available(forecast, book, legs.keys)) if with_further else ()
    every = tuple(available(forecast, book)) if with_further else ()
    return _PricedLegs(legs, price, combinations.encode_state(state), state.now or now, further, every)


def forecast_of(state: PricedState) -> Forecast:
    """The forecast by which a state's combinations are priced."""
    return Forecast(collect_facts(state.match, ()), state.now)


def _available(tenant: Tenant, legs: _Legs, now: int) -> tuple[MarketKey, ...]:
    return tuple(available(forecast_of(legs.state(now)), tenant_book(tenant, legs.markets)))


def _problems(
    refused: CombinationRefused, group: _Legs, legs: Sequence[WantedLeg]
) -> Iterator[tuple[int, Field]]:
    """What is wrong, each with the place of its leg in the whole combination."""
    for problem in refused.problems:
        place = group.places[problem.leg]
        others = [group.places[other] for other in problem.with_legs]
        context = {"with_legs": others} if others else None
        name = market_name(*legs[place].key)
        yield place, Field(legs[place].loc, problem.message, problem.code, name, context)


def _combination(
    tenant_id: UUID, now: int, count: int, priced: Sequence[_PricedLegs], request_id: str | None
) -> Combination:
    legs: dict[int, CombinationLeg] = {}
    for one in priced:
        for place, leg in zip(one.legs.places, one.price.legs, strict=True):
            legs[place] = CombinationLeg(one.legs.match.id, *leg.key, leg.odds, leg.probability)
    price = product(Price(one.price.odds, one.price.probability) for one in priced)
    return Combination(
        id=uuid4(),
        tenant_id=tenant_id,
        created_at=now,
        odds=price.odds,
        probability=price.probability,
        legs=tuple(legs[place] for place in range(count)),
        matches=tuple(map(_combined_match, priced)),
        request_id=request_id,
    )


def _combined_match(one: _PricedLegs) -> CombinedMatch:
    match = one.legs.match
    return CombinedMatch(
        match_id=match.id,
        number=match.number,
        seq=match.last_seq,
        priced_at=one.priced_at,
        valid_until=one.legs.reprice_at,
        state=one.state.name,
        odds=one.price.odds,
        probability=one.price.probability,
    )
