"""The markets that the state of a match demands to be on offer, priced."""

from collections.abc import Iterable, Mapping

import msgspec

from app.domain.market import Book, Market, MarketKey, MarketStatus
from app.trading.closing import MAX_PROBABILITY, MIN_PROBABILITY, Closing, PricedMember
from app.trading.forecast import Forecast
from app.trading.ladder import Ladder, choose, nearest
from app.trading.margin import shares as shares_of
from app.trading.match_phase import is_live, maps_to_come
from app.trading.pricing_config import PricingConfig
from app.trading.registry import RULES
from app.trading.rules import Rule
from app.trading.specifiers import Specifiers

#: Smaller moves of a probability than this are not published.
MIN_MOVE = 0.0025
#: Why a market is suspended that the state of the match does not demand.
OFF_OFFER = "not on offer now"


class Offer(msgspec.Struct, frozen=True):
    """A market to offer: its key, its group, the model's probability, and its inverse odds."""

    key: MarketKey
    specifiers: Specifiers
    group: str
    probability: float
    share: float

    @property
    def type_id(self) -> int:
        return self.key[0]


def priced_offers(forecast: Forecast, book: Book, pricing: PricingConfig) -> list[Offer]:
    """Every market that may be on offer, with its price by `forecast`; closed ones are left out."""
    closing = Closing(forecast, pricing.bet_delay_seconds)
    lines = _Lines(forecast, book)
    groups: dict[str, list[PricedMember]] = {}
    for rule in RULES.values():
        for specifiers in lines.on_offer(rule):
            known = book.get((rule.id, specifiers.text))
            if known is not None and (known.closed or known.held):
                continue
            member = (rule.id, specifiers, rule.price(forecast, specifiers))
            groups.setdefault(rule.group(specifiers), []).append(member)
    return [
        offer
        for name, members in groups.items()
        if not closing.closes(members)
        for offer in _price_group(name, members, pricing.margin)
    ]


def possible_offers(rule: Rule, forecast: Forecast) -> Iterable[Specifiers]:
    """The type's markets that could be on offer now: of a type with lines every one that is not decided."""
    for specifiers in rule.opens(forecast.facts):
        if rule.ladder is None:
            yield specifiers
        else:
            for line, _ in rule.ladder.lines(forecast, specifiers):
                yield rule.ladder.place(specifiers, line)


class _Lines:
    """Which lines are on offer, given those that were until now. They move between rounds: in a live round
    none comes on."""

    def __init__(self, forecast: Forecast, book: Book) -> None:
        self._forecast = forecast
        self._live = is_live(forecast.facts)
        self._ahead = maps_to_come(forecast.facts)
        self._on_offer: set[str] = set()
        self._unavailable: set[str] = set()
        for market in book.values():
            if market.status is MarketStatus.ACTIVE:
                self._on_offer.add(market.group)
            elif market.closed or market.held:
                self._unavailable.add(market.group)
            elif market.status is MarketStatus.SUSPENDED and market.reason != OFF_OFFER:
                # Suspended with the whole match: it comes back with it.
                self._on_offer.add(market.group)
        self._chosen: dict[str, list[float]] = {}

    def on_offer(self, rule: Rule) -> Iterable[Specifiers]:
        """The type's markets that are on offer now."""
        opened, ladder = rule.opens(self._forecast.facts), rule.ladder
        if ladder is None:
            return opened
        return [
            ladder.place(specifiers, line)
            for specifiers in opened
            for line in self._lines(rule, ladder, specifiers)
        ]

    def _lines(self, rule: Rule, ladder: Ladder, base: Specifiers) -> list[float]:
        """The same for all members of a group."""
        name = rule.group(base)
        known = self._chosen.get(name)
        if known is None:
            known = self._chosen[name] = self._choose(rule, ladder, base)
        return known

    def _choose(self, rule: Rule, ladder: Ladder, base: Specifiers) -> list[float]:
        size = ladder.ahead if base.map in self._ahead else ladder.size
        near = nearest(ladder.lines(self._forecast, base), size)
        groups = {line: rule.group(ladder.place(base, line)) for line, _ in near}
        free = [(line, chance) for line, chance in near if groups[line] not in self._unavailable]
        standing = {line for line, group in groups.items() if group in self._on_offer}
        return choose(free, standing, 0 if self._live else size)


def _price_group(group: str, members: list[PricedMember], margin: float) -> list[Offer]:
    """The group's offers; none when a probability is out of bounds, or when one of its markets is missing."""
    probabilities = [probability for _, _, probability in members]
    low, top = min(probabilities), max(probabilities)
    if abs(sum(probabilities) - 1) > 1e-6 or low <= 0 or top > MAX_PROBABILITY:
        return []
    if len(members) < 3 and low < MIN_PROBABILITY:
        return []
    return [
        Offer((type_id, specifiers.text), specifiers, group, probability, share)
        for (type_id, specifiers, probability), share in zip(
            members, shares_of(probabilities, margin), strict=True
        )
    ]


def has_moved(step: float, offers: Iterable[Offer], book: Mapping[MarketKey, Market]) -> bool:
    """Whether these offers, which depend on each other, differ enough from the book to be published along
    with others."""
    return any(_differs(step, offer, book.get(offer.key)) for offer in offers)


def has_moved_by(step: float, offers: Iterable[Offer], book: Mapping[MarketKey, Market]) -> bool:
    """Whether an offer is not in the book, or its odds differ by this fraction or more."""
    return any(differs_by(step, offer.probability, book.get(offer.key)) for offer in offers)


def differs_by(step: float, probability: float, market: Market | None) -> bool:
    """Whether a market has to be opened at this probability, or its odds differ by this fraction or more."""
    if market is None or market.status is not MarketStatus.ACTIVE:
        return True
    return abs(probability / market.probability - 1) >= step


def _differs(step: float, offer: Offer, market: Market | None) -> bool:
    if market is not None and abs(market.probability - offer.probability) >= MIN_MOVE:
        return True
    return differs_by(step, offer.probability, market)
