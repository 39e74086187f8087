"""The end of every transaction on a match: trading reacts, and state, ledger and change log are written.

An alert about a doubt begins with its doubt, in the same transaction, and ends with it or the match.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from uuid import UUID

from msgspec.structs import replace

from app.commands import closing_line, match_entrants, match_inputs, match_reaction
from app.commands.market_actions import ManualMarketAction, no_action
from app.commands.match_inputs import Cause, TimePassed, pack
from app.commands.match_reaction import (
    Draft,
    MatchUpdate,
    change_rows,
    changed_markets,
    finished_rounds,
    timeline_events,
)
from app.commands.player_forms import with_player_forms
from app.domain import analytics
from app.domain import changes as c
from app.domain.doubts import (
    ENDED,
    PRICE,
    RESTORED,
    SERVER_SILENT,
    STATISTICS,
    UNCOUNTED_ROUNDS,
    UNRATED,
    UNREAD_LINE,
)
from app.domain.formats import FORMAT
from app.domain.maps import end_due_at
from app.domain.match import BEFORE_PLAY, Doubt, Match, Status
from app.domain.restarts import RESTARTED
from app.kit import metrics
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.store import alerts, heartbeats, history, markets, matches, statistics
from app.store import changes as change_log
from app.store import match_inputs as stored_inputs
from app.store.alerts import AlertKind, AlertSubject
from app.store.connections import Store
from app.store.transaction import Tx, Write
from app.trading import coefficients
from app.trading.held_probabilities import without_ended
from app.trading.match_facts import Past, whether_standing
from app.trading.pricing import PricingConfig


async def for_each_match(
    store: Store,
    ids: Iterable[UUID],
    act: Callable[[Tx, Match], Awaitable[None]],
    lock: Callable[[Tx, UUID], Awaitable[Match | None]] = matches.lock,
) -> int:
    """Call `act` for each match that `lock` locks and returns, each in its own transaction.

    Returns for how many it succeeded: one match that fails must not leave the others open, so only an
    unavailable database ends this.
    """
    done = 0
    for match_id in ids:
        try:
            async with store.transaction() as tx:
                match = await lock(tx, match_id)
                if match is None:
                    continue
                await act(tx, match)
            done += 1
        except Unavailable:
            raise
        except Exception:
            log.exception("a periodic check of a match failed", match_id=str(match_id))
    return done


async def update_alerts(tx: Tx, before: Match | None, after: Match, now: int) -> None:
    """Begin and end the alerts of a match whose state changes from `before` to `after`."""
    present, known = _present(after), _present(before) if before else {}
    for kind in known.keys() - present.keys():
        await alerts.end(tx, AlertSubject(kind, match_id=after.id), now)
    for kind, detail in present.items():
        if known.get(kind) != detail:
            await alerts.begin(tx, AlertSubject(kind, match_id=after.id), detail, now)


def _present(match: Match) -> dict[AlertKind, str]:
    """The alerts that should be open, each with its detail. Doubts about the format and about a map's end
    outlive the match, and so do rounds whose events are in doubt: they wait for an operator."""
    if match.status is Status.CANCELLED:
        return {}
    doubts = [doubt for doubt in match.doubts if not match.over or doubt.kind in (FORMAT, ENDED)]
    found = {kind: doubt.reason for doubt in doubts if (kind := _kind(doubt))}
    return found | _of_rounds(match) | _of_references(match)


def _of_references(match: Match) -> dict[AlertKind, str]:
    """Those of the reference prices of a match before play."""
    if match.status not in BEFORE_PLAY or match.over:
        return {}
    status = match.references
    found: dict[AlertKind, str] = {}
    if status.state == "diverged":
        found[AlertKind.REFERENCE_DIVERGENCE] = (
            f"home wins with {status.home:.3f} by reference prices: {status.divergence:+.2f} logits from ours"
        )
    reasons = list(status.refused)
    if status.state == "disagreeing":
        reasons.append("the sources differ too far from each other")
    if reasons:
        found[AlertKind.REFERENCE_PRICES] = "reference prices that do not count: " + "; ".join(reasons)
    return found


def _of_rounds(match: Match) -> dict[AlertKind, str]:
    """Those of the finished rounds whose events are in doubt."""
    rounds: dict[AlertKind, list[str]] = {}
    for play in match.maps:
        for one in play.in_doubt:
            by_statistics = one.doubted_by == "statistics"
            kind = AlertKind.STATISTICS_CONTRADICTION if by_statistics else AlertKind.LINE_NOT_UNDERSTOOD
            rounds.setdefault(kind, []).append(f"round {one.number} of map {one.map}")
    return {
        kind: f"what rests on the kills, deaths and the bomb of {', '.join(found)} waits for the server's"
        " statistics, or for accept_events or void_events"
        for kind, found in rounds.items()
    }


_KINDS = {
    UNCOUNTED_ROUNDS: AlertKind.UNFOLLOWED_SOURCE,
    UNRATED: AlertKind.UNRATED_MATCH,
    PRICE: AlertKind.UNEXPLAINED_MOVE,
    RESTORED: AlertKind.DATABASE_RESTORED,
    RESTARTED: AlertKind.RESTARTED_LOWER,
    STATISTICS: AlertKind.STATISTICS_CONTRADICTION,
    "score": AlertKind.SCORE_CONTRADICTION,
    "map": AlertKind.MAP_CONTRADICTION,
    ENDED: AlertKind.MAP_CONTRADICTION,
    FORMAT: AlertKind.FORMAT_CONTRADICTION,
}
_OF_REASONS = {SERVER_SILENT: AlertKind.SILENT_SOURCE, UNREAD_LINE: AlertKind.LINE_NOT_UNDERSTOOD}


def _kind(doubt: Doubt) -> AlertKind | None:
    """The kind of alert for a doubt; None for a doubt that needs no attention."""
    return _KINDS.get(doubt.kind) or _OF_REASONS.get(doubt.reason)


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
    extra_writes: Sequence[Write] = (),
    arrived_at: int = 0,
    cause: Cause | None = None,
) -> Match:
    """`prepare` an update and `write` it."""
    update = await prepare(
        tx, before, after, changes, now=now, may_price=may_price, pricing=pricing, cause=cause
    )
    return await write(tx, update, extra_writes, arrived_at)


async def prepare(
    tx: Tx,
    before: Match | None,
    after: Match,
    changes: Sequence[c.MatchChange],
    *,
    now: int,
    may_price: bool,
    pricing: PricingConfig,
    action: ManualMarketAction = no_action,
    cause: Cause | None = None,
    computed: Match | None = None,
) -> MatchUpdate:
    """Execute the operator's `action`; then open, reprice, suspend and settle markets as the changes require.

    The match must be locked in `tx`; `before` is None for a new match. `may_price` False suspends every
    active market, and opens and reprices none. `cause` is what `after` and `changes` can be computed from
    again (default: they are stored as they are); `computed`: what that leads to, if it is not `after`.
    """
    if before is None:
        level = await heartbeats.lowest_compatibility(tx)
        after = replace(after, head_to_heads=level >= heartbeats.COMPATIBILITY_LEVEL)
    cause = cause or match_inputs.given(before, after, changes)
    computed = computed or after
    if before is not None and before.status in BEFORE_PLAY and after.status is Status.LIVE:
        after = await match_entrants.with_current_ratings(tx, after, now, begins=True)
    after = await with_player_forms(tx, before, after)
    given = match_inputs.input_of(
        before, cause, now=now, pricing=pricing, may_price=may_price, computed=computed, after=after
    )
    after, changes = match_reaction.compare_references(after, changes, pricing)
    book = await markets.book(tx, after.id)  # settled ones, too: what they rested on may be void now
    draft = Draft(
        before=before,
        after=after,
        changes=changes,
        book=book,
        manual=action(book),
        now=now,
        may_price=may_price,
        pricing=pricing,
        given=given,
    )
    past = await _past(tx, after, changes) if draft.needs_past else None
    return match_reaction.conclude(draft, past)


async def reprice_and_write(tx: Tx, match: Match, *, now: int, pricing: PricingConfig) -> None:
    """Price a match again because time has passed, and write what changes; it must be locked in `tx`."""
    book = await markets.book(tx, match.id)
    if match.controls.held:
        kept = without_ended(match, (), book, now, pricing)
        if kept is not match:
            changes = (c.ControlsChanged(),)
            cause = TimePassed()
            update = await prepare(
                tx, match, kept, changes, now=now, may_price=True, pricing=pricing, cause=cause
            )
            await write(tx, update)
            return
    update = match_reaction.on_clock(match, book, now, pricing)
    if update.reaction.markets:
        given = match_inputs.input_of(match, TimePassed(), now=now, pricing=pricing)
        await write(tx, replace(update, given=given))
    else:
        await matches.set_reprice_at(tx, match.id, update.reaction.reprice_at)
        matches.note_written(tx, match, book)


async def _past(tx: Tx, match: Match, changes: Sequence[c.MatchChange]) -> Past:
    """The match's past; its ledger is read only where bets may be valid again."""
    reinstated = any(isinstance(change, c.RoundsReinstated) for change in changes)
    rounds, events = await history.rounds(tx, match.id), await history.timeline(tx, match.id)
    void = [one.id for one in rounds if one.void] + [event.id for event in events if event.void]
    return Past(events, frozenset(void), await history.ledger(tx, match.id) if reinstated else ())


async def suspend_and_write(
    tx: Tx, before: Match | None, after: Match, changes: Sequence[c.MatchChange], *, reason: str, now: int
) -> Match:
    """Suspend all markets for `reason` and write everything; otherwise as `react_and_write`."""
    book = await markets.book(tx, after.id)
    update = match_reaction.suspend(before, after, changes, book, reason=reason, now=now)
    cause = match_inputs.given(before, after, changes, reason)
    given = match_inputs.input_of(before, cause, now=now, pricing=PricingConfig(), may_price=False)
    return await write(tx, replace(update, given=given))


async def write(
    tx: Tx, update: MatchUpdate, extra_writes: Sequence[Write] = (), arrived_at: int = 0
) -> Match:
    """Write an update and `extra_writes`, which must be the last thing the transaction does. `arrived_at` is
    when the log lines behind it arrived, 0 without any. Returns the match with the timestamps of its change
    rows."""
    before, after, now, reaction = update.before, update.after, update.now, update.reaction
    _log_doubted_price(before, after)
    changed = changed_markets(update)
    rows = change_rows(update, changed)
    if update.given is not None:
        given = pack(replace(update.given, rows=len(rows)))
        extra_writes = [*extra_writes, stored_inputs.add_statement(after.id, given)]
    if before is None or (before.status in BEFORE_PLAY and after.status is Status.LIVE):
        await stored_inputs.add_coefficients(tx, coefficients.version(), coefficients.document(), now)
    if before is None:
        await matches.insert(tx, after)
    else:
        extra_writes = [
            *extra_writes,
            matches.save_statement(after, reaction.reprice_at or end_due_at(after)),
        ]
    happened = history.add_statements(
        after.id, finished_rounds(update.changes), timeline_events(update.changes)
    )
    await tx.write([*extra_writes, *happened, *markets.save_statements(after.id, changed)])
    standing = whether_standing(update.changes)
    await history.mark(tx, after.id, [number for number, stands in standing.items() if not stands], void=True)
    await history.mark(tx, after.id, [number for number, stands in standing.items() if stands], void=False)
    await update_alerts(tx, before, after, now)
    await match_entrants.follow_results(tx, before, after)
    if after.status in BEFORE_PLAY:
        await closing_line.record(tx, after, changed, now)
    if any(isinstance(change, c.RoundOpened) for change in update.changes):
        await match_entrants.record_roster(tx, after)
    if after.status is Status.FINISHED:
        await _count(tx, before, after, now)
    written = await change_log.append(tx, after, rows, now, arrived_at)
    matches.note_written(tx, written, update.book | {market.key: market for market in changed})
    return written


def _log_doubted_price(before: Match | None, after: Match) -> None:
    """Log and count the doubt about a price, if it is new."""
    known = before.doubts if before else ()
    for doubt in after.doubts:
        if doubt.kind == PRICE and all(one.kind != PRICE for one in known):
            metrics.unexplained_moves.inc()
            log.error("a price moved without a cause", match_id=str(after.id), move=doubt.reason)


async def _count(tx: Tx, before: Match | None, match: Match, now: int) -> None:
    """Store the statistics of a finished match, counted from its stored rounds and events. Players are
    recorded when it ends, not when it is corrected later."""
    rounds, events = await history.rounds(tx, match.id), await history.timeline(tx, match.id)
    teams = analytics.teams_on_maps(match, rounds, events)
    players = analytics.players_on_maps(match, rounds, events)
    await statistics.replace(tx, match.id, match.finished_at or now, teams, players)
    if before is None or not before.over:
        await match_entrants.record_players(tx, players)
