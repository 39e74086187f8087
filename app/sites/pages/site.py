"""A site: pages under one address for one kind of people, who sign in; and the filters by which its
templates show values.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

from litestar import Request
from litestar.types import Scope
from markupsafe import Markup

from app.domain.catalogue import Locale
from app.domain.suspension_reasons import in_words, market_reason_code
from app.http.pages import environment
from app.sites.pages.assets import Assets
from app.sites.pages.texts import Catalogue


def moment(millis: int | None) -> str | Markup:
    """Unix ms as a time in UTC, empty for None."""
    if millis is None:
        return ""
    at = datetime.fromtimestamp(millis / 1000, UTC)
    shown = f"{at:%Y-%m-%d %H:%M:%S} UTC"
    return Markup('<time datetime="{}">{}</time>').format(at.isoformat(timespec="milliseconds"), shown)


def clock(millis: int) -> str:
    """Milliseconds into a round as minutes and seconds."""
    minutes, seconds = divmod(millis // 1000, 60)
    return f"{minutes}:{seconds:02}"


def time_of_day(millis: int) -> Markup:
    """Unix ms as a time of the day in UTC."""
    at = datetime.fromtimestamp(millis / 1000, UTC)
    return Markup('<time datetime="{}">{}</time>').format(
        at.isoformat(timespec="milliseconds"), f"{at:%H:%M:%S}"
    )


def measured(value: float | None) -> str:
    """A number as a table shows it; a dash for None."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.1f}"


def reason(text: str, locale: Locale) -> str:
    """Why something is suspended, in the language of the page."""
    return in_words(text, locale)


FILTERS: dict[str, Callable[..., Any]] = {
    "moment": moment,
    "clock": clock,
    "time_of_day": time_of_day,
    "measured": measured,
    "reason": reason,
    "reason_code": market_reason_code,
}


_SHARED = Path(__file__).parent
_SITE = "matchfeed.site"


class Entry(NamedTuple):
    """A page that every page links to: its path, the name of its title among the texts, the key that opens
    it after "g" (where the site has such keys), whether it (or one below it) is shown."""

    path: str
    title: str
    shortcut: str = ""
    current: bool = False


class Site:
    """`folder` has `templates`, `locales` and, if it needs any, `assets`; those of this package are beneath
    them.

    `session_cookie` is the cookie's name: cookies do not tell apart ports of one host. `navigation` has the
    pages that all link to. `describe` gives what templates have of whoever
    is signed in, None being nobody; `check` raises `Forbidden` unless they have a permission."""

    def __init__(
        self,
        path: str,
        folder: Path,
        *,
        session_cookie: str,
        navigation: tuple[Entry, ...],
        describe: Callable[[Any], dict[str, Any]],
        check: Callable[[Any, Any], None],
    ) -> None:
        self.path = path
        self.sign_in_path = f"{path}/sign-in"
        self.session_cookie = session_cookie
        self.describe, self.check = describe, check
        self.texts = Catalogue(_SHARED / "locales", folder / "locales")
        self.assets = Assets(_SHARED / "assets", folder / "assets")
        self.templates = environment(FILTERS, folder / "templates", _SHARED / "templates")
        self._navigation = navigation

    def __deepcopy__(self, _memo: object) -> Self:
        """The framework copies routers with their `opt`; a site, which never changes, is one for all."""
        return self

    def entries(self, path: str) -> tuple[Entry, ...]:
        """Every page of the navigation, with that of `path` marked."""
        return tuple(each._replace(current=self._is_current(each.path, path)) for each in self._navigation)

    def local_path(self, path: str) -> str:
        """`path` if it is one of the site's, to be redirected to; else the site's first page."""
        parts = urlsplit(path)
        ours = parts.path == self.path or parts.path.startswith(f"{self.path}/")
        if parts.scheme or parts.netloc or not ours or not path.isascii() or "\\" in path:
            return self.path
        return path

    def _is_current(self, page: str, path: str) -> bool:
        return path == page or (page != self.path and path.startswith(f"{page}/"))


def site_of(request_or_scope: Request[Any, Any, Any] | Scope) -> Site:
    """The site whose router has the request's route, or below whose address there is no such route."""
    scope = request_or_scope.scope if isinstance(request_or_scope, Request) else request_or_scope
    found: Site = scope["state"].get(_SITE) or scope["route_handler"].opt["site"]
    return found


def find_site(scope: Scope, sites: Iterable[Site]) -> Site | None:
    """The one of `sites` that has a request's address, if any, for a request without a route."""
    path = scope["path"]
    found = next((each for each in sites if path == each.path or path.startswith(f"{each.path}/")), None)
    scope["state"][_SITE] = found
    return found
