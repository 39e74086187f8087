"""Operators' commands on profiles: publish, preview, list; under /ops/v1/profiles. And which profile a tenant
has.

Publishing a version gives it to each tenant that has the profile, in a transaction each. A repeated request
publishes nothing, and gives the version to those that a failure left out.
"""

import msgspec
from litestar import post, put
from litestar.params import FromPath, FromQuery, JSONBody

from app.access import profile_previews, profiles
from app.access.profile_previews import FamilyPreview, MarketPreview, TenantPreview
from app.access.profiles import Holder, Overview, ProfileContent, profile_of
from app.domain.market import market_name
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.kit.clock import iso_millis
from app.operations.api.dependencies import OPERATOR, TENANT, Operators, Text, audit_fields
from app.operations.api.tenants import TenantView, tenant_view
from app.store.profiles import StoredProfile
from app.wire.views.meta import Many, Single, many

_PROFILES = "/ops/v1/profiles"
_PROFILE = f"{_PROFILES}/{{profile:str}}"


class ProfileSummary(msgspec.Struct, frozen=True):
    """The newest version of a profile, who published it when, how many tenants have it, and how many have an
    older one."""

    name: str
    version: int
    published_at: str
    published_by: str
    tenants: int
    tenants_behind: int


class VersionView(msgspec.Struct, frozen=True):
    """A version, and who published it when. Its `content` may be changed and sent again."""

    version: int
    published_at: str
    published_by: str
    content: ProfileContent


class HolderView(msgspec.Struct, frozen=True):
    """A tenant that has the profile: in which version, and since when."""

    slug: str
    version: int
    since: str


class ProfileView(msgspec.Struct, frozen=True):
    """A profile: its versions, newest first, and the tenants that have it."""

    name: str
    versions: tuple[VersionView, ...]
    tenants: tuple[HolderView, ...]


class PublishedView(msgspec.Struct, frozen=True):
    """The newest version; whether this request made it (`new`: false where the content is that of the newest
    already), and which tenants it gave the version."""

    name: str
    version: int
    new: bool
    tenants: tuple[str, ...]


class MarketPreviewView(msgspec.Struct, frozen=True):
    """An open market: its odds and its status as they are and as they would be."""

    match_id: str
    market_offer_id: str
    odds_now: float
    odds_then: float
    status_now: int
    status_then: int


class FamilyPreviewView(msgspec.Struct, frozen=True):
    """The open markets of a family: how many there are, how many would change, how many more would be
    suspended; the mean of their inverse odds over their probabilities less 1, now and then; and those that
    would change most."""

    family: str
    markets: int
    changed: int
    suspended: int
    margin_now: float
    margin_then: float
    examples: tuple[MarketPreviewView, ...]


class TenantPreviewView(msgspec.Struct, frozen=True):
    """What would change for a tenant (null: one with the standard odds, as no tenant has the profile)."""

    tenant: str | None
    profile: str | None
    profile_version: int | None
    changed: int
    suspended: int
    families: tuple[FamilyPreviewView, ...]


class Assignment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The name of a profile; null: the standard odds."""

    profile: Text | None


@get(_PROFILES, opt=OPERATOR)
async def list_profiles(ops: Operators) -> Many[ProfileSummary]:
    """Every profile, by name."""
    async with ops.store.snapshot() as tx:
        return many(_summary(one) for one in await profiles.overview(tx))


@get(_PROFILE, opt=OPERATOR)
async def show_profile(ops: Operators, profile: FromPath[str]) -> Single[ProfileView]:
    """Every version of a profile, and which tenants have which."""
    async with ops.store.snapshot() as tx:
        made = tuple([_version(one) for one in await profiles.versions(tx, profile)])
        held = tuple([_holder(one) for one in await profiles.holders(tx, profile)])
    return Single(ProfileView(profile, made, held))


@put(_PROFILE, opt=OPERATOR)
async def publish_profile(
    request: AuthenticatedRequest,
    ops: Operators,
    profile: FromPath[str],
    data: JSONBody[ProfileContent],
    based_on: FromQuery[int | None] = None,
) -> Single[PublishedView]:
    """Publish a version of a profile, and give it to each tenant that has the profile. With `based_on`, only
    if the newest version is that one (0: there is none)."""
    done = await profiles.put_in_force(
        ops.grants.changing, profile, data, by=request.auth.actor, clock=ops.clock, based_on=based_on
    )
    return Single(PublishedView(done.profile.name, done.profile.version, done.new, tuple(done.moved)))


@post(f"{_PROFILE}/preview", opt=OPERATOR, status_code=200)
async def preview_profile(
    ops: Operators,
    profile: FromPath[str],
    data: JSONBody[ProfileContent],
    tenant: FromQuery[str | None] = None,
) -> Many[TenantPreviewView]:
    """What a version of this content would change in the open markets, for `tenant`, or else for each tenant
    that has the profile; nothing is published."""
    async with ops.store.snapshot() as tx:
        return many(_preview(one) for one in await profile_previews.preview(tx, profile, data, tenant))


@put(f"{TENANT}/profile", opt=OPERATOR)
async def assign_profile(
    request: AuthenticatedRequest, ops: Operators, slug: FromPath[str], data: JSONBody[Assignment]
) -> Single[TenantView]:
    """Give a tenant the newest version of a profile, or the standard odds. It is sent every open market whose
    odds change."""
    async with ops.grants.changing() as tx:
        fields = audit_fields(request, ops.clock)
        return Single(tenant_view(await profiles.assign(tx, slug, data.profile, **fields)))


def _summary(one: Overview) -> ProfileSummary:
    newest = one.newest
    return ProfileSummary(
        name=newest.profile.name,
        version=newest.profile.version,
        published_at=iso_millis(newest.created_at),
        published_by=newest.created_by,
        tenants=one.tenants,
        tenants_behind=one.behind,
    )


def _version(one: StoredProfile) -> VersionView:
    content = profiles.content_of(one.profile)
    return VersionView(one.profile.version, iso_millis(one.created_at), one.created_by, content)


def _holder(one: Holder) -> HolderView:
    return HolderView(one.slug, one.version, iso_millis(one.since))


def _preview(one: TenantPreview) -> TenantPreviewView:
    own = profile_of(one.tenant) if one.tenant else None
    return TenantPreviewView(
        tenant=one.tenant.slug if one.tenant else None,
        profile=own.name if own else None,
        profile_version=own.version if own else None,
        changed=one.changed,
        suspended=one.suspended,
        families=tuple([_family(each) for each in one.families]),
    )


def _family(one: FamilyPreview) -> FamilyPreviewView:
    return FamilyPreviewView(
        family=one.family,
        markets=one.markets,
        changed=one.changed,
        suspended=one.suspended,
        margin_now=round(one.margin_now, 4),
        margin_then=round(one.margin_then, 4),
        examples=tuple([_market(each) for each in one.examples]),
    )


def _market(one: MarketPreview) -> MarketPreviewView:
    return MarketPreviewView(
        match_id=str(one.match_id),
        market_offer_id=market_name(*one.market.key),
        odds_now=float(one.market.odds),
        odds_then=float(one.after.odds),
        status_now=one.market.status,
        status_then=one.after.status,
    )
