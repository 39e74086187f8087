"""Rate limits: of requests with a valid key, of people at a site, and of requests without either.

A key's limit is exact, over a sliding minute and all processes; while Redis is down every request is accepted
and counted as unchecked. Requests without a valid key are limited by address and process; a well-formed key
from a limited address is still read, one at a time, so that no client is refused because of others at its
address.
"""

import asyncio
import math
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address
from typing import Literal, NoReturn
from uuid import UUID

import msgspec

from app.access.api_keys import is_key
from app.access.grants import Grants
from app.domain.tenant import Grant
from app.kit.clock import Clock
from app.kit.errors import BadRequest, Forbidden, TooManyRequests, Unauthenticated, Unavailable
from app.kit.logging import get_logger
from app.kit.metrics import rate_limit_unchecked, unauthenticated
from app.store import recovery_jobs
from app.store.connections import Store
from app.store.counters import WINDOW_MILLIS, Counters

WINDOW_SECONDS = WINDOW_MILLIS // 1000
PAGES_PER_MINUTE = 600  #: requests of one person of a tenant, as many as a key's by default
_BURST = 600
_REFUSALS_PER_SECOND = 10
_MAX_ADDRESSES = 20_000
_MAX_WAITING_LOOKUPS, _MAX_ALL_LOOKUPS = 32, 256  #: of one address and of all
RefusalReason = Literal["key", "path", "log_token"]
log = get_logger(__name__)


class RateLimitState(msgspec.Struct, frozen=True):
    """The rate limit of a key or a person after this request: `limit` requests a minute, `remaining` now, one
    more in `reset` seconds; `refused` when this request exceeded it. `remaining` is None when the request was
    not counted."""

    limit: int
    remaining: int | None = None
    reset: int = 0
    refused: bool = False


async def count_request(counters: Counters, grant: Grant) -> RateLimitState:
    """Count one request of the grant's key."""
    return await _count(counters, f"rate:{grant.key_id.hex}", grant.rate_limit_rpm)


async def count_page(counters: Counters, user_id: UUID) -> RateLimitState:
    """Count one request of a tenant's person at the portal."""
    return await _count(counters, f"pages:{user_id.hex}", PAGES_PER_MINUTE)


async def _count(counters: Counters, name: str, limit: int) -> RateLimitState:
    try:
        count = await counters.count(name, limit)
    except Unavailable:
        rate_limit_unchecked.inc()
        return RateLimitState(limit)
    reset = min(max(math.ceil(count.frees_in / 1000), 1), WINDOW_SECONDS)
    return RateLimitState(limit, count.remaining, reset, not count.counted)


async def health(counters: Counters) -> str:
    """`ok`, or what is wrong; for the service's health report."""
    return "ok" if counters.up else "Redis is away: the rates of keys are not limited"


class UnauthenticatedLimiter:
    """Limits refused requests by address: 600 at once, then ten a second. Counts the newest addresses
    only."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._looking_up: Counter[str] = Counter()
        self._one_at_a_time = asyncio.Lock()
        #: When the refusals of each address will have expired (ms).
        self._clear_at: OrderedDict[str, float] = OrderedDict()

    def record_refusal(self, address: str, why: RefusalReason = "key") -> None:
        """Count a refused request from `address`."""
        unauthenticated.labels(why).inc()
        block, now = address_block(address), self._clock()
        clear_at = max(self._clear_at.pop(block, now), now)
        self._clear_at[block] = clear_at + 1000 / _REFUSALS_PER_SECOND
        if len(self._clear_at) > _MAX_ADDRESSES:
            self._clear_at.popitem(last=False)

    def retry_after(self, address: str) -> int:
        """For how many seconds requests from `address` without a known key are refused; usually 0."""
        if not self._clear_at:
            return 0
        remaining = self._clear_at.get(address_block(address), 0) - self._clock()
        return max(0, math.ceil((remaining - 1000 * (_BURST - 1) / _REFUSALS_PER_SECOND) / 1000))

    async def look_up(self, grants: Grants, raw_key: str, address: str) -> Grant:
        """The grant of a key presented from a limited address; a few such lookups wait for one another, more
        are refused."""
        block = address_block(address)
        if self._looking_up[block] >= _MAX_WAITING_LOOKUPS or self._looking_up.total() >= _MAX_ALL_LOOKUPS:
            _refuse_address(self.retry_after(address))
        self._looking_up[block] += 1
        try:
            async with self._one_at_a_time:
                return await grants.grant_of(raw_key, address)
        finally:
            self._looking_up[block] -= 1
            if not self._looking_up[block]:
                del self._looking_up[block]


async def authenticate_key(
    grants: Grants, limiter: UnauthenticatedLimiter, address: str, read_key: Callable[[], str]
) -> Grant:
    """The grant of the key that `read_key` returns; raises what refuses it, and what `read_key` raises.

    A limited address is refused, unless it presents a valid key; a malformed key is not looked up then. A
    refused key counts against the address.
    """
    try:
        raw_key = read_key()
        seconds = limiter.retry_after(address)
        if seconds and not grants.recently_valid(raw_key):
            if not is_key(raw_key):
                _refuse_address(seconds)
            return await limiter.look_up(grants, raw_key, address)
        return await grants.grant_of(raw_key, address)
    except (BadRequest, Unauthenticated, Forbidden):
        if seconds := limiter.retry_after(address):
            _refuse_address(seconds)
        limiter.record_refusal(address)
        raise


def _refuse_address(seconds: int) -> NoReturn:
    unauthenticated.labels("turned_away").inc()
    raise too_many_requests(seconds)


def too_many_requests(seconds: int) -> TooManyRequests:
    """The error for an address that is limited for so many seconds."""
    what = "Too many requests without a valid key came from this address; slow down."
    return TooManyRequests(what, retry_after=max(seconds, 1))


def address_block(address: str) -> str:
    """What is limited as one address: a whole /64 of IPv6, since one client may have as much."""
    if ":" not in address:
        return address
    try:
        full = ip_address(address)
    except ValueError:
        return address
    if isinstance(full, IPv6Address) and full.ipv4_mapped is None:
        return full.exploded[:19]
    return str(getattr(full, "ipv4_mapped", full))


class RefusedRecoveries:
    """Remembers recoveries that were refused because their key's rate was exceeded.

    SDKs of the established feed ignore `Retry-After`, and wait for hours after a recovery that failed. So the
    feed process publishes `alive subscribed="0"` to the tenant once the key has room again
    (`channels.feed.session`), on which they request it again.

    Records at most one refusal of a key until it has room; repeated requests write nothing."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._recorded_until: dict[UUID, float] = {}

    async def record(self, grant: Grant, seconds: int) -> None:
        """A recovery of this key was refused; it has room again in so many seconds."""
        now = time.monotonic()
        if self._recorded_until.get(grant.key_id, now) > now:
            return
        try:
            async with self._store.autocommit() as tx:
                await recovery_jobs.record_refused(tx, grant.key_id, grant.tenant.id, seconds * 1000)
        except Unavailable as error:
            log.warning("a refused recovery was not recorded", error=error.detail)
            return
        self._recorded_until[grant.key_id] = now + seconds
