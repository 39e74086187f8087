"""From maps to a match: the distribution of the final map score."""

from collections.abc import Sequence
from functools import lru_cache

from app.domain.match import Match

Score = tuple[int, int]


def maps_left(match: Match) -> int:
    """How many more maps the format allows."""
    return max(match.best_of - sum(play.status == "finished" for play in match.maps), 0)


def maps_won(match: Match) -> Score:
    """Of a match that was cut short only the maps that were played to the end."""
    if not match.awarded:
        return match.score_home, match.score_away
    winners = [play.winner for play in match.maps if not play.awarded]
    return winners.count("home"), winners.count("away")


def finals(home: int, away: int, best_of: int, chances: Sequence[float]) -> dict[Score, float]:
    """Final map scores from this score on; `chances` are home's for the maps yet to end, in order."""
    level: dict[Score, float] = {(home, away): 1.0}
    ended: dict[Score, float] = {}
    for chance in chances:
        following: dict[Score, float] = {}
        for (won, lost), weight in level.items():
            if max(won, lost) > best_of // 2:
                ended[won, lost] = ended.get((won, lost), 0.0) + weight
                continue
            for score, part in (((won + 1, lost), chance), ((won, lost + 1), 1 - chance)):
                following[score] = following.get(score, 0.0) + weight * part
        level = following
    return {score: ended.get(score, 0.0) + level.get(score, 0.0) for score in ended.keys() | level.keys()}


def goes_on(match: Match, chances: Sequence[float]) -> float:
    """The chance that the match is not decided by its next maps, of which home's chances are these."""
    most = match.best_of // 2
    if len(chances) + max(match.score_home, match.score_away) <= most:
        return 1.0
    ends = finals(match.score_home, match.score_away, match.best_of, chances)
    return sum([chance for score, chance in ends.items() if max(score) <= most])


@lru_cache(maxsize=256)
def reachable(home: int, away: int, best_of: int, left: int) -> frozenset[Score]:
    """Final map scores that can still come with `left` maps to play."""
    return frozenset(finals(home, away, best_of, (0.5,) * left))
