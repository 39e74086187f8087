"""How long a game server may be silent before its silence is unusual for that phase of play.

A server writes a line when something happens: several a second while ten players fight, none for half a
minute in a pause. The bounds are settings; `scripts/bench/silence.py` measures the intervals between the
lines of a log by these phases.
"""

from typing import Literal

from app.domain.doubts import SERVER_SILENT, SILENT, raise_doubt
from app.domain.match import Match, Status
from app.domain.sides import is_side_break
from app.ingest.config import IngestConfig

PlayPhase = Literal["live", "clutch", "freeze", "break"]


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


def bound(match: Match, config: IngestConfig) -> int:
    """The longest usual silence in this state of the match, in ms."""
    return {
        "live": config.silence_live_millis,
        "clutch": config.silence_clutch_millis,
        "freeze": config.silence_freeze_millis,
        "break": config.silence_millis,
    }[play_phase(match)]


def is_silent(match: Match, now: int, config: IngestConfig) -> bool:
    """Whether the source has sent nothing for longer than usual at `now` (ms)."""
    return now - match.last_arrived_at > bound(match, config)


def doubt_if_silent(match: Match, now: int, config: IngestConfig) -> Match:
    """The match, suspended if its source is silent in play. Only lines of the source end that, so that no
    other doubt's end puts the match back on offer."""
    if match.status is not Status.LIVE or any(doubt.kind == SILENT for doubt in match.doubts):
        return match
    return raise_doubt(match, SILENT, SERVER_SILENT) if is_silent(match, now, config) else match


def shortest(config: IngestConfig) -> int:
    """The least of the bounds, in ms."""
    return min(
        config.silence_millis,
        config.silence_live_millis,
        config.silence_clutch_millis,
        config.silence_freeze_millis,
    )
