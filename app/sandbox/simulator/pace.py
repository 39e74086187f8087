"""How fast a log is played: from game seconds to real seconds."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Pace:
    """`speed` game seconds pass in a real second; up to `rush_until` (game seconds) `rush` of them do.

    A match that shall be in mid-play at once plays its first rounds at the speed `rush`.
    """

    speed: float = 1.0
    rush_until: float = 0.0
    rush: float = 150.0

    def seconds(self, at: float) -> float:
        """Real seconds from the log's start to the line at game second `at`."""
        rushed = min(at, self.rush_until)
        return rushed / self.rush + (at - rushed) / self.speed


REAL_TIME = Pace()
