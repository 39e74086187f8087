"""Who sends a request to a site, and whether they may: the checks before each of its handlers.

1. A request that changes something must come from a page of ours (`Sec-Fetch-Site`, or `Origin`): also where
   there is no session yet.
2. The session of the cookie; without one, the request is redirected to the page for signing in.
3. The permission that the route names in its `opt`.
4. A request that changes something must carry the session's CSRF token, in its form or in a header.

Routes with `public` in their `opt` (signing in, links, assets) need only 1.
"""

import hmac
from collections.abc import Callable
from typing import Any, Protocol, cast
from urllib.parse import quote, urlsplit

from litestar import Request
from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send

from app.kit.errors import Forbidden, Refusal
from app.kit.logging import bind
from app.sites.pages import cookies
from app.sites.pages.site import Site, site_of

CSRF_FIELD, CSRF_HEADER = "csrf_token", "x-csrf-token"
_READING = ("GET", "HEAD")


class SignedInPerson(Protocol):
    """Who sent a request. Forms carry `csrf_token`; `log_fields` are bound to what is logged meanwhile."""

    @property
    def csrf_token(self) -> str: ...

    @property
    def log_fields(self) -> dict[str, str]: ...


class Sessions(Protocol):
    """Where a site's sessions are found. `secure`: browsers reach the site over TLS."""

    @property
    def secure(self) -> bool: ...

    async def session_of(self, token: str) -> SignedInPerson | None:
        """Who has the session with that token; None unless it is valid."""


class SignInRequired(Refusal):
    """There is no session: the client is redirected to the page for signing in, and from there to `next`."""

    status = 303

    def __init__(self, site: Site, next_path: str) -> None:
        super().__init__("Sign in first.")
        sign_in = site.sign_in_path
        self.location = f"{sign_in}?next={quote(next_path, safe='/')}" if next_path else sign_in


class SessionGuard(ASGIMiddleware):
    """The middleware around every handler of a site, inside the application's `RequestGuard`."""

    scopes = (ScopeType.HTTP,)

    def __init__(self, sessions: Callable[[], Sessions]) -> None:
        self._sessions = sessions

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        opt: dict[str, Any] = scope["route_handler"].opt
        method = cast(HTTPScope, scope)["method"]
        changes = method not in _READING
        if changes:
            _refuse_other_sites(scope)
        if opt.get("public"):
            await next_app(scope, receive, send)
            return
        signed_in = await self._authenticate(scope)
        scope["auth"] = signed_in
        with bind(**signed_in.log_fields):
            site_of(scope).check(signed_in, opt.get("permission"))
            if changes:
                await _check_csrf_token(Request(scope, receive, send), signed_in)
            await next_app(scope, receive, send)

    async def _authenticate(self, scope: Scope) -> SignedInPerson:
        site, sessions = site_of(scope), self._sessions()
        token = cookies.read_session(scope, site, secure=sessions.secure)
        found = await sessions.session_of(token) if token else None
        if found is not None:
            return found
        raise SignInRequired(site, scope["path"] if cast(HTTPScope, scope)["method"] in _READING else "")


def _refuse_other_sites(scope: Scope) -> None:
    """Raise `Forbidden` for a request that a browser sends for a page of another site. Browsers add these
    headers themselves, and no page can change them; a client without either is not a browser."""
    headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
    site, origin = headers.get(b"sec-fetch-site"), headers.get(b"origin")
    foreign = site != "same-origin" if site else origin and urlsplit(origin).netloc != headers.get(b"host")
    if foreign:
        what = "This request comes from a page of another site. Open ours and try again there."
        raise Forbidden(what, code="other_site")


async def _check_csrf_token(request: Request[Any, Any, Any], signed_in: SignedInPerson) -> None:
    given = request.headers.get(CSRF_HEADER)
    if given is None:
        value = (await request.form()).get(CSRF_FIELD)
        given = value if isinstance(value, str) else ""
    if not hmac.compare_digest(given.encode(), signed_in.csrf_token.encode()):
        what = "This page is older than your session. Go back, reload it, and try again."
        raise Forbidden(what, code="older_page")
