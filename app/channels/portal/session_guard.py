"""Who sends a request to the portal, and whether they may: the checks before each of its handlers.

1. A request that changes something must come from a page of ours (`Sec-Fetch-Site`, or `Origin`): also where
   there is no session yet.
2. The session of the cookie; without one, the request is redirected to the page for signing in.
3. The permission that the route names in its `opt`.
4. A request that changes something must carry the session's CSRF token, in its form or in a header.

Routes with `public` in their `opt` (signing in, links, assets) need only 1.
"""

import hmac
from collections.abc import Callable
from typing import Any, cast
from urllib.parse import quote, urlsplit

from litestar import Request
from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send

from app.access import sign_in
from app.channels.portal import cookies
from app.channels.portal.dependencies import PortalDependencies
from app.channels.portal.permissions import check
from app.domain.user import SignedIn
from app.kit.errors import Forbidden, Refusal
from app.kit.logging import bind

SIGN_IN = "/portal/sign-in"
CSRF_FIELD, CSRF_HEADER = "csrf_token", "x-csrf-token"
_READING = ("GET", "HEAD")


class SignInRequired(Refusal):
    """There is no session: the client is redirected to the page for signing in, and from there to `next`."""

    status = 303

    def __init__(self, next_path: str) -> None:
        super().__init__("Sign in first.")
        self.location = f"{SIGN_IN}?next={quote(next_path, safe='/')}" if next_path else SIGN_IN


class SessionGuard(ASGIMiddleware):
    """The middleware around every handler of the portal, inside the application's `RequestGuard`."""

    scopes = (ScopeType.HTTP,)

    def __init__(self, dependencies: Callable[[], PortalDependencies]) -> None:
        self._dependencies = dependencies

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        opt: dict[str, Any] = scope["route_handler"].opt
        method = cast(HTTPScope, scope)["method"]
        changes = method not in _READING
        if changes:
            _refuse_other_sites(scope)
        if opt.get("public"):
            await next_app(scope, receive, send)
            return
        signed_in = scope["auth"] = await self._authenticate(scope)
        with bind(user=str(signed_in.user.id), tenant=signed_in.tenant.slug):
            check(signed_in.user.role, opt.get("permission"))
            if changes:
                await _check_csrf_token(Request(scope, receive, send), signed_in)
            await next_app(scope, receive, send)

    async def _authenticate(self, scope: Scope) -> SignedIn:
        portal = self._dependencies()
        token = cookies.read_session(scope, secure=portal.secure)
        if token:
            found = await sign_in.session_of(portal.store, token, secret=portal.secret, now=portal.clock())
            if found is not None:
                return found
        raise SignInRequired(scope["path"] if cast(HTTPScope, scope)["method"] in _READING else "")


def local_path(path: str) -> str:
    """`path` if it is one of the portal's, to be redirected to; else the portal's first page."""
    parts = urlsplit(path)
    ours = parts.path == "/portal" or parts.path.startswith("/portal/")
    if parts.scheme or parts.netloc or not ours or not path.isascii() or "\\" in path:
        return "/portal"
    return path


def _refuse_other_sites(scope: Scope) -> None:
    """Raise `Forbidden` for a request that a browser sends for a page of another site. Browsers add these
    headers themselves, and no page can change them; a client without either is not a browser."""
    headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
    site, origin = headers.get(b"sec-fetch-site"), headers.get(b"origin")
    foreign = site != "same-origin" if site else origin and urlsplit(origin).netloc != headers.get(b"host")
    if foreign:
        raise Forbidden(
            "This request comes from a page of another site. Open the portal and try again there."
        )


async def _check_csrf_token(request: Request[Any, Any, Any], signed_in: SignedIn) -> None:
    given = request.headers.get(CSRF_HEADER)
    if given is None:
        value = (await request.form()).get(CSRF_FIELD)
        given = value if isinstance(value, str) else ""
    if not hmac.compare_digest(given.encode(), signed_in.csrf_token.encode()):
        raise Forbidden("This page is older than your session. Go back, reload it, and try again.")
