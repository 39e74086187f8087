"""The few figures that ingest works by, taken from the settings at the top."""

import msgspec


class IngestConfig(msgspec.Struct, frozen=True, kw_only=True):
    """`margin`: of every book, a fraction. The rest in ms: facts applied later than `fresh_millis` after
    their arrival take all off offer; a source silent for longer than is usual at that moment of play is lost
    (`silence`); a hole is declared when the missing bytes have not come within `hole_millis`; another source
    is followed when the present one has been silent for `takeover_millis`."""

    margin: float = 0.06
    fresh_millis: int = 2_000
    silence_millis: int = 30_000
    silence_live_millis: int = 8_000
    silence_clutch_millis: int = 20_000
    silence_freeze_millis: int = 12_000
    hole_millis: int = 2_000
    takeover_millis: int = 120_000
