"""How far back statistics look."""

from typing import Literal

TimeFilter = Literal["1month", "3months", "6months", "12months", "all"]
_DAY = 86_400_000
_DAYS: dict[TimeFilter, int] = {"1month": 30, "3months": 91, "6months": 182, "12months": 365}


def window_start(window: TimeFilter, now: int) -> int:
    """The first moment (Unix ms) that counts."""
    return 0 if window == "all" else now - _DAYS[window] * _DAY
