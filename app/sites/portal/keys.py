"""The tenant's API keys: made, named, limited to networks, rotated, revoked."""

import re
from collections.abc import Iterable
from typing import Any
from uuid import UUID, uuid4

import msgspec
from litestar import Response, post
from litestar.params import FromPath, FromQuery

from app.access import admin, self_service
from app.access.api_keys import KeyAlteration, KeyProperties
from app.access.self_service import Entitlement
from app.domain import scopes
from app.domain.ids import CS2
from app.domain.tenant import RATE_LIMIT_RPM
from app.http.handlers import get
from app.kit.errors import Conflict, Field, Invalid, Refusal
from app.sites.pages.forms import Form
from app.sites.pages.rendering import page, redirect
from app.sites.pages.sessions import SignedInRequest
from app.sites.portal.dependencies import Portal
from app.sites.portal.lists import ROWS, TABS, Position, Tab, check_tab, position_before, position_of_next
from app.sites.portal.site import Permission
from app.store import keys
from app.store.keys import Key

_PATH = "/portal/keys"
_DEVELOPERS: dict[str, Any] = {"permission": Permission.CREDENTIALS}
_MAX_NETWORKS, _MAX_LABEL, _MAX_RATE = 50, 100, 1_000_000


class ShownKey(msgspec.Struct, frozen=True):
    """A row of the list: a key, its scopes as bundles where they fit, and the hint of its replacement."""

    key: Key
    bundles: tuple[str, ...]
    scopes: tuple[str, ...]
    replacement: str


class Choices(msgspec.Struct, frozen=True):
    """The rights that a new key can have. Each is a right of some key of the tenant; no key need have all."""

    bundles: tuple[str, ...]
    scopes: tuple[str, ...]
    sports: tuple[str, ...]
    highest_rate: int


class Entered(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of the form for a new key, as they are shown: at first, or again after a refusal."""

    label: str = ""
    bundles: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    sports: tuple[str, ...] = ()
    networks: str = ""
    rate: str = ""


@get("/keys", opt={"query": ("done", "list", "before")})
async def list_keys(
    request: SignedInRequest, portal: Portal, listed: Tab = "active", before: FromQuery[str] = ""
) -> Response[str]:
    """The tenant's keys that are active, or those that have ended; newest first."""
    check_tab(listed, TABS)
    return await _keys_page(request, portal, listed=listed, before=position_before(before))


@post("/keys", opt=_DEVELOPERS)
async def issue_key(request: SignedInRequest, portal: Portal) -> Response[str]:
    """Make a key, and show its secret in this response only. The same form sent again makes no other."""
    form, signed_in = Form(await request.form()), request.auth
    try:
        properties, request_id = _properties(form), _request_id(form)
        async with portal.grants.changing() as tx:
            made = await self_service.issue_once(
                tx,
                signed_in.tenant,
                properties,
                request_id,
                secret=portal.secret,
                by=signed_in.actor,
                now=portal.clock(),
            )
    except Refusal as refusal:
        return await _keys_page(request, portal, refusal, entered=_entered(form))
    if isinstance(made, Key):
        what = f"This form had been sent before: key {made.hint}… was made then, and no other now."
        made_before = Conflict(what, code="made_before", hint=made.hint)
        return await _keys_page(request, portal, made_before)
    return page(request, "issued_key.html", key=made.key, raw=made.raw, replaced="")


@post("/keys/{key_id:uuid}/rotate", opt=_DEVELOPERS)
async def rotate_key(request: SignedInRequest, portal: Portal, key_id: FromPath[UUID]) -> Response[str]:
    """Replace a key by one with the same rights, which this response shows; the old one ends at once."""
    signed_in = request.auth
    try:
        async with portal.grants.changing() as tx:
            old = await self_service.lock_own_key(tx, signed_in.tenant.id, key_id)
            made = await admin.rotate_key(
                tx, key_id, secret=portal.secret, by=signed_in.actor, now=portal.clock()
            )
    except Refusal as refusal:
        return await _keys_page(request, portal, refusal)
    return page(request, "issued_key.html", key=made.key, raw=made.raw, replaced=old.hint)


@post("/keys/{key_id:uuid}/revoke", opt=_DEVELOPERS)
async def revoke_key(request: SignedInRequest, portal: Portal, key_id: FromPath[UUID]) -> Response[Any]:
    """End a key without replacement."""
    signed_in = request.auth
    try:
        async with portal.grants.changing() as tx:
            await self_service.lock_own_key(tx, signed_in.tenant.id, key_id)
            await admin.revoke_key(tx, key_id, by=signed_in.actor, now=portal.clock())
    except Refusal as refusal:
        return await _keys_page(request, portal, refusal)
    return redirect(_PATH, "key_revoked")


@post("/keys/{key_id:uuid}", opt=_DEVELOPERS)
async def alter_key(request: SignedInRequest, portal: Portal, key_id: FromPath[UUID]) -> Response[Any]:
    """Change a key's label and the networks that it may be used from."""
    form, signed_in = Form(await request.form()), request.auth
    try:
        alteration = KeyAlteration(label=_label(form), networks=_networks(form))
        async with portal.grants.changing() as tx:
            await self_service.lock_own_key(tx, signed_in.tenant.id, key_id)
            await admin.alter_key(tx, key_id, alteration, by=signed_in.actor, now=portal.clock())
    except Refusal as refusal:
        return await _keys_page(request, portal, refusal)
    return redirect(_PATH, "key_altered")


async def _keys_page(
    request: SignedInRequest,
    portal: Portal,
    refusal: Refusal | None = None,
    *,
    listed: str = "active",
    before: Position | None = None,
    entered: Entered | None = None,
) -> Response[str]:
    tenant_id = request.auth.tenant.id
    async with portal.store.snapshot() as tx:
        found = await keys.newest(tx, tenant_id, active=listed == "active", limit=ROWS + 1, before=before)
        replaced = {key.replaced_by for key in found[:ROWS] if key.replaced_by}
        replacements = {each.key.id: each.key.hint for each in await keys.by_ids(tx, replaced)}
        choices = _choices(await self_service.entitlements(tx, tenant_id))
    return page(
        request,
        "keys.html",
        refusal,
        shown=[_shown(key, replacements) for key in found[:ROWS]],
        before=position_of_next(found),
        lists=TABS,
        listed=listed,
        choices=choices,
        entered=entered or _unfilled(choices),
        request_id=uuid4(),
        max_active=self_service.MAX_ACTIVE,
    )


def _shown(key: Key, replacements: dict[UUID, str]) -> ShownKey:
    bundles, rest = scopes.as_bundles(key.scopes, finished_only=key.finished_only)
    return ShownKey(key, bundles, rest, replacements.get(key.replaced_by, "") if key.replaced_by else "")


def _choices(granted: Iterable[Entitlement]) -> Choices:
    """Bundles that a key may have whole, and the scopes and sports of all."""
    sets = tuple(granted)
    return Choices(
        tuple(
            name
            for name, contained in scopes.BUNDLES.items()
            if name != scopes.OPERATOR_BUNDLE and any(contained <= each.scopes for each in sets)
        ),
        tuple(sorted(frozenset[str]().union(*(each.scopes for each in sets)))),
        tuple(sorted(frozenset[str]().union(*(each.sports for each in sets)))),
        max((each.rate_limit_rpm for each in sets), default=0),
    )


def _properties(form: Form) -> KeyProperties:
    sports = form.many("sport")
    if not sports:
        raise Invalid(Field(("sport",), "Choose a sport.", "no_sport"))
    return KeyProperties(
        bundles=form.many("bundle"),
        scopes=form.many("scope"),
        sports=sports,
        label=_label(form),
        rate_limit_rpm=form.number("rate", 1, _MAX_RATE),
        networks=_networks(form),
    )


def _label(form: Form) -> str:
    label = form.text("label", longest=_MAX_LABEL)
    if not label:
        raise Invalid(Field(("label",), "Give the key a name.", "no_label"))
    return label


def _networks(form: Form) -> tuple[str, ...]:
    found = tuple(re.split(r"[\s,;]+", form.text("networks").strip(" ,;"))) if form.text("networks") else ()
    if len(found) > _MAX_NETWORKS:
        raise Invalid(Field(("networks",), f"At most {_MAX_NETWORKS} networks.", "too_many_networks"))
    return found


def _request_id(form: Form) -> UUID:
    try:
        return UUID(form.text("request_id"))
    except ValueError:
        raise Invalid(Field(("request_id",), "Reload the page and try again.", "request_id")) from None


def _entered(form: Form) -> Entered:
    """What was entered, as far as a page may show it again."""
    try:
        return Entered(
            label=form.text("label"),
            bundles=form.many("bundle"),
            scopes=form.many("scope"),
            sports=form.many("sport"),
            networks=form.text("networks"),
            rate=form.text("rate"),
        )
    except Invalid:
        return Entered()


def _unfilled(choices: Choices) -> Entered:
    sports = (CS2.slug,) if CS2.slug in choices.sports else choices.sports[:1]
    return Entered(sports=sports, rate=str(min(choices.highest_rate, RATE_LIMIT_RPM)))
