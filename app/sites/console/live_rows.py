"""A match in play, an alert, and a command that waits for consent, as rows of the page of all live matches
show them; pure.
"""

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Literal

import msgspec

from app.commands.alert_handling import ENDED_BY_HAND
from app.domain.ids import match_urn
from app.domain.market import MarketStatus
from app.domain.match import CurrentRound, Match, Side
from app.store.alerts import Alert
from app.store.consent_requests import ConsentRequest
from app.store.listings import MarketCount, MatchName
from app.trading.round_view import round_clock

#: A source that has sent nothing for so long is shown with the time of its last lines.
QUIET_MILLIS = 15_000
_REASONS = 3
Phase = Literal["", "warmup", "break", "paused", "over", "freeze", "live", "planted"]


class Attention(IntEnum):
    """How much a match needs somebody: the order of the rows."""

    ALERT = 0
    SUSPENDED = 1
    NONE = 2


class LiveRow(msgspec.Struct, frozen=True, kw_only=True):
    """What is shown of a match. `clock_ends_at` (Unix ms): when the clock of the `phase` ends, None where
    none runs. `quiet_since`: when its source sent last, if that is long ago. `reasons`: why open markets are
    suspended, the most frequent ones, each with how many. `alerts`: the kinds of its open alerts."""

    number: int
    home: str
    away: str
    event: str
    best_of: int
    maps_won: tuple[int, int]
    map_number: int = 0
    map_name: str = ""
    rounds: tuple[int, int] = (0, 0)
    home_side: Side | None = None
    round_number: int = 0
    alive: tuple[int, int] | None = None
    phase: Phase = ""
    clock_ends_at: int | None = None
    quiet_since: int | None = None
    suspended: str = ""
    active: int = 0
    off: int = 0
    reasons: tuple[tuple[str, int], ...] = ()
    alerts: tuple[str, ...] = ()

    @property
    def urn(self) -> str:
        return match_urn(self.number)

    @property
    def attention(self) -> Attention:
        if self.alerts:
            return Attention.ALERT
        return Attention.SUSPENDED if self.suspended else Attention.NONE


def live_row(match: Match, counts: Sequence[MarketCount], alerts: Iterable[Alert], now: int) -> LiveRow:
    """The row of a match as it is at `now` (Unix ms)."""
    play, current = match.map, match.current
    phase, ends_at = _phase(match, current, now)
    suspended = [each for each in counts if each.status is MarketStatus.SUSPENDED]
    quiet = now - match.last_arrived_at >= QUIET_MILLIS
    return LiveRow(
        number=match.number,
        home=match.home,
        away=match.away,
        event=match.event,
        best_of=match.best_of,
        maps_won=(match.score_home, match.score_away),
        map_number=play.number if play else 0,
        map_name=play.name if play else "",
        rounds=(play.home_score, play.away_score) if play else (0, 0),
        home_side=play.home_side if play else None,
        round_number=current.number if play and current else 0,
        alive=(current.alive_home, current.alive_away) if play and current else None,
        phase=phase,
        clock_ends_at=ends_at,
        quiet_since=match.last_arrived_at if quiet else None,
        suspended=match.suspended,
        active=sum(each.markets for each in counts if each.status is MarketStatus.ACTIVE),
        off=sum(each.markets for each in suspended),
        reasons=tuple((each.reason, each.markets) for each in suspended[:_REASONS]),
        alerts=tuple(sorted({each.kind.value for each in alerts})),
    )


def _phase(match: Match, current: CurrentRound | None, now: int) -> tuple[Phase, int | None]:
    if match.warmup:
        return "warmup", None
    if match.map is None or current is None:
        return "" if match.map else "break", None
    if match.pause:
        return "paused", None
    if current.phase == "over":
        return "over", None
    clock = round_clock(match, current)
    ends_at = None if clock.since is None else clock.since + round(clock.seconds * 1000)
    return clock.phase, ends_at if ends_at is not None and ends_at > now else None


class AlertRow(msgspec.Struct, frozen=True, kw_only=True):
    """What is shown of an alert; `about` is its match, if it is about one. `by_hand`: operators may end
    it."""

    id: int
    kind: str
    about: MatchName | None
    tenant: str
    subject: str
    detail: str
    since: int
    seen_at: int | None
    seen_by: str | None
    taken_at: int | None
    taken_by: str | None
    ended_at: int | None
    ended_by: str | None
    by_hand: bool

    @property
    def urn(self) -> str:
        return match_urn(self.about.number) if self.about else ""


def alert_row(alert: Alert, about: MatchName | None) -> AlertRow:
    return AlertRow(
        id=alert.id,
        kind=alert.kind.value,
        about=about,
        tenant=alert.tenant,
        subject=alert.subject,
        detail=alert.detail,
        since=alert.since,
        seen_at=alert.seen_at,
        seen_by=alert.seen_by,
        taken_at=alert.taken_at,
        taken_by=alert.taken_by,
        ended_at=alert.ended_at,
        ended_by=alert.ended_by,
        by_hand=alert.kind in ENDED_BY_HAND,
    )


class ConsentRow(msgspec.Struct, frozen=True, kw_only=True):
    """What is shown of a command that waits for consent; `about` is its match."""

    id: int
    command: str
    about: MatchName
    actor: str
    at: int
    expires_at: int

    @property
    def urn(self) -> str:
        return match_urn(self.about.number)


def consent_row(request: ConsentRequest, about: MatchName) -> ConsentRow:
    return ConsentRow(
        id=request.id,
        command=request.name,
        about=about,
        actor=request.actor,
        at=request.at,
        expires_at=request.expires_at,
    )
