"""Time everywhere: integer Unix milliseconds, UTC.

Pure code never reads a clock: `now` is a parameter. Edges hold a `Clock`, so that tests can set it.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache

Clock = Callable[[], int]
LAST_MILLIS = 253_402_300_799_999  #: the end of the year 9999, the last that a time can show


def system_clock() -> int:
    """The current time in Unix milliseconds."""
    return time.time_ns() // 1_000_000


def to_datetime(ms: int) -> datetime:
    """An aware UTC datetime, exact to the millisecond."""
    return datetime.fromtimestamp(ms // 1000, UTC).replace(microsecond=ms % 1000 * 1000)


def iso_seconds(ms: int) -> str:
    """Times in REST resources: ``2031-04-02T18:00:00+00:00``."""
    minutes, second = divmod(ms // 1000, 60)
    return _iso_minute(minutes) + _SECONDS[second]


_SECONDS = [f"{second:02}+00:00" for second in range(60)]


@lru_cache(maxsize=4096)
def _iso_minute(minutes: int) -> str:
    """A minute, up to where its seconds follow. A match in REST has hundreds of times, of few minutes, and is
    read again after each change."""
    return datetime.fromtimestamp(minutes * 60, UTC).isoformat().removesuffix(_SECONDS[0])


def iso_millis(ms: int) -> str:
    """Times in ``alive`` and WebSocket ``meta.ts``: ``2031-04-02T18:00:00.125Z``."""
    return f"{datetime.fromtimestamp(ms // 1000, UTC):%Y-%m-%dT%H:%M:%S}.{ms % 1000:03d}Z"
