"""Senders of a log that are not followed: refused batches, and alerts about senders of play."""

from collections.abc import Sequence
from uuid import UUID

from msgspec.structs import replace

from app.commands import match_update, source_switch
from app.domain.changes import MatchChange
from app.domain.facts import RivalSeen, RivalsGone
from app.domain.match import Match
from app.domain.transitions import fold
from app.ingest import cs2log, match_checks, source_selection
from app.ingest.batches import Batch
from app.ingest.log_update import IngestConfig
from app.ingest.match_checks import for_each_match
from app.ingest.source_selection import SourceDecision
from app.store import alerts, log_state, matches
from app.store.alerts import AlertKind, AlertSubject
from app.store.connections import Store
from app.store.log_state import LogSender
from app.store.transaction import Tx


async def refuse(tx: Tx, match: Match, batch: Batch, decision: SourceDecision, now: int) -> None:
    """Record the sender of a refused batch; the first play that it sends suspends the match."""
    sender = decision.sender
    new = sender.state == "refused" and not sender.claims and not match.over and _claims(batch)
    sender = replace(sender, claims=sender.claims or new)
    await tx.write(log_state.save_senders(match.id, [sender]))
    if not new:
        return
    detail = f"{source_selection.display_name(sender)} sends play and changes nothing: {sender.why}"
    await alerts.begin(tx, _rival(match.id, sender), detail, now)
    after, changes = fold(match, [RivalSeen(at=now)])
    await match_update.suspend_and_write(tx, match, after, changes, reason=after.suspended, now=now)


def _claims(batch: Batch) -> bool:
    return source_selection.sends_play(cs2log.read(batch.body, batch.arrived_at).facts)


def _rival(match_id: UUID, sender: LogSender) -> AlertSubject:
    return AlertSubject(AlertKind.RIVAL_SOURCE, match_id=match_id, subject=sender.source)


async def note_silence(store: Store, now: int, config: IngestConfig) -> int:
    """Note that the followed source of a match that rivals claim is silent; of how many matches.

    `suspension.suspend_silent` looks at matches on offer only. An operator's decision ends the rival's doubt
    at once, and must not put a match of a silent source back on offer.
    """
    async with store.autocommit() as tx:
        claimed = await log_state.matches_with_rivals(tx)
        found = await matches.by_ids(tx, claimed)
    silent = [match.id for match in found if match_checks.doubt_if_silent(match, now, config) is not match]

    async def note(tx: Tx, match: Match) -> None:
        after = match_checks.doubt_if_silent(match, now, config)
        if after is not match:
            await match_update.suspend_and_write(tx, match, after, (), reason=after.suspended, now=now)

    return await for_each_match(store, silent, note)


async def forget_rivals(store: Store, now: int, config: IngestConfig) -> int:
    """End the suspension of matches whose rival sources have been silent for long; how many.

    A match goes back on offer at once only if its own source is not silent and its newest facts came in time;
    otherwise its next lines put it back.
    """
    before = now - config.takeover_millis
    async with store.autocommit() as tx:
        waiting = await log_state.rival_sources_gone(tx, before)

    async def forget(tx: Tx, match: Match) -> None:
        doubted = match_checks.doubt_if_silent(match, now, config)
        after, changes = await _without_claims(tx, doubted, before, now)
        await match_update.react_and_write(
            tx, match, after, changes, now=now, may_price=not after.applied_late, pricing=config.pricing
        )

    return await for_each_match(store, waiting, forget)


async def _without_claims(tx: Tx, match: Match, before: int, now: int) -> tuple[Match, Sequence[MatchChange]]:
    """The match without the claims of senders that have been silent since `before` (ms)."""
    known = await log_state.senders(tx, match.id)
    gone = [each for each in known if each.claims and each.state == "refused" and each.last_seen < before]
    await tx.write(log_state.save_senders(match.id, [replace(each, claims=False) for each in gone]))
    await source_switch.end_rival_alerts(tx, match.id, now)
    return fold(match, [RivalsGone(at=now)])
