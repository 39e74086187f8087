"""An operator's choice of the log source that a match follows."""

from collections.abc import Sequence
from uuid import UUID

from msgspec.structs import replace

from app.domain.changes import MatchChange
from app.domain.facts import RivalsGone, SourceChanged
from app.domain.match import Match
from app.domain.transitions import fold
from app.kit.errors import Conflict, Field, Invalid
from app.store import alerts, log_state
from app.store.alerts import AlertKind
from app.store.log_state import OTHERS, LogSender
from app.store.transaction import Tx, Write


async def follow(
    tx: Tx, match: Match, name: str, now: int
) -> tuple[Match, Sequence[MatchChange], list[Write]]:
    """Follow the sender `name` from here on and dismiss the others.

    Returns the match, its changes and what must be written with them. Raises `Invalid` for an unknown
    sender, `Conflict` when the match is over.
    """
    if match.over:
        raise Conflict(f"The match is {match.status}: no log is followed any more.")
    known = await log_state.senders(tx, match.id)
    chosen = next((each for each in known if each.source == name), None)
    if chosen is None or name == OTHERS:
        raise Invalid(
            Field(("body", "source"), "No such sender of this match's log.", "unknown_source", name)
        )
    await end_rival_alerts(tx, match.id, now)
    moved = chosen.state != "followed"
    after, changes = fold(match, [RivalsGone(at=now), *([SourceChanged(at=now)] if moved else [])])
    return (
        after,
        changes,
        [
            *_senders(match.id, known, chosen),
            *(await _next_byte_of(tx, match, chosen) if moved else []),
        ],
    )


async def end_rival_alerts(tx: Tx, match_id: UUID, now: int) -> None:
    for alert in await alerts.listing(tx, kinds=[AlertKind.RIVAL_SOURCE], match_id=match_id, ended=False):
        await alerts.end(tx, alert.about, now)


def _senders(match_id: UUID, known: Sequence[LogSender], chosen: LogSender) -> list[Write]:
    others = [
        replace(each, state="dismissed", claims=False, why="an operator decided for another source")
        for each in known
        if each.source != chosen.source
        and (
            each.state in ("followed", "refused") or (each.state == "ended" and each.server != chosen.server)
        )
    ]
    followed = replace(chosen, state="followed", claims=False, why="")
    return log_state.save_senders(match_id, [followed, *others])


async def _next_byte_of(tx: Tx, match: Match, chosen: LogSender) -> list[Write]:
    """Accept the chosen sender's log from its next byte, whatever its offset."""
    state = await log_state.get(tx, match.id)
    state = replace(state.of_another_run(chosen.instance, None), has_gap=True)
    return [log_state.save_statement(state)]
