"""Data about a match that operators set and play does not change: streams, source, veto."""

from typing import Literal

import msgspec

from app.domain.player import Team


class Veto(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step of the map veto; the `decider` is the map that remains."""

    action: Literal["ban", "pick", "decider"]
    map: str
    by: Team | None = None


class VideoStream(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where the match can be watched. `language` is a two-letter code, "" when unknown."""

    url: str
    language: str = ""
    name: str = ""


class MatchInfo(msgspec.Struct, frozen=True, omit_defaults=True):
    """`external_id` is the match's id at the source, `source_url` its page there, and `data_delay_seconds`
    by how much the game server's log is delayed."""

    streams: tuple[VideoStream, ...] = ()
    demo_url: str = ""
    external_id: str = ""
    source_url: str = ""
    data_delay_seconds: int = 0
    vetoes: tuple[Veto, ...] = ()
