"""The request guard: the checks that every request passes before its handler, in this order.

1. The address: one with too many refused requests is refused, unless its key is known to be valid.
2. Authentication; the request's `auth` is then the key's grant.
3. The key's rate limit. All that follows counts against it, refused or not.
4. Authorisation: operator, sport, scope, as the route requires.
5. Content negotiation.
6. The response cache: a cached body is sent at once (see `response`). Its query was checked when it was read.
7. Query parameters: every one must be known to the route.
8. For expensive routes, the limit of concurrent requests.

Routes with `open` need no key: only 5 and 7 apply to them. WebSockets bypass it; `stream` guards its own
upgrades.

A route is expensive if its `opt` has `concurrency_limited`: a few of such requests are handled at a time of
one tenant, and a few in total, so that they do not delay others. A request above the limit is refused at once
(429), before its body is read.

It is a middleware that reads the ASGI scope, and none of the framework's guards and authentication: those
work on the request object that is made for a handler, which a cached read does not need. The key, the rate,
the rights and a cached body cost hardly more than a handler without any of them (`docs/performance.md`).
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol
from uuid import UUID

from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from app.access.grants import Grants
from app.access.rate_limit import RefusedRecoveries, UnauthenticatedLimiter, authenticate_key, count_request
from app.domain.scopes import receives_feed
from app.domain.tenant import Grant
from app.http.auth import authorize, client_address, read_api_key
from app.http.cached_response import send_cached
from app.http.handlers import XML_SUFFIX
from app.http.headers import request_id, set_rate_limit
from app.http.listeners import Listener, listener_of
from app.http.representation import (
    Format,
    ResponseBody,
    negotiate,
    response_format,
    set_response_format,
)
from app.http.request_data import refuse_long, refuse_nul_in_path, refuse_wrong
from app.http.response import CachedPer, ResponseCache
from app.kit.errors import TooManyRequests
from app.kit.heavy_work import on_behalf_of
from app.kit.logging import bind
from app.store.counters import Counters

PER_TENANT, IN_TOTAL = 2, 4
_MORE_FORMATS = {"csv_response": Format.CSV, "event_stream": Format.EVENTS}  #: by what a route's `opt` has
_RETRY_SECONDS = 1


class ConcurrencyLimiter:
    """Counts the expensive requests that this process is handling: `in_total` at most. Where a client decides
    how long its response takes, a total would let some tenants keep all others waiting."""

    def __init__(self, in_total: float = IN_TOTAL) -> None:
        self._per_tenant: Counter[UUID] = Counter()
        self._in_total = in_total

    @contextmanager
    def counted(self, tenant_id: UUID) -> Iterator[None]:
        """Count one request of this tenant for as long as the context lasts; raises `TooManyRequests`."""
        if self._per_tenant[tenant_id] >= PER_TENANT:
            what = f"{PER_TENANT} such requests of yours are being answered already; wait for one of them."
            raise TooManyRequests(what, retry_after=_RETRY_SECONDS)
        if self._per_tenant.total() >= self._in_total:
            what = "Too many such requests are being answered at this moment; try again."
            raise TooManyRequests(what, retry_after=_RETRY_SECONDS)
        self._per_tenant[tenant_id] += 1
        try:
            yield
        finally:
            self._per_tenant[tenant_id] -= 1
            if not self._per_tenant[tenant_id]:
                del self._per_tenant[tenant_id]


_UNAUTHENTICATED = (400, 401, 403)  #: how an open route refuses a client that it does not know


class GuardParts(Protocol):
    """What the guard uses. It exists only after the start, and is another one after the next start."""

    grants: Grants
    counters: Counters
    response_cache: ResponseCache
    unauthenticated_limiter: UnauthenticatedLimiter
    refused_recoveries: RefusedRecoveries


class RequestGuard(ASGIMiddleware):
    """The middleware around every HTTP handler, inside `ListenerFilter`."""

    scopes = (ScopeType.HTTP,)

    def __init__(self, parts: GuardParts) -> None:
        self._parts = parts
        self._concurrency = ConcurrencyLimiter()

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        opt = scope["route_handler"].opt
        if opt.get("open"):
            await self._handle_open(scope, receive, send, next_app)
            return
        grant = await self._authenticate(scope)
        scope["auth"] = grant
        tenant = grant.tenant
        with (
            bind(request_id=request_id(scope), tenant=tenant.slug),
            on_behalf_of(None if grant.operator else tenant.id),
        ):
            await self._count(scope, grant)
            authorize(grant, opt)
            choose_format(scope, opt)
            if "cached_per" in opt and (body := self._cached(scope, grant, opt["cached_per"])):
                await send_cached(scope, send, body)
                return
            check_query(scope, opt)
            if opt.get("concurrency_limited"):
                with self._concurrency.counted(grant.tenant.id):
                    await next_app(scope, receive, send)
            else:
                await next_app(scope, receive, send)

    async def _count(self, scope: Scope, grant: Grant) -> None:
        """Count the request against its key; raises `TooManyRequests` above the limit. A recovery that is
        refused is recorded, for clients that ignore `Retry-After`; not that of a key without rights to the
        feed, as each record makes all clients of the tenant recover."""
        state = await count_request(self._parts.counters, grant)
        set_rate_limit(scope, state)
        if not state.refused:
            return
        remembered = scope["route_handler"].opt.get("remembered_when_refused")
        feed = receives_feed(grant.scopes, grant.sports, finished_only=grant.finished_only)
        if remembered and feed and listener_of(scope) is Listener.SDK:
            await self._parts.refused_recoveries.record(grant, state.reset)
        what = f"This key may ask {state.limit} times a minute; wait {state.reset} s."
        raise TooManyRequests(what, retry_after=state.reset)

    def _cached(self, scope: Scope, grant: Grant, cached_per: CachedPer) -> ResponseBody | None:
        """The cached body of this request; without one, the handler's response is going to be stored."""
        form = response_format(scope)
        address = (listener_of(scope), scope["path"], scope["query_string"])
        key = (*address, form, cached_per(grant, form))
        cache = self._parts.response_cache
        body = cache.get(key)
        if body is None:
            cache.begin(scope, key)
        return body

    async def _handle_open(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        """An open route: refusals of its handler count as unauthenticated requests. They are rendered
        responses when they pass here."""

        async def counting(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in _UNAUTHENTICATED:
                self._parts.unauthenticated_limiter.record_refusal(client_address(scope), "log_token")
            await send(message)

        with bind(request_id=request_id(scope)):
            choose_format(scope, scope["route_handler"].opt)
            check_query(scope, scope["route_handler"].opt)
            await next_app(scope, receive, counting)

    async def _authenticate(self, scope: Scope) -> Grant:
        """The grant of the request's key; raises the refusal if there is none."""
        read_key = partial(read_api_key, scope["headers"])
        return await authenticate_key(
            self._parts.grants, self._parts.unauthenticated_limiter, client_address(scope), read_key
        )


def choose_format(scope: Scope, opt: dict[str, Any]) -> None:
    """Choose the response's format; raises `NotAcceptable`.

    `opt["format"]` is the only format of a route, whatever `Accept` says; an `open` route sends JSON, and one
    that sends files (`file_response`) sends them as they are.
    """
    if fixed := opt.get("format"):
        set_response_format(scope, fixed)
    elif opt.get("sibling") and scope["path"].endswith(XML_SUFFIX):
        set_response_format(scope, Format.XML)
    elif not opt.get("open") and not opt.get("file_response"):
        more = next((form for name, form in _MORE_FORMATS.items() if name in opt), None)
        set_response_format(scope, negotiate(scope["headers"], more))


def check_query(scope: Scope, opt: dict[str, Any]) -> None:
    """Check the query, before any work is done."""
    refuse_long(scope)
    if opt.get("format") is not Format.XML:  # the facade's handlers answer such a path, in XML
        refuse_nul_in_path(scope)
    if not opt.get("handler_checks_query"):
        refuse_wrong(scope)
