"""What the state of a match demands to be on offer, priced: the wanted side of the book."""

from collections.abc import Iterable, Mapping

import msgspec

from app.domain.market import Book, Market, MarketStatus
from app.trading import margin
from app.trading.forecast import Outlook
from app.trading.match_facts import Evidence
from app.trading.registry import RULES
from app.trading.settling import CLOSED
from app.trading.specifiers import Spec

#: Outside these a price says little and costs much: such a book is withheld.
_LEAST, _MOST = 0.02, 0.98
#: Smaller moves of a probability than this are not told while a round is played.
STILL = 0.0025


class Offer(msgspec.Struct, frozen=True):
    """A wanted market: its key, its book, the model's probability, and its share of the book."""

    type_id: int
    spec: Spec
    group: str
    probability: float
    share: float

    @property
    def key(self) -> tuple[int, str]:
        return self.type_id, self.spec.text


def wanted(evidence: Evidence, book: Book, markup: float) -> list[Offer]:
    """Every market that may be on offer now, with its price; closed ones are left out."""
    outlook = Outlook(evidence)
    groups: dict[str, list[tuple[int, Spec, float]]] = {}
    lone: list[list[tuple[int, Spec, float]]] = []
    for rule in RULES.values():
        for spec in rule.opens(evidence):
            known = book.get((rule.id, spec.text))
            if known is not None and (known.status in CLOSED or known.held):
                continue
            member = (rule.id, spec, rule.price(outlook, spec))
            if rule.lone:
                lone.append([member])
            else:
                groups.setdefault(rule.group(spec), []).append(member)
    offers = [offer for name, members in groups.items() for offer in _priced(name, members, markup)]
    return offers + [offer for members in lone for offer in _priced("", members, markup)]


def _priced(group: str, members: list[tuple[int, Spec, float]], markup: float) -> Iterable[Offer]:
    """The book's offers, or none when it is lopsided, or when a complement is missing from it."""
    total = sum(probability for _, _, probability in members)
    if group and abs(total - 1) > 1e-6:
        return
    top = max(probability for _, _, probability in members)
    low = min(probability for _, _, probability in members)
    if low <= 0 or top > _MOST or (len(members) < 3 and low < _LEAST):
        return
    shares = margin.shares([probability for _, _, probability in members], markup)
    for (type_id, spec, probability), share in zip(members, shares, strict=True):
        yield Offer(type_id, spec, group, probability, share)


def moved(offers: Iterable[Offer], book: Mapping[tuple[int, str], Market]) -> bool:
    """Whether these offers, which hang together, differ enough from the book to be told."""
    return any(_differs(offer, book.get(offer.key)) for offer in offers)


def _differs(offer: Offer, market: Market | None) -> bool:
    if market is None or market.status is not MarketStatus.ACTIVE:
        return True
    return abs(market.probability - offer.probability) >= STILL
