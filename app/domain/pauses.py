"""Why play is paused, in our words. The state of a match has the game server's own word for it, which never
leaves us: servers and their plugins differ in it."""

import re

from app.domain.match import Match, Side
from app.domain.sides import team_on

TECHNICAL_TIMEOUT = "technical time-out"
HALF_TIME = "half-time pause"
BY_ADMIN = "paused by the game server's admin"
PAUSED = "paused"  #: for a cause that the server does not name, or that we do not know
_TACTICAL_TIMEOUTS: dict[str, Side] = {"TimeOutCTs": "CT", "TimeOutTs": "T"}
_OTHERS = (
    (r"technical_?time_?out.*", TECHNICAL_TIMEOUT),
    (r"mp_(overtime_)?halftime_pause(match|timer)", HALF_TIME),
    (r"mp_pause_match", BY_ADMIN),
)


def pause_reason(match: Match) -> str:
    """Why play is paused: a time-out names its team, or its side while the sides of teams are unknown. ""
    while play is not paused."""
    if match.pause not in _TACTICAL_TIMEOUTS:
        return reason_of(match.pause)
    side = _TACTICAL_TIMEOUTS[match.pause]
    team = team_on(match.map, side) if match.map else None
    names = {None: side, "home": match.home, "away": match.away}
    return _tactical_timeout(names[team])


def reason_of(word: str) -> str:
    """The same for the server's word alone."""
    if not word:
        return ""
    if word in _TACTICAL_TIMEOUTS:
        return _tactical_timeout(_TACTICAL_TIMEOUTS[word])
    known = (text for pattern, text in _OTHERS if re.fullmatch(pattern, word, re.IGNORECASE | re.DOTALL))
    return next(known, PAUSED)


def _tactical_timeout(whose: str) -> str:
    return f"tactical time-out of {whose}"
