"""The dependencies of the portal's handlers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
from litestar import Request
from litestar.datastructures import State

from app.access import sign_in
from app.access.admin import BrokerConfig
from app.access.grants import Grants
from app.amqp.envelope import EnvelopeRenderer
from app.channels.portal.delivery_reader import DeliveryReader
from app.domain.user import SignedIn
from app.kit.clock import Clock
from app.pages.open_streams import OpenStreams
from app.recovery.request import RecoveryService
from app.store.connections import Store
from app.store.counters import Counters
from app.store.transaction import Tx

SignedInRequest = Request[object, SignedIn, State]  #: its `auth` is who is signed in


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
    def secure(self) -> bool:
        """Whether browsers reach the portal over TLS."""
        return self.public_url.startswith("https://")

    async def session_of(self, token: str) -> SignedIn | None:
        """Who has the session with that token; None unless it is valid."""
        return await sign_in.session_of(self.store, token, secret=self.secret, now=self.clock())

    @asynccontextmanager
    async def changing_grants(self) -> AsyncIterator[Tx]:
        """A transaction that changes keys or the tenant: this process applies it at once, the others when
        they are notified."""
        async with self.store.transaction() as tx:
            yield tx
        self.grants.invalidate()
