"""The timestamp at the start of every line, in three formats."""

from calendar import timegm
from functools import lru_cache

_STAMP = len("01/19/2026 - 18:59:42")


def split_timestamp(line: str) -> tuple[int, str] | None:
    """Source time (ms, zone unknown) and message, or None when `line` has no timestamp."""
    start = 2 if line.startswith("L ") else 0
    end = start + _STAMP
    after = line[end : end + 2]
    if after == ": ":
        time, message = source_time(line[start:end]), line[end + 2 :]
    elif after[:1] == "." and line[end + 4 : end + 7] == " - " and _is_number(line[end + 1 : end + 4]):
        time, message = source_time(line[start:end]), line[end + 7 :]
        time = None if time is None else time + int(line[end + 1 : end + 4])
    else:
        return None
    return None if time is None else (time, message)


@lru_cache(maxsize=256)
def source_time(stamp: str) -> int | None:
    """``01/19/2026 - 18:59:42`` as if it were UTC, in ms; None for another format."""
    if (stamp[2], stamp[5], stamp[10:13], stamp[15], stamp[18]) != ("/", "/", " - ", ":", ":"):
        return None
    parts = (stamp[6:10], stamp[0:2], stamp[3:5], stamp[13:15], stamp[16:18], stamp[19:21])
    if not all(_is_number(part) for part in parts):
        return None
    year, month, day, hour, minute, second = map(int, parts)
    if not (year and 1 <= month <= 12 and 1 <= day <= 31):
        return None
    return timegm((year, month, day, hour, minute, second)) * 1000


def _is_number(text: str) -> bool:
    """Whether `int` reads it: `isdigit` alone is true of superscripts, too."""
    return text.isascii() and text.isdigit()
