"""Logins at the broker with an API key as user name and an empty password, as clients of established odds
feeds do it: which keys may log in; and the closing of the connections of keys that no longer may.

The broker caches our answers. So a key that is revoked is disconnected at once, and as long as the cache may
still let it in it is disconnected again. Connections that this process did not admit (it was started later,
or another node's process did) are found in the broker's list, which is some seconds old.

While the database does not answer no key may log in, and connected clients stay.
"""

import asyncio
import time

from app.access.api_keys import hint, is_key
from app.access.grants import Grants
from app.broker.management import Management
from app.broker.provisioning import USER_LIMITS
from app.domain.scopes import receives_feed
from app.domain.tenant import Grant
from app.kit.background import wait_for_event
from app.kit.errors import Forbidden, Unavailable
from app.kit.logging import get_logger

#: How long the broker caches our answers (`auth_cache.cache_ttl`, docs/security.md), and a moment.
_CACHE_SECONDS = 11.0
_LIST_SECONDS, _FORGET_SECONDS = 5.0, 20.0
_REPEAT_SECONDS = 0.5
log = get_logger(__name__)


class KeyLogins:
    """Answers the broker's requests about users that are keys; `run` disconnects them."""

    def __init__(self, grants: Grants, management: Management) -> None:
        self._grants, self._management = grants, management
        self._changed = asyncio.Event()
        grants.on_change(self._changed.set)
        #: Keys with the address from which each is connected, and when it was seen there last.
        self._connected: dict[tuple[str, str], float] = {}
        #: Keys that may not log in any more, and until when the broker may still let them in.
        self._refused: dict[str, float] = {}

    async def may_log_in(self, user: str) -> bool:
        """Whether the user is a key that may receive the feed; its address is not known yet. Raises
        `Unavailable`."""
        return await self._grant(user) is not None

    async def may_enter(self, user: str, vhost: str, address: str) -> bool:
        """Whether the key may connect to `vhost` from `address`: the vhost is its tenant's, and the tenant's
        keys have a connection left. Raises `Unavailable`."""
        grant = await self._grant(user, address)
        if grant is None or grant.tenant.vhost != vhost:
            return False
        if await self._connection_count(vhost) >= USER_LIMITS["max-connections"]:
            log.warning("a tenant's keys have all connections that they may have", tenant=grant.tenant.slug)
            return False
        self._connected[user, address] = time.monotonic()
        return True

    async def owns(self, user: str, vhost: str) -> bool:
        """Whether `vhost` is that of the key's tenant. Raises `Unavailable`."""
        grant = await self._grant(user)
        return grant is not None and grant.tenant.vhost == vhost

    async def run(self) -> None:
        """Disconnect keys that may not be connected, until cancelled."""
        listed_at = float("-inf")
        while True:
            changed = await wait_for_event(self._changed, _REPEAT_SECONDS)
            self._changed.clear()
            try:
                if time.monotonic() - listed_at >= _LIST_SECONDS:
                    await self._list()
                    listed_at, changed = time.monotonic(), True
                if changed:
                    await self._find_refused()
                await self._disconnect_refused()
            except Unavailable as error:
                log.warning("checking the connections of keys failed", error=error.detail)
                await asyncio.sleep(_REPEAT_SECONDS)
                self._changed.set()

    async def _list(self) -> None:
        """Add what the broker lists, and forget what it has not listed for some time."""
        for each in await self._management.user_connections():
            if is_key(each.user):
                self._connected[each.user, each.peer_host] = time.monotonic()
        since = time.monotonic() - _FORGET_SECONDS
        self._connected = {where: at for where, at in self._connected.items() if at > since}

    async def _find_refused(self) -> None:
        for user, address in [*self._connected]:
            if await self._grant(user, address) is None:
                self._refused[user] = time.monotonic() + _CACHE_SECONDS
                self._connected.pop((user, address), None)
                log.info("a key may not be connected to the broker any more", hint=hint(user))

    async def _disconnect_refused(self) -> None:
        for user, until in [*self._refused.items()]:
            await self._management.close_user_connections(user, "this API key is not valid here any more")
            if until < time.monotonic():
                del self._refused[user]

    async def _connection_count(self, vhost: str) -> int:
        """How many connections the keys of a tenant have, of those that are known here."""
        users = {user for user, _ in self._connected if await self.owns(user, vhost)}
        return sum([await self._management.connection_count(user) for user in users])

    async def _grant(self, user: str, address: str | None = None) -> Grant | None:
        """The grant of a key that may receive the feed; valid from `address`, where that is known."""
        if not is_key(user):
            return None
        grants = self._grants
        try:
            found = await (
                grants.grant_from_anywhere(user) if address is None else grants.grant_of(user, address)
            )
        except Forbidden:
            return None
        may = receives_feed(found.scopes, found.sports, finished_only=found.finished_only)
        return found if may and found.tenant.amqp else None
