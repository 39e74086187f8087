"""Alerts about doubts: each begins with its doubt, in the same transaction, and ends with it or the match."""

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
from app.domain.match import Doubt, Match, Status
from app.domain.restarts import RESTARTED
from app.store import alerts
from app.store.alerts import AlertKind, AlertSubject
from app.store.transaction import Tx


async def update(tx: Tx, before: Match | None, after: Match, now: int) -> None:
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
    return found | _of_rounds(match)


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
