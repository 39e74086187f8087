"""The end of every transaction on a match: trading reacts, and state, ledger and change log are written."""

from collections.abc import Iterable, Sequence

from app.commands import change_drafts, doubt_alerts, entrant_links, team_ratings
from app.commands.market_actions import ManualMarketAction, no_action
from app.domain import analytics
from app.domain import changes as c
from app.domain.doubts import PRICE, raise_doubt
from app.domain.market import Book, with_offer_end
from app.domain.match import Match, Round, Status, TimelineEvent
from app.kit import metrics
from app.kit.logging import get_logger
from app.store import changes as change_log
from app.store import history, markets, matches, statistics
from app.store.transaction import Tx, Write
from app.trading import engine
from app.trading.engine import Reaction
from app.trading.price_guard import unexplained_move
from app.trading.pricing_config import PricingConfig

log = get_logger(__name__)


async def react_and_write(
    tx: Tx,
    before: Match | None,
    after: Match,
    changes: Sequence[c.MatchChange],
    *,
    now: int,
    may_price: bool,
    pricing: PricingConfig,
    action: ManualMarketAction = no_action,
    extra_writes: Sequence[Write] = (),
    arrived_at: int = 0,
) -> Match:
    """Execute the operator's `action`; then open, reprice, suspend and settle markets as the changes require,
    and write everything, `extra_writes` included.

    The match must be locked in `tx`, and this must be the last thing the transaction does; `before` is None
    for a new match. `may_price` False suspends every active market, and opens and reprices none.
    `arrived_at` is when the log lines behind this arrived, 0 without any. Returns the match with the
    timestamps of its change rows.
    """
    if before is not None and before.status in team_ratings.BEFORE_PLAY and after.status is Status.LIVE:
        after = await team_ratings.with_current_ratings(tx, after, now, begins=True)
    book = await markets.book(tx, after.id)  # settled ones, too: what they rested on may be void now
    reaction = decide(action, after, changes, book, now=now, may_price=may_price, pricing=pricing)
    doubted = _doubt_price(before, after, changes, book, reaction, now)
    if doubted is not after:
        after, changes = doubted, (*changes, c.DetailsChanged())
        reaction = decide(action, after, changes, book, now=now, may_price=may_price, pricing=pricing)
    return await _write(tx, before, after, changes, book, reaction, now, extra_writes, arrived_at)


async def reprice_and_write(tx: Tx, match: Match, *, now: int, pricing: PricingConfig) -> None:
    """Price a match again because time has passed, and write what changes; it must be locked in `tx`."""
    book = await markets.book(tx, match.id)
    reaction = engine.react(match, (), book, now=now, may_price=True, pricing=pricing)
    if not reaction.markets:
        await matches.set_reprice_at(tx, match.id, reaction.reprice_at)
        matches.note_written(tx, match, book)
        return
    doubted = _doubt_price(match, match, (), book, reaction, now)
    if doubted is match:
        await _write(tx, match, match, (), book, reaction, now)
    else:
        await suspend_and_write(tx, match, doubted, (c.DetailsChanged(),), reason=doubted.suspended, now=now)


def decide(
    action: ManualMarketAction,
    after: Match,
    changes: Sequence[c.MatchChange],
    book: Book,
    *,
    now: int,
    may_price: bool,
    pricing: PricingConfig,
) -> Reaction:
    """What an operator's `action` and then the engine do to a book, merged: both change markets in the same
    envelopes."""
    manual = action(book)
    acted = book | {market.key: market for market in manual.markets}
    reaction = engine.react(after, changes, acted, now=now, may_price=may_price, pricing=pricing)
    changed = {market.key: market for market in (*manual.markets, *reaction.markets)}
    entries = engine.in_order((*manual.entries, *reaction.entries))
    return Reaction(tuple(changed.values()), entries, reaction.reprice_at)


def _doubt_price(
    before: Match | None,
    after: Match,
    changes: Sequence[c.MatchChange],
    book: Book,
    reaction: Reaction,
    now: int,
) -> Match:
    """`after`, suspended if a price would move without a cause: the next round's beginning ends that, or an
    operator."""
    move = unexplained_move(before, after, changes, book, reaction.markets, now) if before else None
    if move is None:
        return after
    metrics.unexplained_moves.inc()
    log.error("a price moved without a cause", match_id=str(after.id), move=move.text)
    return raise_doubt(after, PRICE, f"a price moved without a cause: {move.text}")


async def suspend_and_write(
    tx: Tx, before: Match | None, after: Match, changes: Sequence[c.MatchChange], *, reason: str, now: int
) -> Match:
    """Suspend all markets for `reason` and write everything; otherwise as `react_and_write`."""
    book = await markets.book(tx, after.id)
    suspended = Reaction(engine.suspend_all(book, reason))
    return await _write(tx, before, after, changes, book, suspended, now)


async def _write(
    tx: Tx,
    before: Match | None,
    after: Match,
    changes: Sequence[c.MatchChange],
    book: Book,
    reaction: Reaction,
    now: int,
    extra_writes: Sequence[Write] = (),
    arrived_at: int = 0,
) -> Match:
    changed = [with_offer_end(book.get(market.key), market, now) for market in reaction.markets]
    rows = change_drafts.compose(before, after, changes, book, changed, reaction.entries)
    if before is None:
        await matches.insert(tx, after)
    else:
        extra_writes = [*extra_writes, matches.save_statement(after, reaction.reprice_at)]
    happened = history.add_statements(after.id, _rounds(changes), _events(changes))
    await tx.write([*extra_writes, *happened, *markets.save_statements(after.id, changed)])
    await history.void(tx, after.id, _voided(changes))
    await doubt_alerts.update(tx, before, after, now)
    await team_ratings.follow_results(tx, before, after)
    if after.status is Status.FINISHED:
        await _count(tx, before, after, now)
    written = await change_log.append(tx, after, rows, now, arrived_at)
    matches.note_written(tx, written, book | {market.key: market for market in changed})
    return written


async def _count(tx: Tx, before: Match | None, match: Match, now: int) -> None:
    """Store the statistics of a finished match, counted from its stored rounds and events. Players are
    recorded when it ends, not when it is corrected later."""
    rounds, events = await history.rounds(tx, match.id), await history.timeline(tx, match.id)
    teams = analytics.teams_on_maps(match, rounds, events)
    players = analytics.players_on_maps(match, rounds, events)
    await statistics.replace(tx, match.id, match.finished_at or now, teams, players)
    if before is None or not before.over:
        await entrant_links.record_players(tx, players)


def _rounds(changes: Iterable[c.MatchChange]) -> list[Round]:
    return [change.round for change in changes if isinstance(change, c.RoundFinished)]


def _events(changes: Iterable[c.MatchChange]) -> list[TimelineEvent]:
    """The latest version of each event."""
    latest = {
        change.event.id: change.event
        for change in changes
        if isinstance(change, c.EventAdded | c.EventAmended)
    }
    return list(latest.values())


def _voided(changes: Iterable[c.MatchChange]) -> list[int]:
    ids: list[int] = []
    for change in changes:
        if isinstance(change, c.RoundsVoided):
            ids += [*(played.id for played in change.rounds), *change.events]
    return ids
