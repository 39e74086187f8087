"""Where a match stands in its life."""

from enum import StrEnum


class Status(StrEnum):
    """A match's lifecycle; `code` is `<sport_event_status status>` in the feed."""

    DISCOVERED = "discovered"
    UPCOMING = "upcoming"
    LIVE = "live"
    FINISHED = "finished"
    CANCELLED = "cancelled"

    @property
    def code(self) -> int:
        return _CODES[self]


_CODES = {Status.DISCOVERED: 0, Status.UPCOMING: 0, Status.LIVE: 1, Status.FINISHED: 4, Status.CANCELLED: 5}
