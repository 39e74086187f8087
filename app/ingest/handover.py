"""What follows from senders of a log beside the one that is followed: refusals, hand-overs, alerts."""

from collections.abc import Sequence
from uuid import UUID

from msgspec.structs import replace

from app.domain.changes import Change
from app.domain.facts import RivalSourceSeen, RivalSourcesGone, SourceChanged
from app.domain.match import Match
from app.domain.transitions import fold
from app.ingest import claims, cs2log, record
from app.ingest.batch import Batch
from app.ingest.claims import Judgement
from app.kit.errors import Conflict, Field, Invalid
from app.kit.logging import get_logger
from app.store import alerts, match_sources, sources
from app.store.alerts import About, Kind
from app.store.match_sources import MatchSource
from app.store.transaction import Tx, Write

log = get_logger(__name__)


async def refuse(tx: Tx, match: Match, batch: Batch, judged: Judgement, now: int) -> None:
    """Record a batch whose sender is not followed; one that sends play suspends the match, once."""
    sender = judged.sender
    new = sender.state == "refused" and not sender.claims and not match.over and _claims(batch)
    sender = replace(sender, claims=sender.claims or new)
    await tx.write(match_sources.saving(match.id, [sender]))
    if not new:
        return
    detail = f"{claims.named(sender)} sends play and changes nothing: {sender.why}"
    await alerts.begin(tx, _rival(match.id, sender), detail, now)
    after, changes = fold(match, [RivalSourceSeen(at=now)])
    await record.suspend(tx, match, after, changes, reason=after.suspended, now=now)


def _claims(batch: Batch) -> bool:
    return claims.sends_play(cs2log.read(batch.body, batch.arrived_at).facts)


def _rival(match_id: UUID, sender: MatchSource) -> About:
    return About(Kind.RIVAL_SOURCE, match_id=match_id, subject=sender.source)


async def forget_rivals(tx: Tx, match: Match, before: int, now: int) -> tuple[Match, Sequence[Change]]:
    """The match without the claims of senders that have been silent since `before` (ms)."""
    known = await match_sources.listing(tx, match.id)
    gone = [each for each in known if each.claims and each.state == "refused" and each.last_seen < before]
    await tx.write(match_sources.saving(match.id, [replace(each, claims=False) for each in gone]))
    await _end_alerts(tx, match.id, now)
    return fold(match, [RivalSourcesGone(at=now)])


async def follow(tx: Tx, match: Match, name: str, now: int) -> tuple[Match, Sequence[Change], list[Write]]:
    """An operator's decision: the sender called `name` is followed from here on, the others are dismissed.

    The match, what changed, and what is to be written with it. Raises `Invalid` for a sender that nobody
    knows, `Conflict` when the match is over.
    """
    if match.over:
        raise Conflict(f"The match is {match.status}: no log is followed any more.")
    known = await match_sources.listing(tx, match.id)
    chosen = next((each for each in known if each.source == name), None)
    if chosen is None or name == claims.OTHERS:
        raise Invalid(
            Field(("body", "source"), "No such sender of this match's log.", "unknown_source", name)
        )
    await _end_alerts(tx, match.id, now)
    moved = chosen.state != "followed"
    after, changes = fold(match, [RivalSourcesGone(at=now), *([SourceChanged(at=now)] if moved else [])])
    return after, changes, [*_decided(match.id, known, chosen), *(await _from_here(tx, match, chosen, moved))]


def _decided(match_id: UUID, known: Sequence[MatchSource], chosen: MatchSource) -> list[Write]:
    others = [
        replace(each, state="dismissed", claims=False, why="an operator decided for another source")
        for each in known
        if each.source != chosen.source and each.state in ("followed", "refused")
    ]
    now_followed = replace(chosen, state="followed", claims=False, why="")
    return match_sources.saving(match_id, [now_followed, *others])


async def _from_here(tx: Tx, match: Match, chosen: MatchSource, moved: bool) -> list[Write]:
    """What takes the chosen sender's log from its next byte, whichever that is."""
    if not moved:
        return []
    source = await sources.get(tx, match.id)
    return [sources.saving(replace(source, instance=chosen.instance, next_offset=None, broken=True))]


async def _end_alerts(tx: Tx, match_id: UUID, now: int) -> None:
    for alert in await alerts.listing(tx, kinds=[Kind.RIVAL_SOURCE], match_id=match_id, ended=False):
        await alerts.end(tx, alert.about, now)
