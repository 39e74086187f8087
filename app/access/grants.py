"""From a presented key to its grant: cached in the process, invalidated by database notifications."""

import asyncio
import hmac
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from ipaddress import ip_address, ip_network
from uuid import UUID

import msgspec

from app.access.api_keys import is_key, key_hash
from app.domain.tenant import Grant
from app.kit.clock import Clock, system_clock
from app.kit.errors import Forbidden, Unavailable
from app.kit.logging import get_logger
from app.store import keys, notifications
from app.store.connections import Store
from app.store.keys import KeyWithTenant
from app.store.transaction import Tx

_REFUSAL = "This API key is not valid. Check it, or ask your account manager for a new one."
_SAVE_LAST_USED_SECONDS = 30.0
_MAX_VALID_KEYS = 20_000
log = get_logger(__name__)


class _CachedKey(msgspec.Struct, frozen=True):
    """A known key; without `grant` when it or its tenant is not active."""

    key_id: UUID
    grant: Grant | None
    networks: tuple[str, ...]


class PresentedKey(msgspec.Struct, frozen=True):
    """A key in use beyond one request: its grant, and the address that presented it."""

    grant: Grant
    address: str | None


class Grants:
    """The keys that this process has seen. They are cached only while `run` is running."""

    def __init__(self, store: Store, secret: str, clock: Clock = system_clock) -> None:
        self._store = store
        self._secret = secret
        self._clock = clock
        self._listening = False
        self._known: dict[bytes, _CachedKey] = {}
        #: Keys that were valid when they were read last, newest last. They survive `invalidate`: they say
        #: nothing about rights, only which keys are read at once while their address is refused.
        self._valid: OrderedDict[bytes, None] = OrderedDict()
        #: Rises with every invalidation: what was read before one must not be cached after it.
        self._generation = 0
        self._used: dict[UUID, int] = {}
        self._callbacks: list[Callable[[], None]] = []

    @property
    def listening(self) -> bool:
        """Whether notifications are received, so that grants may be cached."""
        return self._listening

    async def grant_of(self, raw_key: str, address: str | None = None) -> Grant:
        """The grant of a key that is presented from `address`.

        Raises `Forbidden`, always with the same text, when the key is malformed, unknown, revoked, of a
        tenant that is not active, or not valid from that address; `Unavailable` when it cannot be read.
        """
        known = await self._key(raw_key)
        if known is None or known.grant is None or not _address_allowed(known.networks, address):
            raise Forbidden(_REFUSAL)
        self._used[known.key_id] = self._clock()
        return known.grant

    async def grant_from_anywhere(self, raw_key: str) -> Grant:
        """`grant_of`, for a caller that learns the address later and then checks it."""
        known = await self._key(raw_key)
        if known is None or known.grant is None:
            raise Forbidden(_REFUSAL)
        return known.grant

    def recently_valid(self, raw_key: str) -> bool:
        """Whether the key was valid when it was last read; no query."""
        return _keyed_hash(raw_key, self._secret) in self._valid

    @asynccontextmanager
    async def changing(self) -> AsyncIterator[Tx]:
        """A transaction that changes keys or tenants: this process applies it at once, the others when they
        are notified."""
        async with self._store.transaction() as tx:
            yield tx
        self.invalidate()

    def invalidate(self) -> None:
        """Empty the cache, since something has changed. A change made in this process need not wait for its
        notification."""
        self._generation += 1
        self._known.clear()
        for callback in self._callbacks:
            callback()

    def on_change(self, callback: Callable[[], None]) -> None:
        """Call `callback` whenever a key or a tenant may have changed, or `listening` has."""
        self._callbacks.append(callback)

    async def no_longer_valid(self, presented: Collection[PresentedKey]) -> list[PresentedKey]:
        """Those whose key would be refused now, or has fewer or other rights. Raises `Unavailable`."""
        async with self._store.autocommit() as tx:
            present = await keys.by_ids(tx, {one.grant.key_id for one in presented})
        current = {found.key.id: found for found in present}
        return [one for one in presented if not _still_valid(one, current.get(one.grant.key_id))]

    async def run(self) -> None:
        """Invalidate at every change and save when keys were last used, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._listen())
            tasks.create_task(self._save_last_used_periodically())

    async def save_last_used(self) -> None:
        """Write when keys were last used."""
        used, self._used = self._used, {}
        if used:
            async with self._store.transaction() as tx:
                await keys.record_last_used(tx, used)

    async def _key(self, raw_key: str) -> _CachedKey | None:
        """What is known of a key; None for one that is malformed or unknown."""
        hashed = _keyed_hash(raw_key, self._secret)
        known = self._known.get(hashed)
        return known or (await self._read(hashed) if is_key(raw_key) else None)

    async def _read(self, hashed: bytes) -> _CachedKey | None:
        generation = self._generation
        async with self._store.autocommit() as tx:
            found = await keys.by_hash(tx, hashed)
        if found is None or not hmac.compare_digest(found.hash, hashed):
            self._valid.pop(hashed, None)
            return None
        known = _CachedKey(found.key.id, _active_grant(found), found.key.networks)
        self._set_valid(hashed, known.grant is not None)
        if self._listening and generation == self._generation:
            self._known[hashed] = known
        return known

    def _set_valid(self, hashed: bytes, valid: bool) -> None:
        self._valid.pop(hashed, None)
        if valid:
            self._valid[hashed] = None
            if len(self._valid) > _MAX_VALID_KEYS:
                self._valid.popitem(last=False)

    async def _listen(self) -> None:
        async for _ in notifications.listen(self._store, notifications.GRANTS, self._set_listening):
            self.invalidate()

    async def _save_last_used_periodically(self) -> None:
        while True:
            await asyncio.sleep(_SAVE_LAST_USED_SECONDS)
            try:
                await self.save_last_used()
            except Unavailable as error:
                log.warning("last use of keys not saved", error=error.detail)

    def _set_listening(self, up: bool) -> None:
        self._listening = up
        self.invalidate()


def _keyed_hash(raw_key: str, secret: str) -> bytes:
    """`key_hash`; empty for text that UTF-8 cannot encode."""
    try:
        return key_hash(raw_key, secret)
    except UnicodeEncodeError:
        return b""


def _active_grant(found: KeyWithTenant) -> Grant | None:
    key, tenant = found.key, found.tenant
    if not key.active or not tenant.active:
        return None
    return Grant(
        key_id=key.id,
        tenant=tenant,
        scopes=key.scopes,
        sports=key.sports,
        rate_limit_rpm=key.rate_limit_rpm,
        finished_only=key.finished_only,
        operator=key.operator,
    )


def _still_valid(presented: PresentedKey, found: KeyWithTenant | None) -> bool:
    now = _active_grant(found) if found else None
    if now is None or found is None or not _address_allowed(found.key.networks, presented.address):
        return False
    then = presented.grant
    same = (now.scopes, now.finished_only, now.operator) == (then.scopes, then.finished_only, then.operator)
    return same and now.sports >= then.sports


def _address_allowed(networks: tuple[str, ...], address: str | None) -> bool:
    """Whether a key limited to `networks` is valid from `address`."""
    if not networks:
        return True
    try:
        presented = ip_address(address or "")
    except ValueError:
        return False
    mapped = getattr(presented, "ipv4_mapped", None)
    return any((mapped or presented) in ip_network(network) for network in networks)
