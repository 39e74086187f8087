"""What operators say about a match beside the play: where to watch it, where it comes from, the veto."""

from typing import Literal

import msgspec

from app.domain.player import Slot


class Veto(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step of choosing maps; the `decider` is nobody's choice."""

    action: Literal["ban", "pick", "decider"]
    map: str
    by: Slot | None = None


class VideoStream(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where the match can be watched. `language` is a two-letter code, "" when unknown."""

    url: str
    language: str = ""
    name: str = ""


class MatchInfo(msgspec.Struct, frozen=True, omit_defaults=True):
    """`external_id` is the match's name at the source, `source_url` its page there, and
    `data_delay_seconds` how far the game server's log lies behind play."""

    streams: tuple[VideoStream, ...] = ()
    demo_url: str = ""
    external_id: str = ""
    source_url: str = ""
    data_delay_seconds: int = 0
    vetoes: tuple[Veto, ...] = ()
