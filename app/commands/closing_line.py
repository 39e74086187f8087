"""The closing-line report: our prices beside the market's at fixed times before play, of matches that have
begun.

Before play our prices are recorded beside theirs whenever either changes (`record`).
"""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from app.domain.market import Market, MarketKey, Result
from app.domain.match import Match
from app.store import prematch_prices
from app.store.prematch_prices import Begun, Moment, PrematchPrice
from app.store.transaction import Tx
from app.trading.closing_line import Comparison, PricedGroup, PricedMarket, compared, fair_medians
from app.trading.divergence import own_chance
from app.trading.registry import RULES

MomentName = Literal["24h", "6h", "1h", "5m", "start"]
#: The times before play, in ms, by name.
MOMENTS: dict[MomentName, int] = {
    "24h": 86_400_000,
    "6h": 21_600_000,
    "1h": 3_600_000,
    "5m": 300_000,
    "start": 0,
}
MOMENT_NAMES = {millis: name for name, millis in MOMENTS.items()}


class ComparedMatch(NamedTuple):
    """A match and its groups at each moment that has both prices."""

    match: Begun
    groups: tuple[PricedGroup, ...]


class ClosingLine(NamedTuple):
    """What is compared, and each match."""

    comparisons: list[Comparison]
    matches: list[ComparedMatch]


async def record(tx: Tx, match: Match, markets: Iterable[Market], now: int) -> None:
    """Record our prices before play of markets that have reference prices; nothing where the match has
    none."""
    if match.references.state == "none":
        return
    home = own_chance(match)
    own = {(1, "team=home"): home, (1, "team=away"): 1 - home}
    await prematch_prices.record(tx, match.id, markets, own, now)


async def report(tx: Tx, since: int, until: int, *, limit: int, stale_millis: int) -> ClosingLine:
    """The report on the newest `limit` matches that began in [since, until) (Unix ms) and have reference
    prices."""
    begun = await prematch_prices.begun(tx, since, until, limit=limit)
    ids, moments = [match.id for match in begun], list(MOMENTS.values())
    theirs = await prematch_prices.references_before(tx, ids, moments, stale_millis)
    ours = await prematch_prices.ours_before(tx, ids, moments)
    results = await prematch_prices.results(tx, ids)
    found = [
        ComparedMatch(match, tuple(_groups(match, results.get(match.id, {}), ours, theirs)))
        for match in begun
    ]
    return ClosingLine(compared(group for match in found for group in match.groups), found)


def _groups(
    match: Begun,
    results: dict[str, dict[MarketKey, Result | None]],
    ours: dict[Moment, dict[MarketKey, PrematchPrice]],
    theirs: dict[Moment, dict[tuple[str, MarketKey], float]],
) -> Iterator[PricedGroup]:
    """The match's groups of which one market won, at each moment that has the prices of both."""
    for _, members in sorted(results.items()):
        if sum(result is Result.WON for result in members.values()) != 1:
            continue
        for millis in MOMENTS.values():
            prices = ours.get((match.id, millis), {})
            medians = fair_medians(theirs.get((match.id, millis), {}), members)
            if medians and members.keys() <= prices.keys():
                yield _group(millis, members, prices, medians)


def _group(
    millis: int,
    members: dict[MarketKey, Result | None],
    prices: dict[MarketKey, PrematchPrice],
    medians: dict[MarketKey, float],
) -> PricedGroup:
    markets = tuple(
        PricedMarket(key, *prices[key], theirs=medians[key], won=result is Result.WON)
        for key, result in sorted(members.items())
    )
    return PricedGroup(RULES[markets[0].key[0]].family, millis, markets)
