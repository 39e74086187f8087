"""Combinations as clients of the established layout request and receive them ("custom bets").

A request names its selections in one of two shapes, both with or without a namespace:

    <selections><selection id="od:match:1" market_id="1" specifiers="team=home" outcome_id="1"/></selections>
    <filterSelections><selection id="od:match:1"><market market_id="1" …/></selection></filterSelections>
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from xml.parsers import expat

import msgspec

from app.domain.catalogue import OUTCOME_ID
from app.domain.combination import MAX_LEGS
from app.domain.ids import match_urn
from app.domain.market import MarketKey
from app.kit.errors import BadRequest, Field, Invalid
from app.wire.generated import facade

_OUTCOME = str(OUTCOME_ID)
_HIGHEST = 2**31 - 1
_SHAPES = {
    ("selections",): (),
    ("selections", "selection"): ("id", "market_id", "outcome_id"),
    ("filterSelections",): (),
    ("filterSelections", "selection"): ("id",),
    ("filterSelections", "selection", "market"): ("market_id", "outcome_id"),
}
_WITH_MARKET = {("selections", "selection"), ("filterSelections", "selection", "market")}
_NAMESPACE = "}"  #: between an element's namespace and its name


class Selection(msgspec.Struct, frozen=True):
    """A selection: the match as it was named, and the market."""

    event: str
    market_id: int
    specifiers: str


class CalculatedPrice(msgspec.Struct, frozen=True):
    """Odds with margin; `probability` without, None for those who do not receive probabilities."""

    odds: Decimal
    probability: float | None


class _Reader:
    """Reads the elements of one request, and remembers what is wrong with them."""

    def __init__(self) -> None:
        self.path: tuple[str, ...] = ()
        self.event = ""
        self.found: list[Selection] = []
        self.wrong: list[Field] = []
        self.count = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self.path = (*self.path, name.rpartition(_NAMESPACE)[2])
        needed = _SHAPES.get(self.path)
        if needed is None:
            where = "/".join(self.path)
            what = f"<{where}> is no selection: send <selections> or <filterSelections>."
            raise Invalid(Field(("body", *self.path[:1]), what, "unknown_element"))
        self.event = attributes.get("id", self.event)
        if self.path in _WITH_MARKET:
            self._select(needed, attributes)
        else:
            self._refuse_missing(needed, attributes)

    def end(self, _: str) -> None:
        self.path = self.path[:-1]

    def _select(self, needed: Iterable[str], attributes: Mapping[str, str]) -> None:
        """Read one selection."""
        number = attributes.get("market_id", "")
        before = len(self.wrong)
        self._refuse_missing(needed, attributes)
        if number and not (number.isascii() and number.isdigit() and 0 < int(number[:11]) <= _HIGHEST):
            what = "A market is named by the number of its type in the catalogue."
            self.wrong.append(Field((*self._loc, "market_id"), what, "market_id", number))
        if attributes.get("outcome_id", _OUTCOME) != _OUTCOME:
            what = f"Every market has one outcome, {_OUTCOME}."
            given = attributes["outcome_id"]
            self.wrong.append(Field((*self._loc, "outcome_id"), what, "unknown_outcome", given))
        if len(self.wrong) == before:
            self.found.append(Selection(self.event, int(number), attributes.get("specifiers", "")))
        self.count += 1

    def _refuse_missing(self, needed: Iterable[str], attributes: Mapping[str, str]) -> None:
        for name in needed:
            if not attributes.get(name):
                self.wrong.append(Field((*self._loc, name), "This is required.", "missing"))

    @property
    def _loc(self) -> tuple[str | int, ...]:
        return "body", "selection", self.count


def _refuse_doctype(*_: object) -> None:
    raise BadRequest("A document type is not accepted: send the selections alone.")


def parse_selections(body: bytes, least: int) -> list[Selection]:
    """The selections of a request, at `least` so many and 10 at most. Raises `BadRequest` for a body that is
    not XML or declares a document type, so that there are no entities, and `Invalid` with what is wrong with
    each selection."""
    reader, parser = _Reader(), expat.ParserCreate(namespace_separator=_NAMESPACE)
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        parser.Parse(body, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise BadRequest(f"This body is not XML: {error}.") from error
    if not least <= reader.count <= MAX_LEGS:
        what = f"Send {least} to {MAX_LEGS} selections; there are {reader.count}."
        reader.wrong.append(Field(("body",), what, "number_of_selections"))
    if reader.wrong:
        raise Invalid(*reader.wrong)
    return reader.found


def available_selections(event_id: str, keys: Iterable[MarketKey]) -> bytes:
    """What of a match can be part of a combination."""
    return facade.write_available_selections(facade.AvailableSelections(event=_selectable(event_id, keys)))


def calculation_response(price: CalculatedPrice, further: Iterable[tuple[int, Iterable[MarketKey]]]) -> bytes:
    """A price, and what can be added to the legs, by the number of each match."""
    events = tuple([_selectable(match_urn(number), keys) for number, keys in further])
    return facade.write_calculation_response(
        facade.CalculationResponse(
            calculation=_calculation(price), available_selections=facade.FurtherSelections(event=events)
        )
    )


def filtered_calculation_response(
    price: CalculatedPrice, selectable: Iterable[tuple[int, Mapping[MarketKey, bool]]]
) -> bytes:
    """A price, and what can be selected: by the number of each match its markets, and whether each conflicts
    with the legs."""
    events = tuple([_filtered(match_urn(number), conflicts) for number, conflicts in selectable])
    return facade.write_filtered_calculation_response(
        facade.FilteredCalculationResponse(
            calculation=_calculation(price), available_selections=facade.FilteredSelections(event=events)
        )
    )


def _calculation(price: CalculatedPrice) -> facade.Calculation:
    probability = 1 / float(price.odds) if price.probability is None else price.probability
    return facade.Calculation(odds=price.odds, probability=Decimal(f"{probability:.9f}"))


def _selectable(event_id: str, keys: Iterable[MarketKey]) -> facade.SelectableEvent:
    outcome = (facade.SelectableOutcome(id=_OUTCOME),)
    markets: Sequence[facade.SelectableMarket] = [
        facade.SelectableMarket(id=type_id, specifiers=specifiers or None, outcome=outcome)
        for type_id, specifiers in sorted(keys)
    ]
    listed = facade.SelectableMarkets(market=tuple(markets)) if markets else None
    return facade.SelectableEvent(id=event_id, markets=listed)


def _filtered(event_id: str, conflicts: Mapping[MarketKey, bool]) -> facade.FilteredEvent:
    markets = [
        facade.FilteredMarket(
            id=type_id,
            specifiers=specifiers or None,
            conflict=conflict,
            outcome=(facade.FilteredOutcome(id=_OUTCOME, conflict=conflict),),
        )
        for (type_id, specifiers), conflict in sorted(conflicts.items())
    ]
    listed = facade.FilteredMarkets(market=tuple(markets)) if markets else None
    return facade.FilteredEvent(id=event_id, markets=listed)
