"""Checks of matches that no log line triggers. Each match is locked, in a transaction of its own.

- A match whose source is silent for longer than usual is suspended, and every match while no worker is alive.
  A server writes a line when something happens: several a second while ten players fight, none for half a
  minute in a pause. The bounds are settings; `scripts/bench/silence.py` measures the intervals between the
  lines of a log by these phases.
- The claims of rival sources end when these have been silent for long.
- Matches before play follow the ratings of their teams, which other matches change.
- Matches before play follow the market's reference prices, which grow old.
- Matches before play have head-to-heads on offer once every process can read them.
- Clock and fuse decide rounds without a line. Trading computes until when its prices are valid, and that is
  stored with the match. Every worker looks for matches that are due. One of them locks a match and prices it
  again; the others skip it, and so does a restarted worker that finds it done.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal
from uuid import UUID

from msgspec.structs import replace

from app.commands import match_entrants, match_references, match_update, source_switch
from app.commands.match_inputs import Cause, Happened
from app.domain.changes import DetailsChanged, MatchChange
from app.domain.doubts import PROCESSING_STOPPED, SERVER_SILENT, SILENT, raise_doubt
from app.domain.facts import DataComplete, EndOverdue, RivalsGone, SilenceEnded
from app.domain.maps import end_due_at
from app.domain.match import BEFORE_PLAY, Match, Status
from app.domain.sides import is_side_break
from app.domain.transitions import fold
from app.ingest.log_update import IngestConfig
from app.kit.background import wait_for_event
from app.kit.clock import Clock
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.store import log_state, markets, matches, ratings
from app.store.connections import Store
from app.store.transaction import Tx

_AT_ONCE = 100  #: matches in one tick; the rest waits for the next
_REPRICE_SECONDS = 0.25
PlayPhase = Literal["live", "clutch", "freeze", "break"]
log = get_logger(__name__)


def play_phase(match: Match) -> PlayPhase:
    """Which bound applies now.

    `live`: a round is played and both teams have two players or more left. `clutch`: one team has fewer.
    `freeze`: buying, or the seconds after a round. `break`: everything else, including half-time and the
    time before a map's first round.
    """
    play, current = match.map, match.current
    if play is None or current is None or match.pause or match.warmup:
        return "break"
    if play.decides(play.home_score, play.away_score):
        return "break"  # the map's end is awaited (`domain.maps`)
    if current.phase == "live":
        return "live" if min(current.alive_home, current.alive_away) > 1 else "clutch"
    return "freeze" if play.rounds_won and not is_side_break(play) else "break"


def silence_bound(match: Match, config: IngestConfig) -> int:
    """The longest usual silence in this state of the match, in ms."""
    return {
        "live": config.silence_live_millis,
        "clutch": config.silence_clutch_millis,
        "freeze": config.silence_freeze_millis,
        "break": config.silence_millis,
    }[play_phase(match)]


def is_silent(match: Match, now: int, config: IngestConfig) -> bool:
    """Whether the source has sent nothing for longer than usual at `now` (ms)."""
    return now - match.last_arrived_at > silence_bound(match, config)


def doubt_if_silent(match: Match, now: int, config: IngestConfig) -> Match:
    """The match, suspended if its source is silent in play. Only lines of the source end that, so that no
    other doubt's end puts the match back on offer."""
    if match.status is not Status.LIVE or any(doubt.kind == SILENT for doubt in match.doubts):
        return match
    return raise_doubt(match, SILENT, SERVER_SILENT) if is_silent(match, now, config) else match


def shortest_silence_bound(config: IngestConfig) -> int:
    """The least of the bounds, in ms."""
    return min(
        config.silence_millis,
        config.silence_live_millis,
        config.silence_clutch_millis,
        config.silence_freeze_millis,
    )


async def suspend_silent(store: Store, now: int, config: IngestConfig) -> int:
    """Suspend live matches with open markets whose source is silent for longer than usual; how many."""
    async with store.autocommit() as tx:
        quiet = await matches.quiet(tx, now - shortest_silence_bound(config))
    silent = [match.id for match in quiet if is_silent(match, now, config)]

    async def suspend(tx: Tx, match: Match) -> None:
        if is_silent(match, now, config):
            await _suspend_for_doubt(tx, match, SERVER_SILENT, now)

    return await match_update.for_each_match(store, silent, suspend)


async def suspend_everything(store: Store, now: int) -> int:
    """Suspend every active market of every match; how many matches had one.

    The feed process calls it when no ingest worker is alive. A worker that returns lifts it: before play at
    once (`resume_after_ingest_outage`), when the queues are empty, in play with the next fresh lines.
    """
    async with store.autocommit() as tx:
        offered = await markets.matches_with_active(tx)

    async def suspend(tx: Tx, match: Match) -> None:
        await _suspend_for_doubt(tx, match, PROCESSING_STOPPED, now)

    return await match_update.for_each_match(store, offered, suspend)


async def resume_after_ingest_outage(
    store: Store, now: int, config: IngestConfig, queues_empty: Callable[[], Awaitable[bool]]
) -> int:
    """Put matches that have not begun back on offer after `suspend_everything`; how many.

    Not before what was queued during the outage has been taken from the queues: such a match may have begun
    in it.
    """
    async with store.autocommit() as tx:
        waiting = await matches.suspended_before_play(tx, PROCESSING_STOPPED)
    if not waiting or not await queues_empty():
        return 0

    async def resume(tx: Tx, match: Match) -> None:
        facts = DataComplete(at=now), SilenceEnded(at=now)
        after, changes = fold(match, facts)
        await _react(tx, match, after, changes, now, config, Happened(facts))

    return await match_update.for_each_match(store, waiting, resume)


async def _suspend_for_doubt(tx: Tx, match: Match, reason: str, now: int) -> None:
    """Suspend a match of which nothing is lost so far: the missing lines may still come."""
    if match.over:
        return
    after = raise_doubt(match, SILENT, reason)
    await match_update.suspend_and_write(tx, match, after, (DetailsChanged(),), reason=reason, now=now)
    log.warning("suspended", match_id=str(match.id), reason=reason)


async def note_silence(store: Store, now: int, config: IngestConfig) -> int:
    """Note that the followed source of a match that rivals claim is silent; of how many matches.

    `suspend_silent` looks at matches on offer only. An operator's decision ends the rival's doubt
    at once, and must not put a match of a silent source back on offer.
    """
    async with store.autocommit() as tx:
        claimed = await log_state.matches_with_rivals(tx)
        found = await matches.by_ids(tx, claimed)
    silent = [match.id for match in found if doubt_if_silent(match, now, config) is not match]

    async def note(tx: Tx, match: Match) -> None:
        after = doubt_if_silent(match, now, config)
        if after is not match:
            await match_update.suspend_and_write(tx, match, after, (), reason=after.suspended, now=now)

    return await match_update.for_each_match(store, silent, note)


async def forget_rivals(store: Store, now: int, config: IngestConfig) -> int:
    """End the suspension of matches whose rival sources have been silent for long; how many.

    A match goes back on offer at once only if its own source is not silent and its newest facts came in time;
    otherwise its next lines put it back.
    """
    before = now - config.takeover_millis
    async with store.autocommit() as tx:
        waiting = await log_state.rival_sources_gone(tx, before)

    async def forget(tx: Tx, match: Match) -> None:
        doubted = doubt_if_silent(match, now, config)
        after, changes = await _without_claims(tx, doubted, before, now)
        await _react(tx, match, after, changes, now, config)

    return await match_update.for_each_match(store, waiting, forget)


async def _without_claims(tx: Tx, match: Match, before: int, now: int) -> tuple[Match, Sequence[MatchChange]]:
    """The match without the claims of senders that have been silent since `before` (ms)."""
    known = await log_state.senders(tx, match.id)
    gone = [each for each in known if each.claims and each.state == "refused" and each.last_seen < before]
    await tx.write(log_state.save_senders(match.id, [replace(each, claims=False) for each in gone]))
    await source_switch.end_rival_alerts(tx, match.id, now)
    return fold(match, [RivalsGone(at=now)])


async def refresh_ratings(store: Store, now: int, config: IngestConfig) -> int:
    """Rate and price matches before play again whose teams' ratings have changed; how many."""
    async with store.autocommit() as tx:
        ids = await ratings.matches_to_refresh(tx, _AT_ONCE)

    async def follow(tx: Tx, match: Match) -> None:
        after = await match_entrants.with_current_ratings(tx, match, now)
        rated = replace(after, ratings_version=match.ratings_version)
        changes = () if rated == match else (DetailsChanged(),)
        await _react(tx, match, after, changes, now, config)

    return await match_update.for_each_match(store, ids, follow)


async def offer_head_to_heads(store: Store, now: int, config: IngestConfig) -> int:
    """Put head-to-heads on offer in matches before play that were created while a process of version 0.2.0
    was alive, now that none is; in how many."""
    async with store.autocommit() as tx:
        ids = await matches.without_head_to_heads(tx)

    async def offer(tx: Tx, match: Match) -> None:
        if match.head_to_heads or match.status not in BEFORE_PLAY:
            return
        after = replace(match, head_to_heads=True)
        await _react(tx, match, after, (), now, config)

    return await match_update.for_each_match(store, ids, offer)


async def follow_references(store: Store, now: int, config: IngestConfig) -> int:
    """Have matches before play follow reference prices as they come and grow old; how many."""
    return await match_references.refresh_due(store, now, config.pricing)


async def reprice_regularly(
    store: Store, config: IngestConfig, stopping: asyncio.Event, clock: Clock
) -> None:
    while not stopping.is_set():
        try:
            await reprice_due(store, clock, config)
        except Unavailable as error:
            log.warning("prices wait for the database", error=error.detail)
        await wait_for_event(stopping, _REPRICE_SECONDS)


async def reprice_due(store: Store, clock: Clock, config: IngestConfig) -> int:
    """Price the matches again that are due; how many. Each is priced as of its turn: where many are due, time
    has passed since the first.

    A map ends that the rules have decided and of which the log has reported no end in time. A match whose
    source is silent, or whose newest facts came late, is left to the suspension of such matches: it opens
    nothing and moves no price.
    """
    async with store.autocommit() as tx:
        due = await matches.due(tx, clock())

    async def lock(tx: Tx, match_id: UUID) -> Match | None:
        return await matches.lock_due(tx, match_id, clock())

    async def reprice(tx: Tx, match: Match) -> None:
        now = clock()
        due_at = end_due_at(match)
        if due_at is not None and due_at <= now:
            await _end_map(tx, match, now, config)
        elif match.applied_late or is_silent(match, now, config):
            await matches.set_reprice_at(tx, match.id, None)
        else:
            await match_update.reprice_and_write(tx, match, now=now, pricing=config.pricing)

    return await match_update.for_each_match(store, due, reprice, lock)


async def _end_map(tx: Tx, match: Match, now: int, config: IngestConfig) -> None:
    facts = (EndOverdue(at=now),)
    after, changes = fold(match, facts)
    if after is not match:
        log.warning("a map ended by the rules: its log reports no end", match_id=str(match.id))
    await _react(tx, match, after, changes, now, config, Happened(facts))


async def _react(
    tx: Tx,
    before: Match,
    after: Match,
    changes: Sequence[MatchChange],
    now: int,
    config: IngestConfig,
    cause: Cause | None = None,
) -> None:
    """Have trading react, which prices only if the newest facts came in time, and write everything."""
    may_price = not after.applied_late
    await match_update.react_and_write(
        tx, before, after, changes, now=now, may_price=may_price, pricing=config.pricing, cause=cause
    )
