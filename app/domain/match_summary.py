"""The short form of a match, which is stored with each of its changes."""

import msgspec

from app.domain.match import MapPlay, Match, Team
from app.domain.status import Status


class MatchSummary(msgspec.Struct, frozen=True, omit_defaults=True):
    """What `<sport_event_status>` and the basic match shape need; stored with each match change."""

    number: int
    status: Status
    home: str
    away: str
    score_home: int = 0
    score_away: int = 0
    winner: Team | None = None
    home_id: int | None = None
    away_id: int | None = None
    maps: tuple[MapPlay, ...] = ()
    round: int | None = None
    pause: str = ""


def summarize(match: Match) -> MatchSummary:
    """The short form of a match; its maps carry no rounds."""
    return MatchSummary(
        number=match.number,
        status=match.status,
        home=match.home,
        away=match.away,
        score_home=match.score_home,
        score_away=match.score_away,
        winner=match.winner,
        home_id=match.home_id,
        away_id=match.away_id,
        maps=tuple(msgspec.structs.replace(play, rounds=()) for play in match.maps),
        round=match.current.number if match.current else None,
        pause=match.pause,
    )
