"""Reference prices of a match beside ours, as operators see them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import median

import msgspec

from app.commands.match_references import Looked, follows
from app.domain.market import Book, MarketKey
from app.domain.match import Match
from app.domain.references import ReferenceState, ReferenceStatus
from app.kit.clock import iso_millis
from app.kit.grouping import grouped
from app.store.reference_prices import ReferencePrice
from app.trading.divergence import FOLLOWED, blended_chance, own_chance
from app.trading.pricing import PricingConfig
from app.trading.reference_prices import Reading, fair
from app.trading.registry import RULES
from app.trading.rules import parse_specifiers


class SourceReading(msgspec.Struct, frozen=True):
    """What a source says of the match's winner: its odds for both teams, the older of which was set at `at`;
    home's probability without the margin, null where the odds are none of a bookmaker; why it does not count,
    empty if it does."""

    source: str
    home_odds: float
    away_odds: float
    at: str
    age_seconds: int
    home: float | None
    refused: str


class SourcePrice(msgspec.Struct, frozen=True):
    """A source's newest price of a market; `probability` is without the margin, null where the source's price
    of a market of the same group is missing."""

    source: str
    odds: float
    at: str
    probability: float | None


class ReferenceMarket(msgspec.Struct, frozen=True):
    """A market that sources have a price of. `ours` is the probability that it is priced by, null while it is
    not open; `theirs` the median over the sources."""

    market_id: int
    specifiers: str
    ours: float | None
    theirs: float | None
    sources: tuple[SourcePrice, ...]


class ReferencesView(msgspec.Struct, frozen=True):
    """What the match's prices rest on. `state`: none (no source has a usable price), stale (too old),
    disagreeing (the sources differ too far from each other), switched_off, followed, or diverged: followed,
    and further from ours than a setting. `switch` is what an operator chose, null: the installation's
    setting; `follows` is what holds. Home's probabilities to win the match before play: by our ratings
    (`own`), by the sources (`theirs`), and the one that prices rest on (`blend`), in which theirs counts by
    `weight`, 0 to 1. `divergence`: the logit of theirs minus that of ours; `suspended`: the match was
    suspended for it."""

    state: ReferenceState
    switch: bool | None
    follows: bool
    own: float
    theirs: float | None
    blend: float
    weight: float
    divergence: float | None
    suspended: bool
    sources: tuple[SourceReading, ...]
    markets: tuple[ReferenceMarket, ...]


def in_words(status: ReferenceStatus) -> str:
    """Whether reference prices count, and of how many sources."""
    if status.state == "none":
        return "no references"
    if status.state not in FOLLOWED:
        return status.state.replace("_", " ")
    return f"{status.state}, of {status.sources} source{'' if status.sources == 1 else 's'}"


def references_view(
    match: Match, looked: Looked, book: Book, now: int, config: PricingConfig
) -> ReferencesView:
    status = match.references
    return ReferencesView(
        state=status.state,
        switch=match.follows_references,
        follows=follows(match, config),
        own=round(own_chance(match), 4),
        theirs=None if status.home is None else round(status.home, 4),
        blend=round(blended_chance(match), 4),
        weight=round(match.anchor.weight, 4) if match.anchor else 0.0,
        divergence=status.divergence if match.anchor else None,
        suspended=status.far,
        sources=tuple(_reading(one, now) for one in looked.consensus.readings),
        markets=tuple(_markets(looked.prices, book)),
    )


def _reading(one: Reading, now: int) -> SourceReading:
    quote = one.quote
    return SourceReading(
        source=quote.source,
        home_odds=quote.home,
        away_odds=quote.away,
        at=iso_millis(quote.at),
        age_seconds=(now - quote.at) // 1000,
        home=None if one.home is None else round(one.home, 4),
        refused=one.refused,
    )


def _markets(prices: Sequence[ReferencePrice], book: Book) -> Iterable[ReferenceMarket]:
    fairly = _fair(prices, book)
    of_markets = grouped(((one.type_id, one.specifiers), one) for one in prices)
    for key, offered in sorted(of_markets.items()):
        sources = tuple(
            SourcePrice(one.source, one.odds, iso_millis(one.at), fairly.get((one.source, key)))
            for one in offered
        )
        known = [one.probability for one in sources if one.probability is not None]
        ours = book.get(key)
        yield ReferenceMarket(
            *key,
            ours=ours.probability if ours and ours.open else None,
            theirs=round(median(known), 4) if known else None,
            sources=sources,
        )


def _fair(prices: Sequence[ReferencePrice], book: Book) -> dict[tuple[str, MarketKey], float]:
    """The probability without margin of each source's price, where it has one of every market of its
    group."""
    groups: dict[str, set[MarketKey]] = defaultdict(set)
    for market in book.values():
        groups[market.group].add(market.key)
    offered: dict[tuple[str, str], dict[MarketKey, float]] = defaultdict(dict)
    for one in prices:
        group = RULES[one.type_id].group(parse_specifiers(one.specifiers))
        offered[one.source, group][one.type_id, one.specifiers] = one.odds
    return {
        (source, key): round(probability, 4)
        for (source, group), odds in offered.items()
        if len(odds) > 1 and groups[group] == odds.keys()
        for key, probability in zip(odds, fair(tuple(odds.values())), strict=True)
    }
