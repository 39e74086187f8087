"""How much a key may ask for, and how much a stranger may knock.

A key's rate is exact, in a moving minute, over all processes; while Redis is away every request passes
and is counted as unchecked. Strangers (no key, or none of ours) are held back per address and process; a
key that may be one of ours is looked up all the same, one after the other, so that nobody is kept out by
what others at the same address do.
"""

import asyncio
import math
from collections import Counter, OrderedDict
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address
from typing import Literal, NoReturn

import msgspec

from app.access.grants import Grants
from app.access.key_format import is_well_formed
from app.domain.tenant import Grant
from app.kit.clock import Clock, system_clock
from app.kit.errors import BadRequest, Forbidden, TooManyRequests, Unauthenticated, Unavailable
from app.kit.metrics import rate_limit_unchecked, unauthenticated
from app.store.counters import WINDOW_MILLIS, Counters

WINDOW_SECONDS = WINDOW_MILLIS // 1000
_KNOCKS = 600
_KNOCKS_PER_SECOND = 10
_ADDRESSES = 20_000
_LOOKUPS, _ALL_LOOKUPS = 32, 256  #: that may wait, of one address and of all
RefusalReason = Literal["key", "path", "log_token"]


class RateLimitState(msgspec.Struct, frozen=True):
    """Where a key stands after this request: `limit` requests a minute, `remaining` now, the next one more
    in `reset` seconds; `refused` when this request was one too many. Without `remaining` nobody counted."""

    limit: int
    remaining: int | None = None
    reset: int = 0
    refused: bool = False


async def count_request(counters: Counters, grant: Grant) -> RateLimitState:
    """Count one request of the key that `grant` stands for."""
    limit = grant.rate_limit_rpm
    try:
        count = await counters.count(f"rate:{grant.key_id.hex}", limit)
    except Unavailable:
        rate_limit_unchecked.inc()
        return RateLimitState(limit)
    reset = min(max(math.ceil(count.frees_in / 1000), 1), WINDOW_SECONDS)
    return RateLimitState(limit, count.remaining, reset, not count.counted)


async def health(counters: Counters) -> str:
    """`ok`, or what is wrong; for the health of the service."""
    return "ok" if counters.up else "Redis is away: the rates of keys are not limited"


class UnauthenticatedLimiter:
    """Refusals per address: 600 at once, then ten a second. Remembers the newest `addresses` only."""

    def __init__(self, clock: Clock = system_clock, addresses: int = _ADDRESSES) -> None:
        self._clock = clock
        self._addresses = addresses
        self._looking_up: Counter[str] = Counter()
        self._one_at_a_time = asyncio.Lock()
        #: When each address will have worked its refusals off (ms).
        self._clear_at: OrderedDict[str, float] = OrderedDict()

    def record_refusal(self, address: str, why: RefusalReason = "key") -> None:
        """Note that somebody at `address` was refused."""
        unauthenticated.labels(why).inc()
        where, now = address_block(address), self._clock()
        clear_at = max(self._clear_at.pop(where, now), now)
        self._clear_at[where] = clear_at + 1000 / _KNOCKS_PER_SECOND
        if len(self._clear_at) > self._addresses:
            self._clear_at.popitem(last=False)

    def retry_after(self, address: str) -> int:
        """For how many seconds nobody at `address` is listened to without a known key; usually 0."""
        if not self._clear_at:
            return 0
        owed = self._clear_at.get(address_block(address), 0) - self._clock()
        return max(0, math.ceil((owed - 1000 * (_KNOCKS - 1) / _KNOCKS_PER_SECOND) / 1000))

    async def look_up(self, grants: Grants, raw_key: str, address: str) -> Grant:
        """What a key may do that is shown at an address which is not listened to; a few wait for one lookup
        after the other, more are turned away."""
        where = address_block(address)
        if self._looking_up[where] >= _LOOKUPS or self._looking_up.total() >= _ALL_LOOKUPS:
            _refuse_address(self.retry_after(address))
        self._looking_up[where] += 1
        try:
            async with self._one_at_a_time:
                return await grants.authorise(raw_key, address)
        finally:
            self._looking_up[where] -= 1
            if not self._looking_up[where]:
                del self._looking_up[where]


async def authenticate_key(
    grants: Grants, limiter: UnauthenticatedLimiter, address: str, shown: Callable[[], str]
) -> Grant:
    """What the key that is `shown` may do; raises what refuses it, and what showing it does.

    An address that was refused too often is turned away, unless it shows a key that lets it in; what cannot
    be a key at all is not looked up then. Who is refused here is a stranger who knocked.
    """
    try:
        raw_key = shown()
        seconds = limiter.retry_after(address)
        if seconds and not grants.recently_valid(raw_key):
            if not is_well_formed(raw_key):
                _refuse_address(seconds)
            return await limiter.look_up(grants, raw_key, address)
        return await grants.authorise(raw_key, address)
    except (BadRequest, Unauthenticated, Forbidden):
        if seconds := limiter.retry_after(address):
            _refuse_address(seconds)
        limiter.record_refusal(address)
        raise


def _refuse_address(seconds: int) -> NoReturn:
    unauthenticated.labels("turned_away").inc()
    raise too_many_requests(seconds)


def too_many_requests(seconds: int) -> TooManyRequests:
    """What an address is told that is not listened to for so long."""
    what = "Too many requests without a valid key came from this address; slow down."
    return TooManyRequests(what, retry_after=max(seconds, 1))


def address_block(address: str) -> str:
    """What counts as one address: a whole /64 of IPv6, for anyone may have as much."""
    if ":" not in address:
        return address
    try:
        full = ip_address(address)
    except ValueError:
        return address
    if isinstance(full, IPv6Address) and full.ipv4_mapped is None:
        return full.exploded[:19]
    return str(getattr(full, "ipv4_mapped", full))
