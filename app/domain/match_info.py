"""Data about a match that operators set and play does not change: streams, source, veto."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from app.domain.map_play import Team


class Veto(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step of the map veto; the `decider` is the map that remains."""

    action: Literal["ban", "pick", "decider"]
    map: str
    by: Team | None = None


class VodAnchor(msgspec.Struct, frozen=True):
    """`offset_seconds` after its beginning, a recording shows what happened at `at` (Unix ms)."""

    at: int
    offset_seconds: float

    def offset_of(self, at: int) -> float:
        """How many seconds after its beginning the recording shows that moment, if nothing was cut out of it
        between the anchor and then; negative before the beginning."""
        return round(self.offset_seconds + (at - self.at) / 1000, 3)


class VideoStream(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where the match can be watched. `language` is a two-letter code, "" when unknown; `vod_anchors` are in
    order of time."""

    url: str
    language: str = ""
    name: str = ""
    vod_anchors: tuple[VodAnchor, ...] = ()

    def anchor_of(self, at: int) -> VodAnchor | None:
        """The last anchor up to that moment, else the first one, if the recording has begun by then."""
        earlier = [anchor for anchor in self.vod_anchors if anchor.at <= at]
        anchor = next(iter(earlier[-1:] or self.vod_anchors), None)
        return anchor if anchor and anchor.offset_of(at) >= 0 else None


class VodPosition(msgspec.Struct, frozen=True):
    """Where a moment can be seen: the index of a stream, and the seconds from its beginning."""

    stream: int
    offset_seconds: float


def vod_position(streams: Sequence[VideoStream], at: int) -> VodPosition | None:
    """Where to see what happened at `at`; None where no anchor shows it.

    Of several recordings it is the one with the latest anchor up to then: each map may have its own.
    """
    found = [(anchor, index) for index, one in enumerate(streams) if (anchor := one.anchor_of(at))]
    if not found:
        return None
    anchor, index = max(found, key=lambda one: (one[0].at <= at, -abs(at - one[0].at)))
    return VodPosition(index, anchor.offset_of(at))


class MatchInfo(msgspec.Struct, frozen=True, omit_defaults=True):
    """`external_id` is the match's id at the source, `source_url` its page there, and `data_delay_seconds`
    by how much the game server's log is delayed."""

    streams: tuple[VideoStream, ...] = ()
    demo_url: str = ""
    external_id: str = ""
    source_url: str = ""
    data_delay_seconds: int = 0
    vetoes: tuple[Veto, ...] = ()
