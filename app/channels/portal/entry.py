"""Signing in and out, setting a password by a link, and the language: pages that need no session."""

from typing import Any

from litestar import Request, Response, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response import Redirect

from app.access import sign_in as sessions
from app.access import users
from app.channels.portal.dependencies import PortalDependencies, SignedInRequest
from app.channels.portal.site import PORTAL, SIGN_IN
from app.http.auth import client_address
from app.http.reading import get
from app.kit.errors import Field, Invalid, NotFound, Refusal
from app.pages import cookies
from app.pages.error_pages import sentences
from app.pages.forms import Form
from app.pages.rendering import page, redirect
from app.pages.texts import LANGUAGES

_PUBLIC: dict[str, Any] = {"public": True, "query": ("next", "done")}
_UNKNOWN_LINK = NotFound(
    "This link is not valid (any more). Ask an owner of your tenant for a new one.", code="link_unusable"
)
AnyRequest = Request[Any, Any, Any]


@get("/sign-in", opt=_PUBLIC)
async def sign_in_page(request: AnyRequest) -> Response[str]:
    """The form for signing in."""
    return _sign_in_form(request)


@post("/sign-in", opt=_PUBLIC)
async def sign_in(request: AnyRequest, portal: NamedDependency[PortalDependencies]) -> Response[Any]:
    """Begin a session, always with a new token."""
    form = Form(await request.form())
    try:
        issued = await sessions.sign_in(
            portal.store,
            portal.counters,
            form.text("email"),
            form.secret("password"),
            form.text("code") or None,
            address=client_address(request.scope),
            user_agent=request.headers.get("user-agent", "")[:300],
            secret=portal.secret,
            now=portal.clock(),
        )
    except Refusal as refusal:
        return _sign_in_form(request, refusal, form.text("email"), form.text("next"))
    response = redirect(PORTAL.local_path(form.text("next")))
    response.set_cookie(cookies.session_cookie(PORTAL, issued.token, secure=portal.secure))
    return response


@post("/sign-out")
async def sign_out(request: SignedInRequest, portal: NamedDependency[PortalDependencies]) -> Redirect:
    """End the session."""
    user, session_id = request.auth.user, request.auth.session_id
    async with portal.store.transaction() as tx:
        await sessions.end_session(tx, user.id, session_id, by=request.auth.actor, now=portal.clock())
    response = redirect(SIGN_IN, "signed_out")
    response.set_cookie(cookies.ended_session_cookie(PORTAL, secure=portal.secure))
    return response


@get("/link/{token:str}", opt=_PUBLIC)
async def link_page(
    request: AnyRequest, portal: NamedDependency[PortalDependencies], token: FromPath[str]
) -> Response[str]:
    """The form for setting a password; opening it does not use the link up (previews of messages do)."""
    async with portal.store.autocommit() as tx:
        user = await users.link_user(tx, token, secret=portal.secret, now=portal.clock())
    if user is None:
        raise _UNKNOWN_LINK
    return page(request, "link.html", email=user.email, sentences=[])


@post("/link/{token:str}", opt=_PUBLIC)
async def redeem_link(
    request: AnyRequest, portal: NamedDependency[PortalDependencies], token: FromPath[str]
) -> Response[Any]:
    """Set the password; the link and all sessions of the user end."""
    form = Form(await request.form())
    password = form.secret("password")
    try:
        if password != form.secret("again"):
            raise Invalid(Field(("again",), "The two passwords differ.", "passwords_differ"))
        await users.redeem_link(portal.store, token, password, secret=portal.secret, now=portal.clock())
    except Invalid as refusal:
        return page(
            request, "link.html", status=refusal.status, email="", sentences=sentences(request, refusal)
        )
    return redirect(SIGN_IN, "password_set")


@post("/language", opt={"public": True})
async def set_language(request: AnyRequest, portal: NamedDependency[PortalDependencies]) -> Redirect:
    """Choose the language of the pages in this browser."""
    form = Form(await request.form())
    language = form.choice("language", LANGUAGES)
    response = redirect(PORTAL.local_path(form.text("next")))
    response.set_cookie(cookies.language_cookie(language, secure=portal.secure))
    return response


def _sign_in_form(
    request: AnyRequest, refusal: Refusal | None = None, email: str = "", next_path: str = ""
) -> Response[str]:
    response = page(
        request,
        "sign_in.html",
        status=refusal.status if refusal else 200,
        email=email,
        next_path=PORTAL.local_path(next_path or request.query_params.get("next", "")),
        sentences=sentences(request, refusal) if refusal else [],
    )
    if refusal and refusal.retry_after is not None:
        response.headers["Retry-After"] = str(refusal.retry_after)
    return response


HANDLERS = (sign_in_page, sign_in, sign_out, link_page, redeem_link, set_language)
