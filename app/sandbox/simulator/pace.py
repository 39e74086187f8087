"""How fast a log is played: game seconds to real ones."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Pace:
    """`speed` game seconds pass in a real one; up to `rush_until` (game seconds) it is `rush` of them.

    A match that is to be found in mid-play rushes through its first rounds.
    """

    speed: float = 1.0
    rush_until: float = 0.0
    rush: float = 150.0

    def seconds(self, at: float) -> float:
        """Real seconds from the log's start to the line at game second `at`."""
        rushed = min(at, self.rush_until)
        return rushed / self.rush + (at - rushed) / self.speed


REAL_TIME = Pace()
