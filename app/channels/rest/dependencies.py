"""What the REST handlers depend on."""

import msgspec

from app.http.health import Health
from app.kit.clock import Clock
from app.store.connections import Store


class RestDependencies(msgspec.Struct, frozen=True):
    """The store, the clock, the health checks, the `product` id that the feed publishes, the prefix of
    soccer's URNs, and the delay of bets that prices assume."""

    store: Store
    clock: Clock
    health: Health
    product: int
    soccer_prefix: str
    bet_delay_seconds: int
