"""Renders pages: templates with whoever is signed in, the texts of their language, and strict headers."""

from typing import Any
from urllib.parse import urlencode

from litestar import Request, Response
from litestar.response import Redirect

from app.sites.pages import cookies
from app.sites.pages.site import site_of
from app.sites.pages.texts import LANGUAGES, Texts, preferred

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
#: `same-origin`: with `no-referrer` browsers would send `Origin: null`, and the session guard refuses that.
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_HTML = "text/html"  #: the framework adds the charset


def page(
    request: Request[Any, Any, Any], template: str, *, status: int = 200, **values: Any
) -> Response[str]:
    """A whole page from `templates/`. Templates have `t` (texts), `site` (its address), `csrf_token` (empty
    before signing in), `path`, what the site's `describe` gives, and `values`."""
    return _response(render(request, template, **values), status)


def render(request: Request[Any, Any, Any], template: str, **values: Any) -> str:
    """The text of a page, or of a part of one."""
    site, path = site_of(request), request.scope["path"]
    signed_in = request.scope.get("auth")
    common = {
        "t": texts_for(request),
        "languages": LANGUAGES,
        "site": site.path,
        "path": path,
        "csrf_token": signed_in.csrf_token if signed_in else "",
        "navigation": site.entries(path) if signed_in else (),
        "done": _done(request),
        "assets": f"{site.path}/assets/{site.assets.version}",
    }
    return site.templates.get_template(template).render(common | site.describe(signed_in) | values)


def fragment(request: Request[Any, Any, Any], template: str, **values: Any) -> Response[str]:
    """A part of a page, which a script puts in the place of the part that is shown."""
    return _response(render(request, template, **values), 200)


def redirect(path: str, done: str = "", **query: str) -> Redirect:
    """To another page, after a change; `done` names the text (`done.<name>`) that is shown there."""
    parameters = urlencode(query | ({"done": done} if done else {}))
    return Redirect(f"{path}?{parameters}" if parameters else path, status_code=303, headers=dict(HEADERS))


def texts_for(request: Request[Any, Any, Any]) -> Texts:
    """The texts in the language that was chosen, or else that the browser prefers."""
    chosen = cookies.read_language(request.scope)
    language = chosen if chosen in LANGUAGES else preferred(request.headers.get("accept-language", ""))
    return site_of(request).texts.texts_in(language)


def _done(request: Request[Any, Any, Any]) -> str:
    name = f"done.{request.query_params.get('done', '')}"
    texts = texts_for(request)
    return texts(name) if texts.has(name) else ""


def _response(body: str, status: int) -> Response[str]:
    return Response(body, media_type=_HTML, status_code=status, headers=dict(HEADERS))
