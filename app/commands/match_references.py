"""What reference prices say of a match before play, and whether its prices follow them.

Each import has the matches that it names looked at; so does time, because prices grow old. In play a match
stays anchored as it was when play began: what is offered then is about the score, too.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple
from uuid import UUID

from msgspec.structs import replace

from app.commands import closing_line, match_update
from app.commands.match_commands import FollowReferences
from app.domain.changes import ControlsChanged, DetailsChanged, MatchChange
from app.domain.doubts import REFERENCES, clear_doubt
from app.domain.market import MATCH_WINNER
from app.domain.match import BEFORE_PLAY, Match
from app.domain.references import ReferenceStatus
from app.store import markets, reference_prices
from app.store.connections import Store
from app.store.reference_prices import ReferencePrice
from app.store.transaction import Tx
from app.trading.divergence import judged
from app.trading.pricing import PricingConfig
from app.trading.reference_prices import Consensus, Quote, consensus

_HOME, _AWAY = "team=home", "team=away"
_STEPS = 20  #: as a price grows old, how often its weight is computed anew
_AT_ONCE = 100  #: matches in one pass; the rest waits for the next


class Looked(NamedTuple):
    """A match's newest reference prices of every market, and what those of its winner say together."""

    prices: Sequence[ReferencePrice]
    consensus: Consensus


async def look(tx: Tx, match: Match, now: int, config: PricingConfig) -> Looked:
    """What reference prices say at `now` (ms), or when play began."""
    moment = now if match.started_at is None else min(now, match.started_at)
    prices = await reference_prices.newest(tx, match.id, match.references.since, moment)
    return Looked(prices, consensus(_quotes(prices), moment, stale_seconds=config.reference_stale_seconds))


def _quotes(prices: Iterable[ReferencePrice]) -> list[Quote]:
    """The sources that have a price of both teams to win the match."""
    odds = {(one.source, one.specifiers): one for one in prices if one.type_id == MATCH_WINNER}
    sources = sorted({source for source, _ in odds})
    both = [(odds.get((source, _HOME)), odds.get((source, _AWAY))) for source in sources]
    return [
        Quote(home.source, home.odds, away.odds, min(home.at, away.at))
        for home, away in both
        if home and away
    ]


def follows(match: Match, config: PricingConfig) -> bool:
    """Whether the match's prices follow reference prices where there are any."""
    chosen = match.follows_references
    return config.references_followed if chosen is None else chosen


def with_consensus(match: Match, found: Consensus, config: PricingConfig) -> Match:
    """The match as it follows what reference prices say."""
    wanted = follows(match, config)
    usable = found.state == "followed"
    status = ReferenceStatus(
        state=found.state if wanted or found.state == "none" else "switched_off",
        home=found.home,
        sources=found.sources,
        at=found.at,
        refused=_refused(found) if wanted else (),
        far=match.references.far and wanted and usable,
        since=match.references.since,
    )
    after = replace(match, references=status, anchor=found.anchor if wanted else None)
    if not wanted:
        return clear_doubt(after, REFERENCES)
    return judged(after, config)


def _refused(found: Consensus) -> tuple[str, ...]:
    return tuple(f"{one.quote.source}: {one.refused}" for one in found.readings if one.refused)


async def refreshed(tx: Tx, match: Match, now: int, config: PricingConfig) -> tuple[Match, int | None]:
    """A match before play as it follows its reference prices at `now` (ms); and when they must be looked at
    again, None if not before others come."""
    found = (await look(tx, match, now, config)).consensus
    lasting = config.reference_stale_seconds * 1000
    ends = [one.quote.at + lasting + 1 for one in found.readings]
    times = [now + lasting // _STEPS, *ends]
    due_at = min(at for at in times if at > now) if any(end > now for end in ends) else None
    return with_consensus(match, found, config), due_at


async def switched(
    tx: Tx, match: Match, command: FollowReferences, now: int, config: PricingConfig
) -> tuple[Match, tuple[MatchChange, ...]]:
    """The match after an operator's decision whether its prices follow reference prices."""
    chosen = replace(match, follows_references=command.follow)
    after = with_consensus(chosen, (await look(tx, match, now, config)).consensus, config)
    return after, changes_of(match, after)


def changes_of(before: Match, after: Match) -> tuple[MatchChange, ...]:
    """The changes that another look at reference prices makes."""
    if before.doubts != after.doubts:
        return ControlsChanged(), DetailsChanged()
    return (ControlsChanged(),)


async def refresh(store: Store, ids: Iterable[UUID], now: int, pricing: PricingConfig) -> int:
    """Have these matches follow their reference prices, if they are before play, each in a transaction of its
    own; how many. One that fails stays due."""
    return await match_update.for_each_match(store, ids, partial(_refresh, now=now, pricing=pricing))


async def _refresh(tx: Tx, match: Match, *, now: int, pricing: PricingConfig) -> None:
    if match.status not in BEFORE_PLAY:
        await reference_prices.set_due(tx, match.id, None)
        return
    after, due_at = await refreshed(tx, match, now, pricing)
    await reference_prices.set_due(tx, match.id, due_at)
    if after != match:
        changes, may_price = changes_of(match, after), not after.applied_late
        await match_update.react_and_write(
            tx, match, after, changes, now=now, may_price=may_price, pricing=pricing
        )
    await closing_line.record(tx, after, (await markets.book(tx, match.id)).values(), now)


async def refresh_due(store: Store, now: int, pricing: PricingConfig) -> int:
    """Have the matches follow their reference prices that are due; how many."""
    async with store.autocommit() as tx:
        ids = await reference_prices.due(tx, now, limit=_AT_ONCE)
    return await refresh(store, ids, now, pricing)
