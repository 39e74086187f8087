"""The routes that every site has: signing in and out, setting a password by a link, the language, the look,
assets; and what concerns the user alone: password, second factor, sessions.
"""

from typing import Any
from uuid import UUID

import segno
from litestar import Response, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response import Redirect
from markupsafe import Markup

from app.access import second_factor, users
from app.access import sign_in as sessions
from app.http.auth import client_address
from app.http.handlers import get
from app.kit.errors import Field, Invalid, NotFound, Refusal
from app.sites.pages.forms import Form
from app.sites.pages.rendering import page, redirect
from app.sites.pages.sessions import (
    AnyRequest,
    People,
    SignedInRequest,
    language_cookie,
    look_cookies,
    read_look,
    session_cookie,
)
from app.sites.pages.site import SIZES, THEMES, site_of
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
    response.set_cookie(session_cookie(site_of(request), issued.token, secure=people.secure))
    return response


@post("/sign-out")
async def sign_out(request: SignedInRequest, people: NamedDependency[People]) -> Redirect:
    """End the session."""
    user, session_id = request.auth.user, request.auth.session_id
    async with people.store.transaction() as tx:
        await sessions.end_session(tx, user.id, session_id, by=request.auth.actor, now=people.clock())
    return _signed_out(request, people)


@get("/link/{token:str}", opt=_PUBLIC)
async def link_page(
    request: AnyRequest, people: NamedDependency[People], token: FromPath[str]
) -> Response[str]:
    """The form for setting a password; opening it does not use the link up (previews of messages do)."""
    async with people.store.autocommit() as tx:
        user = await users.link_user(tx, token, secret=people.secret, now=people.clock())
    if user is None:
        raise _UNKNOWN_LINK
    return page(request, "link.html", email=user.email)


@post("/link/{token:str}", opt=_PUBLIC)
async def redeem_link(
    request: AnyRequest, people: NamedDependency[People], token: FromPath[str]
) -> Response[Any]:
    """Set the password; the link and all sessions of the user end."""
    form = Form(await request.form())
    password = form.secret("password")
    try:
        _check_repeated(form, password)
        await users.redeem_link(people.store, token, password, secret=people.secret, now=people.clock())
    except Invalid as refusal:
        return page(request, "link.html", refusal, email="")
    return redirect(site_of(request).sign_in_path, "password_set")


@post("/language", opt={"public": True})
async def set_language(request: AnyRequest, people: NamedDependency[People]) -> Redirect:
    """Choose the language of the pages in this browser."""
    form = Form(await request.form())
    language = form.choice("language", LANGUAGES)
    response = redirect(site_of(request).local_path(form.text("next")))
    response.set_cookie(language_cookie(language, secure=people.secure))
    return response


@post("/look", opt={"public": True})
async def set_look(request: AnyRequest, people: NamedDependency[People]) -> Redirect:
    """Choose theme and size of the site's pages in this browser; what is not sent stays."""
    form, look = Form(await request.form()), read_look(request.scope)
    if form.has("theme"):
        look = look._replace(theme=form.choice("theme", THEMES))
    if form.has("size"):
        look = look._replace(size=form.choice("size", SIZES))
    site = site_of(request)
    response = redirect(site.local_path(form.text("next")))
    for cookie in look_cookies(site, look, secure=people.secure):
        response.set_cookie(cookie)
    return response


def _sign_in_form(
    request: AnyRequest, refusal: Refusal | None = None, email: str = "", next_path: str = ""
) -> Response[str]:
    next_path = site_of(request).local_path(next_path or request.query_params.get("next", ""))
    return page(request, "sign_in.html", refusal, email=email, next_path=next_path)


def _signed_out(request: AnyRequest, people: People) -> Redirect:
    """To the page for signing in, without the session's cookie."""
    site = site_of(request)
    response = redirect(site.sign_in_path, "signed_out")
    response.set_cookie(session_cookie(site, "", secure=people.secure))
    return response


def _check_repeated(form: Form, password: str) -> None:
    """Raise `Invalid` unless the new password was typed the same again."""
    if password != form.secret("again"):
        raise Invalid(Field(("again",), "The two passwords differ.", "passwords_differ"))


@get("/assets/{version:str}/{name:str}", opt={"public": True})
async def asset(request: AnyRequest, version: FromPath[str], name: FromPath[str]) -> Response[bytes]:
    """An asset of the site; the version in the address is any, an older page may still be open."""
    return site_of(request).assets.response(request.scope, name)


@get("/account")
async def account(request: SignedInRequest, people: NamedDependency[People]) -> Response[str]:
    """The user's own page."""
    return await _account_page(request, people)


@post("/account/password")
async def change_password(request: SignedInRequest, people: NamedDependency[People]) -> Response[Any]:
    """Set a new password; every other session of the user ends."""
    form = Form(await request.form())
    new = form.secret("new")
    try:
        _check_repeated(form, new)
        await sessions.change_password(
            people.store, request.auth, form.secret("old"), new, now=people.clock()
        )
    except Refusal as refusal:
        return await _account_page(request, people, refusal)
    return redirect(_path(request), "password_changed")


@post("/account/second-factor")
async def begin_second_factor(request: SignedInRequest, people: NamedDependency[People]) -> Response[str]:
    """Show a new secret for the user's authenticator, this once; it counts after `confirm`."""
    async with people.store.transaction() as tx:
        begun = await second_factor.begin(tx, request.auth.user, secret=people.secret, now=people.clock())
    return page(request, "second_factor.html", secret=begun.secret, picture=_picture(begun.uri))


@post("/account/second-factor/confirm")
async def confirm_second_factor(request: SignedInRequest, people: NamedDependency[People]) -> Response[Any]:
    """Require the second factor from now on, once a code shows that the authenticator has its secret."""
    code = Form(await request.form()).text("code")
    try:
        async with people.store.transaction() as tx:
            await second_factor.confirm(tx, request.auth.user, code, secret=people.secret, now=people.clock())
    except Refusal as refusal:
        return await _account_page(request, people, refusal)
    return redirect(_path(request), "second_factor_on")


@post("/account/second-factor/remove")
async def remove_second_factor(request: SignedInRequest, people: NamedDependency[People]) -> Response[Any]:
    """Require the password alone from now on; a code proves that it is the user who wants that."""
    code = Form(await request.form()).text("code")
    try:
        await second_factor.remove(
            people.store, request.auth.user, code, secret=people.secret, now=people.clock()
        )
    except Refusal as refusal:
        return await _account_page(request, people, refusal)
    return redirect(_path(request), "second_factor_off")


@post("/account/sessions/{session_id:uuid}/end")
async def end_session(
    request: SignedInRequest, people: NamedDependency[People], session_id: FromPath[UUID]
) -> Response[Any]:
    """End one of the user's sessions."""
    async with people.store.transaction() as tx:
        await sessions.end_session(
            tx, request.auth.user.id, session_id, by=request.auth.actor, now=people.clock()
        )
    if session_id != request.auth.session_id:
        return redirect(_path(request), "session_ended")
    return _signed_out(request, people)


@post("/account/sessions/end-others")
async def end_other_sessions(request: SignedInRequest, people: NamedDependency[People]) -> Response[Any]:
    """End every session of the user but this one."""
    async with people.store.transaction() as tx:
        await sessions.end_other_sessions(
            tx, request.auth.user.id, request.auth.session_id, by=request.auth.actor, now=people.clock()
        )
    return redirect(_path(request), "sessions_ended")


def _path(request: SignedInRequest) -> str:
    return f"{site_of(request).path}/account"


async def _account_page(
    request: SignedInRequest, people: People, refusal: Refusal | None = None
) -> Response[str]:
    async with people.store.autocommit() as tx:
        own = await sessions.sessions(tx, request.auth.user.id, now=people.clock())
    return page(request, "account.html", refusal, sessions=own, present=request.auth.session_id)


def _picture(uri: str) -> Markup:
    """The address as a QR code, an SVG without styles of its own. It is safe: its size and path only."""
    code = segno.make(uri, error="m")
    return Markup(code.svg_inline(scale=5, omitsize=True, light="white", dark="black"))  # noqa: S704
