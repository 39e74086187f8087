"""From maps to a match: the distribution of the final map score."""

from collections.abc import Sequence
from functools import lru_cache

Score = tuple[int, int]


def is_decided(home: int, away: int, best_of: int) -> bool:
    """One side has more than half of the maps, or all are played."""
    return max(home, away) > best_of // 2 or home + away >= best_of


def finals(home: int, away: int, best_of: int, chances: Sequence[float]) -> dict[Score, float]:
    """Final map scores from this score on; `chances` are home's for the maps yet to end, in order."""
    level: dict[Score, float] = {(home, away): 1.0}
    ended: dict[Score, float] = {}
    for chance in (*chances, 0.5):
        following: dict[Score, float] = {}
        for (won, lost), weight in level.items():
            if is_decided(won, lost, best_of):
                ended[won, lost] = weight
                continue
            for score, part in (((won + 1, lost), chance), ((won, lost + 1), 1 - chance)):
                following[score] = following.get(score, 0.0) + weight * part
        level = following
    return ended


@lru_cache(maxsize=256)
def reachable(home: int, away: int, best_of: int) -> frozenset[Score]:
    """Final map scores that can still come."""
    return frozenset(finals(home, away, best_of, (0.5,) * max(best_of - home - away, 0)))
