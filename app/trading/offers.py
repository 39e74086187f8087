"""The markets that the state of a match demands to be on offer, priced."""

from collections.abc import Iterable, Mapping

import msgspec

from app.domain.market import Book, Market, MarketKey, MarketStatus
from app.trading.closing import MAX_PROBABILITY, MIN_PROBABILITY, Closing
from app.trading.forecast import Forecast
from app.trading.margin import shares as shares_of
from app.trading.pricing_config import PricingConfig
from app.trading.registry import RULES
from app.trading.specifiers import Specifiers

#: Smaller moves of a probability than this are not published.
MIN_MOVE = 0.0025


class Offer(msgspec.Struct, frozen=True):
    """A market to offer: its key, its group, the model's probability, and its inverse odds."""

    type_id: int
    specifiers: Specifiers
    group: str
    probability: float
    share: float

    @property
    def key(self) -> MarketKey:
        return self.type_id, self.specifiers.text


def priced_offers(forecast: Forecast, book: Book, pricing: PricingConfig) -> list[Offer]:
    """Every market that may be on offer, with its price by `forecast`; closed ones are left out."""
    closing = Closing(forecast, pricing.bet_delay_seconds)
    groups: dict[str, list[tuple[int, Specifiers, float]]] = {}
    for rule in RULES.values():
        for specifiers in rule.opens(forecast.facts):
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


def _price_group(group: str, members: list[tuple[int, Specifiers, float]], margin: float) -> Iterable[Offer]:
    """The group's offers; none when a probability is out of bounds, or when one of its markets is missing."""
    total = sum(probability for _, _, probability in members)
    if abs(total - 1) > 1e-6:
        return
    top = max(probability for _, _, probability in members)
    low = min(probability for _, _, probability in members)
    if low <= 0 or top > MAX_PROBABILITY or (len(members) < 3 and low < MIN_PROBABILITY):
        return
    shares = shares_of([probability for _, _, probability in members], margin)
    for (type_id, specifiers, probability), share in zip(members, shares, strict=True):
        yield Offer(type_id, specifiers, group, probability, share)


def has_moved(offers: Iterable[Offer], book: Mapping[MarketKey, Market]) -> bool:
    """Whether these offers, which depend on each other, differ enough from the book to be published."""
    return any(_differs(offer, book.get(offer.key)) for offer in offers)


def has_moved_by(step: float, offers: Iterable[Offer], book: Mapping[MarketKey, Market]) -> bool:
    """Whether an offer is not in the book, or its odds differ by this fraction or more."""
    return any(differs_by(step, offer.probability, book.get(offer.key)) for offer in offers)


def differs_by(step: float, probability: float, market: Market | None) -> bool:
    """Whether a market has to be opened at this probability, or its odds differ by this fraction or more."""
    if market is None or market.status is not MarketStatus.ACTIVE:
        return True
    return abs(probability / market.probability - 1) >= step


def _differs(offer: Offer, market: Market | None) -> bool:
    if market is None or market.status is not MarketStatus.ACTIVE:
        return True
    return abs(market.probability - offer.probability) >= MIN_MOVE
