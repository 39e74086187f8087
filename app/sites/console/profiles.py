"""Profiles: what there is, and another version of one, which is previewed before it is published. Everybody
reads; administrators publish.
"""

from typing import Any

from litestar import Response, post
from litestar.params import FromPath, FromQuery

from app.access import profile_previews, profiles
from app.access.profiles import FAMILIES, PHASES
from app.http.handlers import get
from app.kit.errors import Conflict, Field, Invalid, NotFound, Refusal
from app.sites.console.profile_effects import effects
from app.sites.console.profile_forms import ProfileForm, form_of, form_sent
from app.sites.console.site import Console, Permission, profile_path
from app.sites.pages.forms import Form
from app.sites.pages.rendering import page, redirect, texts_for
from app.sites.pages.sessions import SignedInRequest
from app.store.transaction import Tx

_MAY: dict[str, Any] = {"permission": Permission.PROFILES}


@get("/profiles")
async def list_profiles(request: SignedInRequest, console: Console) -> Response[str]:
    """The newest version of each profile, and how many tenants have it."""
    async with console.store.snapshot() as tx:
        found = await profiles.overview(tx)
    rows = [(each, profile_path(each.newest.profile.name)) for each in found]
    return page(request, "profiles.html", rows=rows)


@get("/profiles/{name:str}", opt={"query": ("done", "version")})
async def show_profile(
    request: SignedInRequest, console: Console, name: FromPath[str], version: FromQuery[str] = ""
) -> Response[str]:
    """A profile, in its newest version or an older one, as a form that makes the next."""
    async with console.store.snapshot() as tx:
        versions = await profiles.versions(tx, name)
        shown = next((one.profile for one in versions if str(one.profile.version) == version), None)
        if version and shown is None:
            raise NotFound(f"There is no version {version} of {name!r}.")
        newest = versions[0].profile
        form = form_of(name, newest.version, profiles.content_of(shown or newest))
        return await _form_page(tx, request, form, shown=(shown or newest).version)


@get("/new-profile", opt=_MAY)
async def new_profile(request: SignedInRequest, console: Console) -> Response[str]:
    """The form of a new profile."""
    async with console.store.snapshot() as tx:
        return await _form_page(tx, request, form_of("", 0))


@post("/profile-form/edit", opt=_MAY)
async def edit_again(request: SignedInRequest, console: Console) -> Response[str]:
    """The form as it was previewed."""
    form = form_sent(Form(await request.form()))
    async with console.store.snapshot() as tx:
        return await _form_page(tx, request, form)


@post("/profile-form/check", opt=_MAY)
async def check_profile(request: SignedInRequest, console: Console) -> Response[str]:
    """What the version would change, before it is published."""
    return await _preview_page(request, console, form_sent(Form(await request.form())))


@post("/profile-form/publish", opt=_MAY)
async def publish_profile(request: SignedInRequest, console: Console) -> Response[Any]:
    """Publish the version, and give it to each tenant that has the profile. If another was published since,
    that is said, with what this one would change now."""
    form = form_sent(Form(await request.form()))
    try:
        done = await profiles.put_in_force(
            console.store.transaction,
            form.name,
            form.content(),
            by=request.auth.actor,
            clock=console.clock,
            based_on=form.based_on,
        )
    except (Conflict, Invalid) as refusal:
        return await _preview_page(request, console, form, refusal)
    return redirect(profile_path(form.name), "profile_published" if done.new else "profile_given")


async def _preview_page(
    request: SignedInRequest, console: Console, form: ProfileForm, refusal: Refusal | None = None
) -> Response[str]:
    """The preview; after a conflict, of the next version of the one that is newest now. What does not fit is
    said where it can be changed."""
    async with console.store.snapshot() as tx:
        try:
            content = form.content()
            found = await profile_previews.preview(tx, form.name, content)
            if not form.based_on and refusal is None:
                await _check_new(tx, form.name)
        except Invalid as invalid:
            return await _form_page(tx, request, form, invalid)
        if isinstance(refusal, Conflict):
            form = form._replace(based_on=(await profiles.newest_version(tx, form.name)).version)
        shown = await effects(tx, texts_for(request), found)
    return page(request, "profile_preview.html", refusal, form=form, **shown)


async def _check_new(tx: Tx, name: str) -> None:
    """Raise `Invalid` if there is a profile of that name."""
    if any(one.newest.profile.name == name for one in await profiles.overview(tx)):
        raise Invalid(Field(("name",), f"There is a profile {name!r} already.", "profile_there", name))


async def _form_page(
    tx: Tx, request: SignedInRequest, form: ProfileForm, refusal: Refusal | None = None, shown: int = 0
) -> Response[str]:
    """The form, with the versions and the tenants of its profile; `shown` is the version that it shows."""
    there = form.based_on > 0
    return page(
        request,
        "profile.html",
        refusal,
        form=form,
        shown=shown,
        families=FAMILIES,
        phases=PHASES,
        versions=await profiles.versions(tx, form.name) if there else (),
        holders=await profiles.holders(tx, form.name) if there else (),
    )
