"""Time everywhere: integer Unix milliseconds, UTC.

Pure code never reads a clock: `now` is a parameter. Edges hold a `Clock`, so that tests can set it.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], int]


def system_clock() -> int:
    """The current time in Unix milliseconds."""
    return time.time_ns() // 1_000_000


def to_datetime(ms: int) -> datetime:
    """An aware UTC datetime, exact to the millisecond."""
    return datetime.fromtimestamp(ms // 1000, UTC).replace(microsecond=ms % 1000 * 1000)


def iso_seconds(ms: int) -> str:
    """Times in REST resources: ``2031-04-02T18:00:00+00:00``."""
    return datetime.fromtimestamp(ms // 1000, UTC).isoformat()


def iso_millis(ms: int) -> str:
    """Times in ``alive`` and WebSocket ``meta.ts``: ``2031-04-02T18:00:00.125Z``."""
    return f"{datetime.fromtimestamp(ms // 1000, UTC):%Y-%m-%dT%H:%M:%S}.{ms % 1000:03d}Z"
