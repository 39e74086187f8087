"""What a request passes before its handler, in one place and in this order.

1. The gate: an address that was refused too often is turned away, unless it shows a key known to be good.
2. Whose key it is; the request's `auth` is then that key's grant.
3. The key's rate. What comes after counts against it, refused or not.
4. What the route asks for: operator, sport, scope.
5. In which format the answer goes out.
6. That every query parameter is one that the route knows.
7. Whether the answer is there already: a body that is kept is sent at once (see `kept`); whether too many
   answers that cost much are being made (see `heavy`).

Routes with `open` need no key: only 5 and 6 concern them. WebSockets pass by; `stream` has a door of its own.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from app.access.grants import Grants
from app.access.rate_limit import UnauthenticatedLimiter, authenticate_key
from app.domain.tenant import Grant
from app.http import media, rate_limit, request_id
from app.http.auth import address_of, admit, presented_key
from app.http.heavy import HeavyRequests
from app.http.kept import Bodies, Seen
from app.http.media import Format
from app.http.query import refuse_long, refuse_misread, refuse_nul, refuse_unknown
from app.http.sending import Body, deliver
from app.kit.logging import bind
from app.store.counters import Counters

SIBLING = ".xml"  #: how the address ends that always answers XML, where a route has one


_STRANGE = (400, 401, 403)  #: how an open route answers to whom it does not know


class Door(ASGIMiddleware):
    """The one middleware of the application."""

    scopes = (ScopeType.HTTP,)

    def __init__(
        self,
        grants: Callable[[], Grants],
        counters: Callable[[], Counters],
        bodies: Callable[[], Bodies],
        limiter: UnauthenticatedLimiter,
    ) -> None:
        self._heavy = HeavyRequests()
        self._grants, self._counters, self._bodies, self._limiter = grants, counters, bodies, limiter

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        opt = scope["route_handler"].opt
        if opt.get("open"):
            await self._let_in(scope, receive, send, next_app)
            return
        grant = await self._known(scope)
        scope["auth"] = grant
        with bind(request_id=request_id.of(scope), tenant=grant.tenant.slug):
            await rate_limit.spend(scope, self._counters(), grant)
            admit(grant, opt)
            settle(scope, opt)
            if opt.get("heavy"):
                with self._heavy.counted(grant.key_id):
                    await next_app(scope, receive, send)
            elif "kept" in opt and (body := self._found(scope, grant, opt["kept"])):
                await deliver(scope, send, body)
            else:
                await next_app(scope, receive, send)

    def _found(self, scope: Scope, grant: Grant, seen: Seen) -> Body | None:
        """The kept body that answers this request; without one, the handler's is going to be kept."""
        form = media.of(scope)
        key = (scope["path"], scope["query_string"], form, seen(grant, form))
        bodies = self._bodies()
        body = bodies.find(key)
        if body is None:
            bodies.begin(scope, key)
        return body

    async def _let_in(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        """An open route: who fails at it is a stranger who knocked. Handlers' refusals are answers by now."""

        async def counting(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in _STRANGE:
                self._limiter.record_refusal(address_of(scope), "log_token")
            await send(message)

        with bind(request_id=request_id.of(scope)):
            settle(scope, scope["route_handler"].opt)
            await next_app(scope, receive, counting)

    async def _known(self, scope: Scope) -> Grant:
        """The grant of the key that is shown; raises what refuses it."""
        shown = partial(presented_key, scope["headers"])
        return await authenticate_key(self._grants(), self._limiter, address_of(scope), shown)


def settle(scope: Scope, opt: dict[str, Any]) -> None:
    """Settle the answer's format and look at the query, before any work is done.

    `opt["format"]` names the only format of a route, whatever `Accept` says; an `open` route speaks JSON.
    """
    fixed = opt.get("format")
    if fixed:
        media.settle(scope, fixed)
    elif opt.get("sibling") and scope["path"].endswith(SIBLING):
        media.settle(scope, Format.XML)
    elif not opt.get("open"):
        media.settle(scope, media.wanted(scope["headers"]))
    refuse_long(scope)
    refuse_nul(scope, path=fixed is not Format.XML)  # the facade answers what there is not as XML
    if scope["query_string"]:
        refuse_misread(scope)
        if not opt.get("any_query"):
            refuse_unknown(scope["query_string"], opt.get("query", ()))


def siblings(path: str) -> list[str]:
    """A path and its `.xml` sibling, for routes whose `opt` says `sibling`."""
    return [path, path + SIBLING]
