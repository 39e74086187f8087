"""How long a game server may be silent before its silence is unusual for that moment of play.

A server writes no lines when nothing happens: several a second while ten players fight, none for half a
minute in a pause. The bounds are settings; `scripts/bench/silence.py` measures the gaps of a log by these
moments.
"""

from typing import Literal

from app.domain.match import Match
from app.domain.sides import is_break
from app.ingest.config import IngestConfig

Moment = Literal["live", "clutch", "freeze", "break"]


def moment(match: Match) -> Moment:
    """Which bound holds now.

    `live`: a round is played and both teams have two players or more left. `clutch`: one team has fewer.
    `freeze`: buying, or the seconds after a round. `break`: everything else, with half-time and the time
    before a map's first round.
    """
    play, current = match.map, match.current
    if play is None or current is None or match.pause or match.warmup:
        return "break"
    if current.phase == "live":
        return "live" if min(current.alive_home, current.alive_away) > 1 else "clutch"
    return "freeze" if play.rounds_won and not is_break(play) else "break"


def bound(match: Match, terms: IngestConfig) -> int:
    """The longest usual silence in this state of the match, in ms."""
    return {
        "live": terms.silence_live_millis,
        "clutch": terms.silence_clutch_millis,
        "freeze": terms.silence_freeze_millis,
        "break": terms.silence_millis,
    }[moment(match)]


def is_silent(match: Match, now: int, terms: IngestConfig) -> bool:
    """Whether the source has sent nothing for longer than usual at `now` (ms)."""
    return now - match.last_fact_at > bound(match, terms)


def shortest(terms: IngestConfig) -> int:
    """The least of the bounds, in ms."""
    return min(
        terms.silence_millis,
        terms.silence_live_millis,
        terms.silence_clutch_millis,
        terms.silence_freeze_millis,
    )
