"""Renders the portal's pages: templates with the user, the texts of their language, and strict headers."""

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import jinja2
from litestar import Request, Response
from litestar.response import Redirect

from app.channels.portal import assets, cookies, filters
from app.channels.portal.navigation import entries
from app.channels.portal.permissions import allowed
from app.channels.portal.texts import LANGUAGES, Texts, preferred, texts_in
from app.domain.user import SignedIn

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


def _environment() -> jinja2.Environment:
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    templates.filters |= filters.FILTERS
    return templates


_TEMPLATES = _environment()


def page(
    request: Request[Any, Any, Any], template: str, *, status: int = 200, **values: Any
) -> Response[str]:
    """A whole page from `templates/`. Templates have `t` (texts), `user`, `tenant` and `permissions` (None
    and empty before signing in), `csrf_token`, `path`, and `values`."""
    return _response(render(request, template, **values), status)


def render(request: Request[Any, Any, Any], template: str, **values: Any) -> str:
    """The text of a page, or of a part of one."""
    signed_in: SignedIn | None = request.scope.get("auth")
    permissions = allowed(signed_in.user.role) if signed_in else frozenset()
    common = {
        "t": texts_for(request),
        "languages": LANGUAGES,
        "path": request.scope["path"],
        "user": signed_in.user if signed_in else None,
        "tenant": signed_in.tenant if signed_in else None,
        "csrf_token": signed_in.csrf_token if signed_in else "",
        "permissions": permissions,
        "navigation": entries(request.scope["path"]) if signed_in else (),
        "done": _done(request),
        "assets": f"/portal/assets/{assets.VERSION}",
    }
    return _TEMPLATES.get_template(template).render(common | values)


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
    return texts_in(chosen if chosen in LANGUAGES else preferred(request.headers.get("accept-language", "")))


def _done(request: Request[Any, Any, Any]) -> str:
    name = f"done.{request.query_params.get('done', '')}"
    texts = texts_for(request)
    return texts(name) if texts.has(name) else ""


def _response(body: str, status: int) -> Response[str]:
    return Response(body, media_type=_HTML, status_code=status, headers=dict(HEADERS))
