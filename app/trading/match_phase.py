"""Where a match stands, as far as offers depend on it."""

from app.domain.match import CurrentRound
from app.trading.match_facts import Evidence, Place


def focus_map(evidence: Evidence) -> int | None:
    """The map on offer: the one being played, else the next that is certain to be played."""
    if evidence.over:
        return None
    match = evidence.match
    if match.map:
        return evidence.live.number if evidence.live else None
    following = sum(play.status == "finished" for play in match.maps) + 1
    decided = max(match.score_home, match.score_away) > match.best_of // 2
    return None if decided or following > match.best_of else following


def round_in_hand(evidence: Evidence) -> CurrentRound | None:
    """The round that is in its freeze or being played; None once it is won."""
    current, play = evidence.match.current, evidence.live
    if current is None or play is None or current.map != play.number:
        return None
    return (
        None
        if current.phase == "over" or current.won or (current.map, current.number) in evidence.rounds
        else current
    )


def round_to_come(evidence: Evidence) -> Place | None:
    """The round in its freeze: nothing of it has happened yet."""
    current = round_in_hand(evidence)
    return (current.map, current.number) if current and current.phase == "freeze" else None


def round_on_offer(evidence: Evidence) -> Place | None:
    """The round in its freeze or being played, while its result is open: both teams have players
    left, and it may not turn out to be a knife round."""
    current = round_in_hand(evidence)
    if current is None:
        return None
    open_result = current.alive_home and current.alive_away and not current.knife
    return (current.map, current.number) if current.phase == "freeze" or open_result else None


def following_round(evidence: Evidence) -> Place | None:
    """The round after the one to come, when both its results lead to one."""
    place, play = round_to_come(evidence), evidence.live
    if place is None or play is None:
        return None
    half = play.max_rounds // 2
    return (place[0], place[1] + 1) if max(play.home_score, play.away_score) < half else None
