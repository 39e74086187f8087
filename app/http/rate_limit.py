"""The rate limit of a key, in requests per minute, and the headers that report it.

`RateLimit-Policy` and `RateLimit` have the form of the IETF's draft: quota and window; what remains, and the
seconds until one more request is allowed.
"""

from functools import lru_cache

from litestar.types import Scope

from app.access import rate_limit as rates
from app.access.rate_limit import WINDOW_SECONDS, RateLimitState
from app.domain.tenant import Grant
from app.kit.errors import TooManyRequests
from app.store.counters import Counters

_KEY = "matchfeed.allowance"


async def count_request(scope: Scope, counters: Counters, grant: Grant) -> None:
    """Count the request against its key; raises `TooManyRequests` above the limit."""
    allowance = await rates.count_request(counters, grant)
    scope["state"][_KEY] = allowance
    if allowance.refused:
        what = f"This key may ask {allowance.limit} times a minute; wait {allowance.reset} s."
        raise TooManyRequests(what, retry_after=allowance.reset)


def headers(scope: Scope) -> list[tuple[bytes, bytes]]:
    """The headers that report the key's rate limit; none before the request is counted."""
    allowance: RateLimitState | None = scope["state"].get(_KEY)
    return _headers(allowance) if allowance else []


def _headers(allowance: RateLimitState) -> list[tuple[bytes, bytes]]:
    headers = [_policy(allowance.limit)]
    if allowance.remaining is not None:
        state = b'"key";r=%d;t=%d' % (allowance.remaining, allowance.reset)
        headers.append((b"ratelimit", state))
    return headers


@lru_cache(maxsize=1024)
def _policy(limit: int) -> tuple[bytes, bytes]:
    return b"ratelimit-policy", b'"key";q=%d;w=%d' % (limit, WINDOW_SECONDS)
