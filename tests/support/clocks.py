"""Clocks that stand still until a test moves them."""

import msgspec


class ManualClock(msgspec.Struct):
    """In place of `app.kit.clock.system_clock`."""

    now: int

    def __call__(self) -> int:
        return self.now


class ManualTime:
    """In place of the module `time`."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now
