"""The tenant's users: who they are, invitations, roles, ends."""

from typing import Any
from uuid import UUID

from litestar import Response, post
from litestar.params import FromPath, FromQuery

from app.access import users
from app.domain.tenant import Role
from app.http.handlers import get
from app.kit.errors import Refusal
from app.sites.pages.forms import Form
from app.sites.pages.rendering import page, redirect
from app.sites.pages.sessions import SignedInRequest
from app.sites.portal.dependencies import Portal
from app.sites.portal.lists import ROWS, TABS, Position, Tab, check_tab, position_before, position_of_next
from app.sites.portal.site import Permission
from app.store import users as stored

_PATH = "/portal/people"
_OWNERS: dict[str, Any] = {"permission": Permission.PEOPLE}


@get("/people", opt={"query": ("done", "list", "before")})
async def list_people(
    request: SignedInRequest, portal: Portal, listed: Tab = "active", before: FromQuery[str] = ""
) -> Response[str]:
    """The tenant's users who may sign in, or those that have ended; newest first."""
    check_tab(listed, TABS)
    return await _people_page(request, portal, listed=listed, before=position_before(before))


@post("/people", opt=_OWNERS)
async def invite(request: SignedInRequest, portal: Portal) -> Response[str]:
    """Add a user, and show the one-time link with which they set their password."""
    form, signed_in, now = Form(await request.form()), request.auth, portal.clock()
    try:
        async with portal.store.transaction() as tx:
            role = Role(form.choice("role", list(Role)))
            email, name = form.text("email", longest=254), form.text("name", longest=100)
            user = await users.create_user(
                tx, signed_in.tenant.slug, email, name, role, by=signed_in.actor, now=now
            )
            link = await users.issue_link(
                tx, signed_in.tenant.id, user.id, secret=portal.secret, by=signed_in.actor, now=now
            )
    except Refusal as refusal:
        return await _people_page(request, portal, refusal)
    return _link_page(request, portal, user.email, link)


@post("/people/{user_id:uuid}/link", opt=_OWNERS)
async def issue_link(request: SignedInRequest, portal: Portal, user_id: FromPath[UUID]) -> Response[str]:
    """A one-time link with which the user sets a new password; earlier links of theirs end."""
    form, signed_in = Form(await request.form()), request.auth
    async with portal.store.transaction() as tx:
        link = await users.issue_link(
            tx,
            signed_in.tenant.id,
            user_id,
            secret=portal.secret,
            by=signed_in.actor,
            now=portal.clock(),
            without_second_factor=form.has("without_second_factor"),
        )
        found = await stored.get(tx, user_id)
    return _link_page(request, portal, found.user.email, link)


@post("/people/{user_id:uuid}/role", opt=_OWNERS)
async def set_role(request: SignedInRequest, portal: Portal, user_id: FromPath[UUID]) -> Response[Any]:
    """Give a user another role."""
    form, signed_in = Form(await request.form()), request.auth
    try:
        role = Role(form.choice("role", list(Role)))
        async with portal.store.transaction() as tx:
            await users.set_role(
                tx, signed_in.tenant.id, user_id, role, by=signed_in.actor, now=portal.clock()
            )
    except Refusal as refusal:
        return await _people_page(request, portal, refusal)
    return redirect(_PATH, "role_set")


@post("/people/{user_id:uuid}/end", opt=_OWNERS)
async def end_user(request: SignedInRequest, portal: Portal, user_id: FromPath[UUID]) -> Response[Any]:
    """End a user, with all their sessions and links."""
    signed_in = request.auth
    try:
        async with portal.store.transaction() as tx:
            await users.end_user(tx, signed_in.tenant.id, user_id, by=signed_in.actor, now=portal.clock())
    except Refusal as refusal:
        return await _people_page(request, portal, refusal)
    return redirect(_PATH, "user_ended")


async def _people_page(
    request: SignedInRequest,
    portal: Portal,
    refusal: Refusal | None = None,
    *,
    listed: str = "active",
    before: Position | None = None,
) -> Response[str]:
    tenant_id = request.auth.tenant.id
    async with portal.store.autocommit() as tx:
        found = await stored.newest(tx, tenant_id, active=listed == "active", limit=ROWS + 1, before=before)
    return page(
        request,
        "people.html",
        refusal,
        people=found[:ROWS],
        before=position_of_next(found),
        lists=TABS,
        listed=listed,
        roles=list(Role),
    )


def _link_page(request: SignedInRequest, portal: Portal, email: str, link: users.IssuedLink) -> Response[str]:
    address = users.link_address(portal.public_url, link.raw)
    return page(request, "issued_link.html", email=email, address=address, expires_at=link.expires_at)
