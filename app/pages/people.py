"""The people who sign in to a site, for the handlers of every site."""

from typing import Any

import msgspec
from litestar import Request
from litestar.datastructures import State

from app.access import sign_in
from app.domain.user import SignedIn
from app.kit.clock import Clock
from app.kit.errors import Unavailable
from app.store import tenants
from app.store.connections import Store
from app.store.counters import Counters

SignedInRequest = Request[object, SignedIn, State]  #: its `auth` is who is signed in
AnyRequest = Request[Any, Any, Any]


class People(msgspec.Struct, frozen=True, kw_only=True):
    """`secret` keys the hashes of links and session tokens. `secure`: browsers reach the site over TLS.
    `operators`: operators sign in, else the people of tenants."""

    store: Store
    counters: Counters
    clock: Clock
    secret: str
    secure: bool
    operators: bool = False

    async def session_of(self, token: str) -> SignedIn | None:
        """Who has the session with that token; None unless it is valid."""
        return await sign_in.session_of(
            self.store, token, secret=self.secret, now=self.clock(), operator=self.operators
        )

    async def session_lasts(self, signed_in: SignedIn) -> bool:
        """Whether the session is still valid. A page that is only open does not use it: the session ends some
        hours after the last request of the user. Without the database nobody knows, so it lasts."""
        try:
            async with self.store.autocommit() as tx:
                present = await sign_in.sessions(tx, signed_in.user.id, now=self.clock())
                tenant = await tenants.get(tx, signed_in.tenant.id)
        except Unavailable:
            return True
        return tenant is not None and tenant.active and signed_in.session_id in {each.id for each in present}
