"""The dependencies of the operators' handlers."""

import msgspec

from app.access import log_tokens
from app.access.admin import BrokerConfig
from app.access.grants import Grants
from app.domain.match import Match
from app.kit.clock import Clock
from app.store.connections import Store
from app.trading.pricing import PricingConfig


class OperatorDependencies(msgspec.Struct, frozen=True, kw_only=True):
    """The dependencies of the handlers. `secret` keys the hashes of API keys and signs log tokens; `pricing`
    is how prices are made; `public_url` is the base of log sink addresses; in a `sandbox`
    finished matches may be trimmed by number; `consent_seconds` is for `commands.consent`."""

    store: Store
    grants: Grants
    clock: Clock
    secret: str
    broker: BrokerConfig
    internal_vhost: str
    pricing: PricingConfig
    public_url: str
    sandbox: bool = False
    consent_seconds: int = 0

    def sink_url(self, match: Match) -> str:
        """Where the match's game server sends its log."""
        return log_tokens.address(self.secret, self.public_url, match)
