"""The configuration of ingest, set by the top from the settings."""

import msgspec

from app.trading.pricing import PricingConfig


class IngestConfig(msgspec.Struct, frozen=True, kw_only=True):
    """`pricing`: how prices are made. The rest in ms. Facts applied later than `fresh_millis` after
    their arrival suspend all markets. When the source is silent for longer than the bound for that phase of
    play, its match is suspended (`silence`). A gap is declared when the missing bytes have not come within
    `gap_millis`. Another source is followed when the present one has been silent for `takeover_millis`."""

    pricing: PricingConfig = PricingConfig()
    fresh_millis: int = 2_000
    silence_millis: int = 30_000
    silence_live_millis: int = 8_000
    silence_clutch_millis: int = 20_000
    silence_freeze_millis: int = 12_000
    gap_millis: int = 2_000
    takeover_millis: int = 120_000
