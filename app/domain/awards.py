"""Maps and matches won without being played to the end: walkover, retirement, disqualification.

What was decided by then stands: rounds, events and scores stay as they were played, and the operator
names the winner.
"""

from msgspec.structs import replace

from app.domain.changes import MatchChange
from app.domain.doubts import clear_doubt
from app.domain.lifecycle import MatchAndChanges, require_not_over
from app.domain.match import Match, Status, Team
from app.domain.restarts import RESTARTED
from app.domain.series import close_map, finish_match, next_map


def award_map(match: Match, winner: Team, at: int) -> MatchAndChanges:
    """Award the map in play, else the next one, to `winner`; with enough maps won, the match too."""
    require_not_over(match, "awarded a map")
    changes: list[MatchChange] = []
    match = _close(match, winner, at, changes)
    return match, tuple(changes)


def award_match(match: Match, winner: Team, at: int) -> MatchAndChanges:
    """Award the match to `winner`, and with it the map in play. Maps that were not begun stay unplayed."""
    require_not_over(match, "awarded")
    changes: list[MatchChange] = []
    if match.map is not None:
        match = _close(match, winner, at, changes)
    if match.status is not Status.FINISHED:
        match = finish_match(match, at, changes, winner)
    elif match.winner != winner:
        changes.pop()
        match = finish_match(match, at, changes, winner)
    return replace(match, awarded=True), tuple(changes)


def _close(match: Match, winner: Team, at: int, changes: list[MatchChange]) -> Match:
    play = match.map or next_map(match)
    match = clear_doubt(replace(match, restart=None), RESTARTED)
    return close_map(match, replace(play, winner=winner, awarded=True), at, changes)
