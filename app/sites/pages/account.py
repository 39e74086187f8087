"""What concerns the user alone: password, second factor, sessions."""

from typing import Any
from uuid import UUID

import segno
from litestar import Response, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from markupsafe import Markup

from app.access import second_factor
from app.access import sign_in as sessions
from app.http.handlers import get
from app.kit.errors import Field, Invalid, Refusal
from app.sites.pages import cookies
from app.sites.pages.error_pages import sentences
from app.sites.pages.forms import Form
from app.sites.pages.people import People, SignedInRequest
from app.sites.pages.rendering import page, redirect
from app.sites.pages.site import site_of


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
        if new != form.secret("again"):
            raise Invalid(Field(("again",), "The two passwords differ.", "passwords_differ"))
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
    return page(request, "second_factor.html", secret=begun.secret, picture=_picture(begun.uri), sentences=[])


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
    response = redirect(site_of(request).sign_in_path, "signed_out")
    response.set_cookie(cookies.ended_session_cookie(site_of(request), secure=people.secure))
    return response


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
    return page(
        request,
        "account.html",
        status=refusal.status if refusal else 200,
        sessions=own,
        present=request.auth.session_id,
        sentences=sentences(request, refusal) if refusal else [],
    )


def _picture(uri: str) -> Markup:
    """The address as a QR code, an SVG without styles of its own. It is safe: its size and path only."""
    code = segno.make(uri, error="m")
    return Markup(code.svg_inline(scale=5, omitsize=True, light="white", dark="black"))  # noqa: S704


HANDLERS = (
    account,
    change_password,
    begin_second_factor,
    confirm_second_factor,
    remove_second_factor,
    end_session,
    end_other_sessions,
)
