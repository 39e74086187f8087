"""Sliding-window counters of one process, for limits that must hold while Redis is away."""

from collections import OrderedDict, deque

from app.kit.clock import Clock, system_clock

_MAX_NAMES = 20_000


class ProcessCounters:
    """How often things happened within `window` ms; only the newest `names` of them are counted."""

    def __init__(self, window: int, clock: Clock = system_clock, names: int = _MAX_NAMES) -> None:
        self._window = window
        self._clock = clock
        self._names = names
        self._times: OrderedDict[str, deque[int]] = OrderedDict()

    def count(self, name: str, limit: int) -> int:
        """Count one more of `name` unless `limit` of them happened in the window: 0, or in how many ms one
        may be counted again."""
        now = self._clock()
        times = self._times.pop(name, None) or deque()
        self._times[name] = times
        if len(self._times) > self._names:
            self._times.popitem(last=False)
        while times and times[0] <= now - self._window:
            times.popleft()
        if len(times) >= limit:
            return times[0] + self._window - now
        times.append(now)
        return 0
