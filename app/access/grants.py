"""From a presented key to what it may do, as fast as a dictionary and as fresh as the database."""

import asyncio
import hmac
from collections import OrderedDict
from collections.abc import Callable, Collection
from ipaddress import ip_address, ip_network
from uuid import UUID

import msgspec

from app.access.key_format import is_well_formed, keyed_hash
from app.domain.tenant import Grant
from app.kit.clock import Clock, system_clock
from app.kit.errors import Forbidden, Unavailable
from app.kit.logging import get_logger
from app.store import keys, notifications
from app.store.connections import Store
from app.store.keys import KeyHolder

_REFUSAL = "This API key is not valid. Check it, or ask your account manager for a new one."
_NOTE_SECONDS = 30.0
_GOOD_KEYS = 20_000
log = get_logger(__name__)


class _CachedKey(msgspec.Struct, frozen=True):
    """A key of ours; without `grant` when it or its tenant is not active."""

    key_id: UUID
    grant: Grant | None
    networks: tuple[str, ...]


class PresentedKey(msgspec.Struct, frozen=True):
    """A key in use beyond one request: what it may do, and the address that it was presented from."""

    grant: Grant
    address: str | None


class Grants:
    """The keys that this process has seen. `run` must be running for them to be remembered."""

    def __init__(self, store: Store, secret: str, clock: Clock = system_clock) -> None:
        self._store = store
        self._secret = secret
        self._clock = clock
        self._listening = False
        self._known: dict[bytes, _CachedKey] = {}
        #: Keys that let somebody in when they were looked up last, newest last. They outlive `forget`: they
        #: say nothing about rights, only whom to look up at once while an address is turned away.
        self._good: OrderedDict[bytes, None] = OrderedDict()
        #: Changes with every change heard of: what was read before one must not be remembered after it.
        self._generation = 0
        self._used: dict[UUID, int] = {}
        self._watchers: list[Callable[[], None]] = []

    @property
    def listening(self) -> bool:
        """Whether changes are heard of, so that grants may be remembered."""
        return self._listening

    async def authorise(self, raw_key: str, address: str | None = None) -> Grant:
        """What the key may do when it is presented from `address`.

        Raises `Forbidden`, always in the same words, when the key is malformed, unknown, revoked, of a
        tenant that is not active, or not meant for that address; `Unavailable` when it cannot be looked up.
        """
        hashed = _keyed_hash(raw_key, self._secret)
        known = self._known.get(hashed)
        if known is None and is_well_formed(raw_key):
            known = await self._read(hashed)
        if known is None or known.grant is None or not _address_allowed(known.networks, address):
            raise Forbidden(_REFUSAL)
        self._used[known.key_id] = self._clock()
        return known.grant

    def recently_valid(self, raw_key: str) -> bool:
        """Whether the key let somebody in when it was looked up last; asks nobody."""
        return _keyed_hash(raw_key, self._secret) in self._good

    def invalidate(self) -> None:
        """Remember no key: something has changed. Whoever makes a change in this very process need not
        wait until it is heard of."""
        self._generation += 1
        self._known.clear()
        for heard in self._watchers:
            heard()

    def on_change(self, heard: Callable[[], None]) -> None:
        """Have `heard` called whenever a key or a tenant may have changed, or `listening` has."""
        self._watchers.append(heard)

    async def no_longer_valid(self, presented: Collection[PresentedKey]) -> list[PresentedKey]:
        """Those whose key would not be let in now, or not with the same rights. Raises `Unavailable`."""
        async with self._store.reading() as tx:
            holders = await keys.by_ids(tx, {one.grant.key_id for one in presented})
        standing = {holder.key.id: holder for holder in holders}
        return [one for one in presented if not _still_valid(one, standing.get(one.grant.key_id))]

    async def run(self) -> None:
        """Hear of changes and note when keys were used, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._hear())
            tasks.create_task(self._note())

    async def save_last_used(self) -> None:
        """Write down when keys were used last."""
        used, self._used = self._used, {}
        if used:
            async with self._store.transaction() as tx:
                await keys.record_last_used(tx, used)

    async def _read(self, hashed: bytes) -> _CachedKey | None:
        generation = self._generation
        async with self._store.reading() as tx:
            holder = await keys.by_hash(tx, hashed)
        if holder is None or not hmac.compare_digest(holder.hash, hashed):
            self._good.pop(hashed, None)
            return None
        known = _CachedKey(holder.key.id, _active_grant(holder), holder.key.networks)
        self._remember_good(hashed, known.grant is not None)
        if self._listening and generation == self._generation:
            self._known[hashed] = known
        return known

    def _remember_good(self, hashed: bytes, good: bool) -> None:
        self._good.pop(hashed, None)
        if good:
            self._good[hashed] = None
            if len(self._good) > _GOOD_KEYS:
                self._good.popitem(last=False)

    async def _hear(self) -> None:
        async for _ in notifications.listen(self._store, notifications.GRANTS, self._heard_state):
            self.invalidate()

    async def _note(self) -> None:
        while True:
            await asyncio.sleep(_NOTE_SECONDS)
            try:
                await self.save_last_used()
            except Unavailable as error:
                log.warning("last use of keys not noted", error=error.detail)

    def _heard_state(self, up: bool) -> None:
        self._listening = up
        self.invalidate()


def _keyed_hash(raw_key: str, secret: str) -> bytes:
    """`digest`; of text that cannot even be written down, nobody's."""
    try:
        return keyed_hash(raw_key, secret)
    except UnicodeEncodeError:
        return b""


def _active_grant(holder: KeyHolder) -> Grant | None:
    key, tenant = holder.key, holder.tenant
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


def _still_valid(presented: PresentedKey, holder: KeyHolder | None) -> bool:
    now = _active_grant(holder) if holder else None
    if now is None or holder is None or not _address_allowed(holder.key.networks, presented.address):
        return False
    then = presented.grant
    same = (now.scopes, now.finished_only, now.operator) == (then.scopes, then.finished_only, then.operator)
    return same and now.sports >= then.sports


def _address_allowed(networks: tuple[str, ...], address: str | None) -> bool:
    """Whether a key limited to `networks` may be presented from `address`."""
    if not networks:
        return True
    try:
        presented = ip_address(address or "")
    except ValueError:
        return False
    mapped = getattr(presented, "ipv4_mapped", None)
    return any((mapped or presented) in ip_network(network) for network in networks)
