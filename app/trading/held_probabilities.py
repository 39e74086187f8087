"""When a probability that a trader holds ends."""

from collections.abc import Sequence

from msgspec.structs import replace

from app.domain.changes import (
    FormatChanged,
    MapFinished,
    MatchCancelled,
    MatchChange,
    RoundsReinstated,
    RoundsVoided,
)
from app.domain.doubts import PRICE
from app.domain.market import Book
from app.domain.match import Match
from app.domain.trading_controls import HeldProbability
from app.trading.forecast import Forecast
from app.trading.match_facts import MatchFacts, collect_facts
from app.trading.offer_plan import PricedGroup, groups_on_offer
from app.trading.offers import Certainty, is_within_bounds
from app.trading.pricing import PricingConfig
from app.trading.registry import RULES
from app.trading.rules import parse_specifiers
from app.trading.settling import settlement_of


def without_ended(
    match: Match, changes: Sequence[MatchChange], book: Book, now: int, pricing: PricingConfig
) -> Match:
    """The match without the held probabilities that have ended: their result is certain, or all but certain
    by the model, a price has moved without a cause, or their round or map is over or void. `book` is that
    before a reaction at `now` (Unix ms) to `changes`."""
    facts = collect_facts(match, changes)
    forecast = Forecast(facts, now)
    certainty = Certainty(forecast, pricing.bet_delay_seconds)
    groups = {group.name: (group, prices) for group, prices in groups_on_offer(forecast, book)}
    stopped = any(doubt.kind == PRICE for doubt in match.doubts)
    held = tuple(
        [
            one
            for one in match.controls.held
            if not (
                stopped
                or any(_ends(change, one) for change in changes)
                or _is_closed(one, facts, book)
                or _is_certain(groups.get(one.group), certainty)
            )
        ]
    )
    if len(held) == len(match.controls.held):
        return match
    return replace(match, controls=replace(match.controls, held=held))


def _ends(change: MatchChange, held: HeldProbability) -> bool:
    """Whether what the held probability is about is over, or is played again: its map, the present one if it
    is about the match."""
    about = parse_specifiers(held.specifiers).map
    match change:
        case MapFinished():
            return about in (0, change.map.number)
        case RoundsVoided() | RoundsReinstated():
            return about in (0, change.map)
        case FormatChanged() | MatchCancelled():
            return True
    return False


def _is_closed(held: HeldProbability, facts: MatchFacts, book: Book) -> bool:
    """Whether the market has a result, or is about to have one."""
    market = book.get(held.market_key)
    if market is None or not market.open or facts.over:
        return True
    return settlement_of(RULES[held.type_id], facts, parse_specifiers(held.specifiers)) is not None


def _is_certain(priced: PricedGroup | None, certainty: Certainty) -> bool:
    """A group that is not on offer now may be again."""
    if priced is None:
        return False
    group, prices = priced
    low, top = min(prices), max(prices)
    return not is_within_bounds(len(prices), low, top) or certainty.is_certain(group, low, top)
