"""Who sends a request to a site, and whether they may: the checks before each of its handlers, and its
cookies.

1. A request that changes something must come from a page of ours (`Sec-Fetch-Site`, or `Origin`): also where
   there is no session yet.
2. The session of the cookie; without one, the request is redirected to the page for signing in.
3. The rate of a tenant's person. All that follows counts against it, refused or not.
4. The permission that the route names in its `opt`.
5. A request that changes something must carry the session's CSRF token, in its form or in a header.

Routes with `public` in their `opt` (signing in, links, assets) need only 1.

Under TLS the name of the session's cookie has the prefix `__Host-`: browsers accept it from this very host
only, over TLS, so that no neighbouring host can plant one (RFC 6265bis, 4.1.3).
"""

import hmac
from collections.abc import Callable
from contextlib import nullcontext
from http.cookies import CookieError, SimpleCookie
from math import inf
from typing import Any, cast
from urllib.parse import quote

import msgspec
from litestar import Request
from litestar.datastructures import Cookie, State
from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send

from app.access.rate_limit import count_page
from app.access.sign_in import session_of
from app.domain.tenant import SignedIn
from app.http.request_guard import ConcurrencyLimiter
from app.kit.clock import Clock
from app.kit.errors import Forbidden, Refusal, TooManyRequests
from app.kit.heavy_work import on_behalf_of
from app.kit.logging import bind
from app.sites.pages.site import SIZES, THEMES, Look, Site, site_of
from app.store.connections import Store
from app.store.counters import Counters

CSRF_FIELD, CSRF_HEADER = "csrf_token", "x-csrf-token"
_READING = ("GET", "HEAD")
_SESSION_SECONDS = 7 * 24 * 3600  #: the longest life of a session (`access.sign_in`)
_CHOICE_SECONDS = 365 * 24 * 3600
_LANGUAGE = "matchfeed-language"  #: all sites share it
_THEME, _SIZE = "theme", "size"  #: of one site, after its name

SignedInRequest = Request[object, SignedIn, State]  #: its `auth` is who is signed in
AnyRequest = Request[Any, Any, Any]


class People(msgspec.Struct, frozen=True, kw_only=True):
    """Who signs in to a site, and what that needs. `secret` keys the hashes of links and session tokens.
    `secure`: browsers reach the site over TLS. `operators`: operators sign in, else the people of tenants."""

    store: Store
    counters: Counters
    clock: Clock
    secret: str
    secure: bool
    operators: bool = False


class SignInRequired(Refusal):
    """There is no session: the client is redirected to the page for signing in, and from there to `next`."""

    status = 303

    def __init__(self, site: Site, next_path: str) -> None:
        super().__init__("Sign in first.")
        sign_in = site.sign_in_path
        self.location = f"{sign_in}?next={quote(next_path, safe='/')}" if next_path else sign_in


class SessionGuard(ASGIMiddleware):
    """The middleware around every handler of a site, inside the application's `RequestGuard`. `people` exist
    only once the application has started. Of routes with `concurrency_limited` a few are handled at a time of
    one tenant's people; their responses are files, which a client may read slowly."""

    scopes = (ScopeType.HTTP,)

    def __init__(self, people: Callable[[], People]) -> None:
        self._people, self._concurrency = people, ConcurrencyLimiter(inf)

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        opt: dict[str, Any] = scope["route_handler"].opt
        changes = cast(HTTPScope, scope)["method"] not in _READING
        if changes:
            _refuse_other_sites(scope)
        if opt.get("public"):
            await next_app(scope, receive, send)
            return
        signed_in = await self._authenticate(scope)
        if signed_in is None:
            raise SignInRequired(site_of(scope), "" if changes else scope["path"])
        scope["auth"] = signed_in
        operators = self._people().operators
        with bind(**signed_in.log_fields), on_behalf_of(None if operators else signed_in.tenant.id):
            if not operators:
                await self._count(signed_in)
            site_of(scope).check(signed_in.user, opt.get("permission"))
            if changes:
                await _check_csrf_token(Request(scope, receive, send), signed_in)
            limited = opt.get("concurrency_limited")
            with self._concurrency.counted(signed_in.tenant.id) if limited else nullcontext():
                await next_app(scope, receive, send)

    async def _count(self, signed_in: SignedIn) -> None:
        """Raise `TooManyRequests` above the rate."""
        state = await count_page(self._people().counters, signed_in.user.id)
        if state.refused:
            what = f"You have sent {state.limit} requests within a minute; wait {state.reset} s."
            raise TooManyRequests(what, retry_after=state.reset, code="too_many_pages", limit=state.limit)

    async def _authenticate(self, scope: Scope) -> SignedIn | None:
        people = self._people()
        token = _read(scope, _session_name(site_of(scope), people.secure))
        return await session_of(
            people.store, token, secret=people.secret, now=people.clock(), operator=people.operators
        )


def _refuse_other_sites(scope: Scope) -> None:
    """Raise `Forbidden` for a request that a browser sends for a page of another site. Browsers add these
    headers themselves, and no page can change them; a client without either is not a browser."""
    headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
    site, origin = headers.get(b"sec-fetch-site"), headers.get(b"origin")
    foreign = site != "same-origin" if site else origin and origin.partition("://")[2] != headers.get(b"host")
    if foreign:
        what = "This request comes from a page of another site. Open ours and try again there."
        raise Forbidden(what, code="other_site")


async def _check_csrf_token(request: AnyRequest, signed_in: SignedIn) -> None:
    given = request.headers.get(CSRF_HEADER)
    if given is None:
        value = (await request.form()).get(CSRF_FIELD)
        given = value if isinstance(value, str) else ""
    if not hmac.compare_digest(given.encode(), signed_in.csrf_token.encode()):
        what = "This page is older than your session. Go back, reload it, and try again."
        raise Forbidden(what, code="older_page")


def session_cookie(site: Site, token: str, *, secure: bool) -> Cookie:
    """Sets the session's token; an empty one removes it."""
    return _cookie(_session_name(site, secure), token, _SESSION_SECONDS if token else 0, secure)


def read_language(scope: Scope) -> str:
    """The language that was chosen, empty without a choice."""
    return _read(scope, _LANGUAGE)


def language_cookie(language: str, *, secure: bool) -> Cookie:
    """Sets the language."""
    return _cookie(_LANGUAGE, language, _CHOICE_SECONDS, secure)


def read_look(scope: Scope) -> Look:
    """How the site's pages look in this browser."""
    site = site_of(scope)
    theme, size = (_read(scope, _look_name(site, what)) for what in (_THEME, _SIZE))
    return Look(
        theme if theme in THEMES else site.default_look.theme,
        size if size in SIZES else site.default_look.size,
    )


def look_cookies(site: Site, look: Look, *, secure: bool) -> list[Cookie]:
    """Set how the site's pages look."""
    return [
        _cookie(_look_name(site, what), chosen, _CHOICE_SECONDS, secure)
        for what, chosen in ((_THEME, look.theme), (_SIZE, look.size))
    ]


def _look_name(site: Site, what: str) -> str:
    return f"matchfeed-{site.path.strip('/')}-{what}"


def _session_name(site: Site, secure: bool) -> str:
    return f"__Host-{site.session_cookie}" if secure else site.session_cookie


def _cookie(name: str, value: str, seconds: int, secure: bool) -> Cookie:
    return Cookie(name, value=value, max_age=seconds, path="/", secure=secure, httponly=True, samesite="lax")


def _read(scope: Scope, name: str) -> str:
    for header, value in scope["headers"]:
        if header == b"cookie":
            jar: SimpleCookie = SimpleCookie()
            try:
                jar.load(value.decode("latin-1"))
            except CookieError:  # what a client sends may be anything: it then has no cookie of ours
                continue
            if name in jar:
                return jar[name].value
    return ""
