"""A site: pages under one address for one kind of people, who sign in; its assets, and the filters by which
its templates show values.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from gzip import compress
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, Self

from litestar import Request, Response
from litestar.types import Scope
from markupsafe import Markup

from app.domain.suspension_reasons import in_words, market_reason_code
from app.domain.tenant import SignedIn, User
from app.http.pages import environment
from app.http.representation import accepts_gzip
from app.kit.errors import NotFound
from app.sites.pages.texts import Catalogue

_SHARED = Path(__file__).parent
SHARED_ASSETS = _SHARED / "assets"
_SITE = "matchfeed.site"
_ASSETS = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml; charset=utf-8",
}
_CACHED = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}


def moment(millis: int | None) -> str | Markup:
    """Unix ms as a time in UTC, empty for None."""
    return "" if millis is None else _time(millis, "%Y-%m-%d %H:%M:%S UTC")


def time_of_day(millis: int) -> Markup:
    """Unix ms as a time of the day in UTC."""
    return _time(millis, "%H:%M:%S")


def _time(millis: int, shown: str) -> Markup:
    at = datetime.fromtimestamp(millis / 1000, UTC)
    machine = at.isoformat(timespec="milliseconds")
    return Markup('<time datetime="{}">{}</time>').format(machine, at.strftime(shown))


def clock(millis: int) -> str:
    """Milliseconds into a round as minutes and seconds."""
    minutes, seconds = divmod(millis // 1000, 60)
    return f"{minutes}:{seconds:02}"


def measured(value: float | None) -> str:
    """A number as a table shows it; a dash for None."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.1f}"


FILTERS: dict[str, Callable[..., Any]] = {
    "moment": moment,
    "clock": clock,
    "time_of_day": time_of_day,
    "measured": measured,
    "reason": in_words,
    "reason_code": market_reason_code,
}


class Assets:
    """Style sheets, scripts and pictures in these folders, any of which may be absent: read and gzipped once,
    for they belong to the build."""

    def __init__(self, *folders: Path) -> None:
        found = (path for folder in folders if folder.is_dir() for path in sorted(folder.iterdir()))
        self._bodies = {path.name: path.read_bytes() for path in found if path.suffix in _ASSETS}
        self._gzipped = {name: compress(body, mtime=0) for name, body in self._bodies.items()}
        #: Part of every asset's address, so that browsers may cache it for ever.
        self.version = sha256(b"".join(self._bodies.values())).hexdigest()[:12]

    def response(self, scope: Scope, name: str, headers: Mapping[str, str] = _CACHED) -> Response[bytes]:
        """Gzipped where the request allows it. Raises `NotFound`."""
        if name not in self._bodies:
            raise NotFound(f"There is no asset {name!r}.")
        media_type, sent = _ASSETS[Path(name).suffix], dict(headers) | {"Vary": "Accept-Encoding"}
        if accepts_gzip(list(scope["headers"])):
            sent["Content-Encoding"] = "gzip"
            return Response(self._gzipped[name], media_type=media_type, headers=sent)
        return Response(self._bodies[name], media_type=media_type, headers=sent)


#: By the browser's preference, or always one of both.
THEMES = ("browser", "light", "dark")
SIZES = ("dense", "large")  #: of text and rows


class Look(NamedTuple):
    """How pages look: one of `THEMES`, and one of `SIZES`."""

    theme: str
    size: str


class Entry(NamedTuple):
    """A page that every page links to: its path, the name of its title among the texts, the key that opens
    it after "g" (where the site has such keys), whether it (or one below it) is shown, and the name of a
    shorter title for the bar, where there is one."""

    path: str
    title: str
    shortcut: str = ""
    current: bool = False
    short: str = ""


class Site:
    """`folder` has `templates`, `locales` and, if it needs any, `assets`; those of this package are beneath
    them.

    `session_cookie` is the cookie's name: cookies do not tell apart ports of one host. `navigation` has the
    pages that all link to. `default_look` is that of browsers in which nobody has chosen another. `allowed`
    returns the permissions of a user, `check` raises `Forbidden` unless they have one (None: everybody
    has)."""

    def __init__(
        self,
        path: str,
        folder: Path,
        *,
        session_cookie: str,
        navigation: tuple[Entry, ...],
        default_look: Look,
        allowed: Callable[[User], frozenset[Any]],
        check: Callable[[User, Any], None],
    ) -> None:
        self.path = path
        self.sign_in_path = f"{path}/sign-in"
        self.session_cookie = session_cookie
        self.default_look = default_look
        self.check = check
        self.texts = Catalogue(_SHARED / "locales", folder / "locales")
        self.assets = Assets(SHARED_ASSETS, folder / "assets")
        self.templates = environment(FILTERS, folder / "templates", _SHARED / "templates")
        self._navigation, self._allowed = navigation, allowed

    def __deepcopy__(self, _memo: object) -> Self:
        """The framework copies routers with their `opt`; a site, which never changes, is one for all."""
        return self

    def describe(self, signed_in: SignedIn | None) -> dict[str, Any]:
        """What templates have of the signed-in user: `user`, `tenant` (None of an operator) and
        `permissions`; None and empty before."""
        if signed_in is None:
            return {"user": None, "tenant": None, "permissions": frozenset()}
        user, tenant = signed_in.user, signed_in.tenant
        permissions = self._allowed(user)
        return {"user": user, "tenant": None if user.is_operator else tenant, "permissions": permissions}

    def entries(self, path: str) -> tuple[Entry, ...]:
        """Every page of the navigation, with that of `path` marked."""
        return tuple(each._replace(current=self._is_current(each.path, path)) for each in self._navigation)

    def local_path(self, path: str) -> str:
        """`path` if it is one of the site's, to be redirected to; else the site's first page."""
        before_query = path.partition("?")[0]
        ours = f"{before_query}/".startswith(f"{self.path}/")
        # Browsers resolve these, also encoded: the path would be another one.
        leads_elsewhere = {".", ".."} & set(before_query.lower().replace("%2e", ".").split("/"))
        printable = path.isascii() and path.isprintable() and "\\" not in path
        return path if ours and printable and not leads_elsewhere else self.path

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
