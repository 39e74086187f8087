"""Signing in and out, setting a password by a link, and the language: pages that need no session."""

from typing import Any

from litestar import Response, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response import Redirect

from app.access import sign_in as sessions
from app.access import users
from app.http.auth import client_address
from app.http.handlers import get
from app.kit.errors import Field, Invalid, NotFound, Refusal
from app.sites.pages import cookies
from app.sites.pages.error_pages import sentences
from app.sites.pages.forms import Form
from app.sites.pages.people import AnyRequest, People, SignedInRequest
from app.sites.pages.rendering import page, redirect
from app.sites.pages.site import site_of
from app.sites.pages.texts import LANGUAGES

_PUBLIC: dict[str, Any] = {"public": True, "query": ("next", "done")}
_UNKNOWN_LINK = NotFound("This link is not valid (any more). Ask for a new one.", code="link_unusable")


@get("/sign-in", opt=_PUBLIC)
async def sign_in_page(request: AnyRequest) -> Response[str]:
    """The form for signing in."""
    return _sign_in_form(request)


@post("/sign-in", opt=_PUBLIC)
async def sign_in(request: AnyRequest, people: NamedDependency[People]) -> Response[Any]:
    """Begin a session, always with a new token."""
    form = Form(await request.form())
    try:
        issued = await sessions.sign_in(
            people.store,
            people.counters,
            form.text("email"),
            form.secret("password"),
            form.text("code") or None,
            address=client_address(request.scope),
            user_agent=request.headers.get("user-agent", "")[:300],
            secret=people.secret,
            now=people.clock(),
            operator=people.operators,
        )
    except Refusal as refusal:
        return _sign_in_form(request, refusal, form.text("email"), form.text("next"))
    response = redirect(site_of(request).local_path(form.text("next")))
    response.set_cookie(cookies.session_cookie(site_of(request), issued.token, secure=people.secure))
    return response


@post("/sign-out")
async def sign_out(request: SignedInRequest, people: NamedDependency[People]) -> Redirect:
    """End the session."""
    user, session_id = request.auth.user, request.auth.session_id
    async with people.store.transaction() as tx:
        await sessions.end_session(tx, user.id, session_id, by=request.auth.actor, now=people.clock())
    response = redirect(site_of(request).sign_in_path, "signed_out")
    response.set_cookie(cookies.ended_session_cookie(site_of(request), secure=people.secure))
    return response


@get("/link/{token:str}", opt=_PUBLIC)
async def link_page(
    request: AnyRequest, people: NamedDependency[People], token: FromPath[str]
) -> Response[str]:
    """The form for setting a password; opening it does not use the link up (previews of messages do)."""
    async with people.store.autocommit() as tx:
        user = await users.link_user(tx, token, secret=people.secret, now=people.clock())
    if user is None:
        raise _UNKNOWN_LINK
    return page(request, "link.html", email=user.email, sentences=[])


@post("/link/{token:str}", opt=_PUBLIC)
async def redeem_link(
    request: AnyRequest, people: NamedDependency[People], token: FromPath[str]
) -> Response[Any]:
    """Set the password; the link and all sessions of the user end."""
    form = Form(await request.form())
    password = form.secret("password")
    try:
        if password != form.secret("again"):
            raise Invalid(Field(("again",), "The two passwords differ.", "passwords_differ"))
        await users.redeem_link(people.store, token, password, secret=people.secret, now=people.clock())
    except Invalid as refusal:
        return page(
            request, "link.html", status=refusal.status, email="", sentences=sentences(request, refusal)
        )
    return redirect(site_of(request).sign_in_path, "password_set")


@post("/language", opt={"public": True})
async def set_language(request: AnyRequest, people: NamedDependency[People]) -> Redirect:
    """Choose the language of the pages in this browser."""
    form = Form(await request.form())
    language = form.choice("language", LANGUAGES)
    response = redirect(site_of(request).local_path(form.text("next")))
    response.set_cookie(cookies.language_cookie(language, secure=people.secure))
    return response


def _sign_in_form(
    request: AnyRequest, refusal: Refusal | None = None, email: str = "", next_path: str = ""
) -> Response[str]:
    response = page(
        request,
        "sign_in.html",
        status=refusal.status if refusal else 200,
        email=email,
        next_path=site_of(request).local_path(next_path or request.query_params.get("next", "")),
        sentences=sentences(request, refusal) if refusal else [],
    )
    if refusal and refusal.retry_after is not None:
        response.headers["Retry-After"] = str(refusal.retry_after)
    return response


HANDLERS = (sign_in_page, sign_in, sign_out, link_page, redeem_link, set_language)
