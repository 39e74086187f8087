"""Cookies: the session's token, by the site's own name, and the language, which all sites share.

Under TLS the session's name has the prefix `__Host-`: browsers accept it from this very host only, over TLS,
so that no neighbouring host can plant one (RFC 6265bis, 4.1.3).
"""

from http.cookies import CookieError, SimpleCookie

from litestar.datastructures import Cookie
from litestar.types import Scope

from app.sites.pages.site import Site

_SESSION_SECONDS = 7 * 24 * 3600  #: the longest life of a session (`access.sign_in`)
_LANGUAGE_SECONDS = 365 * 24 * 3600
_LANGUAGE = "matchfeed-language"


def read_session(scope: Scope, site: Site, *, secure: bool) -> str:
    """The session's token, empty without one."""
    return _read(scope, _session_name(site, secure))


def session_cookie(site: Site, token: str, *, secure: bool) -> Cookie:
    """Sets the session's token."""
    return _cookie(_session_name(site, secure), token, _SESSION_SECONDS, secure)


def ended_session_cookie(site: Site, *, secure: bool) -> Cookie:
    """Removes the session's token."""
    return _cookie(_session_name(site, secure), "", 0, secure)


def read_language(scope: Scope) -> str:
    """The chosen language, empty without a choice."""
    return _read(scope, _LANGUAGE)


def language_cookie(language: str, *, secure: bool) -> Cookie:
    """Sets the language."""
    return _cookie(_LANGUAGE, language, _LANGUAGE_SECONDS, secure)


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
