"""Which profile a tenant has: given by administrators, after a preview."""

from typing import Any

from litestar import Response, post

from app.access import profile_previews, profiles
from app.kit.errors import Conflict, Refusal
from app.sites.console.profile_effects import effects
from app.sites.console.site import Console, Permission
from app.sites.pages.forms import Form
from app.sites.pages.rendering import page, redirect, texts_for
from app.sites.pages.sessions import SignedInRequest

_MAY: dict[str, Any] = {"permission": Permission.PROFILES}
_HIGHEST = 2**31  #: of a version's number


@post("/tenant-profile/check", opt=_MAY)
async def check_assignment(request: SignedInRequest, console: Console) -> Response[str]:
    """What would change for the tenant, before it has the profile."""
    return await _preview_page(request, console, Form(await request.form()))


@post("/tenant-profile/give", opt=_MAY)
async def assign_profile(request: SignedInRequest, console: Console) -> Response[Any]:
    """Give the tenant the version that was previewed. If another was published since, that is previewed."""
    form = Form(await request.form())
    name = form.text("profile") or None
    try:
        async with console.store.transaction() as tx:
            await profiles.assign(
                tx,
                form.text("tenant"),
                name,
                by=request.auth.actor,
                now=console.clock(),
                version=form.number("version", 0, _HIGHEST) if name else None,
            )
    except Conflict as refusal:
        return await _preview_page(request, console, form, refusal)
    return redirect("/console/tenants", "profile_assigned")


async def _preview_page(
    request: SignedInRequest, console: Console, form: Form, refusal: Refusal | None = None
) -> Response[str]:
    slug, name = form.text("tenant"), form.text("profile")
    async with console.store.snapshot() as tx:
        wanted = await profiles.newest_version(tx, name) if name else None
        found = await profile_previews.preview_of_assignment(tx, slug, wanted)
        shown = await effects(tx, texts_for(request), [found])
    return page(request, "tenant_profile.html", refusal, slug=slug, wanted=wanted, **shown)
