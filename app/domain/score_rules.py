"""When a map is over, by the rules of its format."""

from functools import lru_cache


@lru_cache(maxsize=4096)
def is_decided(home: int, away: int, max_rounds: int, overtime_rounds: int) -> bool:
    """Whether a map's score is one from which play does not go on by the rules of this format."""
    least, most = sorted((home, away))
    half, step = max_rounds // 2, overtime_rounds // 2
    if most <= half:
        return least == half and not step
    # Both must have come as far as the overtime in which one got ahead, or the map ended before it.
    return not step or least < half + (most - half - 1) // step * step
