"""How prices are made and when they are published: set by the top from the settings of the same names."""

import msgspec


class PricingConfig(msgspec.Struct, frozen=True, kw_only=True):
    """`margin` is that of every book, a fraction.

    `bet_delay_seconds`: bookmakers accept a bet only if its price still stands so long after it was placed; a
    market whose result would be all but certain within that time is closed before. `price_step`: during a
    round prices are published when the odds of one are too long by this fraction or more, or too short by
    `offers.FALLS` times as much, or when a market opens or closes.
    """

    margin: float = 0.06
    bet_delay_seconds: int = 5
    price_step: float = 0.055
