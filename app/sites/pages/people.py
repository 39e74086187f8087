"""The people who sign in to a site, for the handlers of every site."""

from typing import Any

import msgspec
from litestar import Request
from litestar.datastructures import State

from app.access import sign_in
from app.domain.tenant import SignedIn
from app.kit.clock import Clock
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
