"""Renders pages: templates with the person signed in, the texts of their language, and strict headers."""

from typing import Any
from urllib.parse import urlencode

from litestar import Response
from litestar.response import Redirect

from app.kit.errors import Field, Invalid, Refusal
from app.sites.pages.sessions import AnyRequest, read_language, read_look
from app.sites.pages.site import SIZES, THEMES, site_of
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


def page(
    request: AnyRequest, template: str, refusal: Refusal | None = None, *, status: int = 200, **values: Any
) -> Response[str]:
    """A page from `templates/`, or a part that a script puts in the place of the one that is shown. After a
    `refusal` with its status, and what it says at the top."""
    if refusal is None:
        return _response(render(request, template, **values), status)
    said = sentences(request, refusal)
    response = _response(render(request, template, sentences=said, **values), refusal.status)
    if refusal.retry_after is not None:
        response.headers["Retry-After"] = str(refusal.retry_after)
    return response


def render(request: AnyRequest, template: str, **values: Any) -> str:
    """The text of a page, or of a part of one. Templates have `t` (texts), `site` (its address), `csrf_token`
    (empty before signing in), `path` and `page_path` (a page may give the first another value), what the
    site's `describe` returns, and `values`."""
    site, path = site_of(request), request.scope["path"]
    signed_in = request.scope.get("auth")
    common = {
        "t": texts_for(request),
        "languages": LANGUAGES,
        "themes": THEMES,
        "sizes": SIZES,
        "look": read_look(request.scope),
        "site": site.path,
        "path": path,
        "page_path": path,
        "csrf_token": signed_in.csrf_token if signed_in else "",
        "navigation": site.entries(path) if signed_in else (),
        "done": _done(request),
        "sentences": (),
        "assets": f"{site.path}/assets/{site.assets.version}",
    }
    return site.templates.get_template(template).render(common | site.describe(signed_in) | values)


def redirect(path: str, done: str = "", **query: str) -> Redirect:
    """To another page, after a change; `done` names the text (`done.<name>`) that is shown there."""
    parameters = urlencode(query | ({"done": done} if done else {}))
    return Redirect(f"{path}?{parameters}" if parameters else path, status_code=303, headers=dict(HEADERS))


def download_headers(name: str) -> dict[str, str]:
    """The headers of a file that browsers store under this name."""
    return HEADERS | {"Content-Disposition": f'attachment; filename="{name}"'}


def texts_for(request: AnyRequest) -> Texts:
    """The texts in the language that was chosen, or else that the browser prefers."""
    chosen = read_language(request.scope)
    language = chosen if chosen in LANGUAGES else preferred(request.headers.get("accept-language", ""))
    return site_of(request).texts.texts_in(language)


def sentences(request: AnyRequest, refusal: Refusal) -> list[str]:
    """What a refusal says, in the user's language where that has a text for it."""
    texts = texts_for(request)
    if isinstance(refusal, Invalid):
        return [_field_sentence(texts, field) for field in refusal.fields]
    values = {"retry_after": refusal.retry_after} | refusal.values
    return [_sentence(texts, refusal.code, refusal.detail, values)]


def _field_sentence(texts: Texts, field: Field) -> str:
    values = {"field": field.loc[-1] if field.loc else "", "input": field.input}
    return _sentence(texts, field.type, field.msg, values | (field.ctx or {}))


def _sentence(texts: Texts, code: str, otherwise: str, values: dict[str, Any]) -> str:
    name, command = f"errors.{code}", f"commands.{values.get('command', '')}"
    if texts.has(command):  # as the title of its form
        values = values | {"command": texts(command)}
    return texts(name, **values) if texts.has(name) else otherwise


def _done(request: AnyRequest) -> str:
    texts, name = texts_for(request), f"done.{request.query_params.get('done', '')}"
    return texts(name) if texts.has(name) else ""


def _response(body: str, status: int) -> Response[str]:
    # The framework adds the charset.
    return Response(body, media_type="text/html", status_code=status, headers=dict(HEADERS))
