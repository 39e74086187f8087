"""The dependencies of the portal's handlers."""

import msgspec

from app.access.admin import BrokerConfig
from app.access.grants import Grants
from app.amqp.envelope import EnvelopeRenderer
from app.kit.clock import Clock
from app.recovery.request import RecoveryService
from app.sites.pages.open_streams import OpenStreams
from app.sites.pages.people import People
from app.sites.pages.people import SignedInRequest as SignedInRequest
from app.sites.portal.delivery_reader import DeliveryReader
from app.store.connections import Store
from app.store.counters import Counters


class PortalDependencies(msgspec.Struct, frozen=True, kw_only=True):
    """The dependencies of the handlers. `secret` keys the hashes of keys, links and session tokens;
    `public_url` is the address of the REST service and of the portal; `renderer` makes envelopes as they were
    published."""

    store: Store
    grants: Grants
    counters: Counters
    recoveries: RecoveryService
    clock: Clock
    secret: str
    broker: BrokerConfig
    public_url: str
    renderer: EnvelopeRenderer
    delivery: DeliveryReader
    streams: OpenStreams

    @property
    def people(self) -> People:
        """Who signs in to the portal."""
        return People(
            store=self.store,
            counters=self.counters,
            clock=self.clock,
            secret=self.secret,
            secure=self.public_url.startswith("https://"),
        )
