"""Profiles: publish a version, and give a tenant one. `profile_previews` says what it would change.

A tenant's prices change at a place in the change log, as when a market type is switched (`feed_selection`):
in one transaction the tenant is sent every open market whose odds change, and what comes later has the new
odds. Publishing a version gives it to each tenant that has the profile, one transaction a tenant.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple
from uuid import UUID

import msgspec

from app.domain import daily_files
from app.domain.market import Market
from app.domain.profiles import (
    HIGHEST_ODDS,
    LEAST_MOVE,
    LOWEST_ODDS,
    MOST_DELAY_SECONDS,
    MOST_MARGIN,
    MOST_MOVE,
    MOST_STAKE_FACTOR,
    Profile,
    ProfileChange,
    StakeRule,
)
from app.domain.tenant import Tenant
from app.domain.tenant_offer import OfferRules
from app.domain.trading_controls import MarginControl
from app.kit.clock import Clock
from app.kit.errors import Conflict, Field, Invalid, NotFound
from app.kit.heavy_work import run_in_thread
from app.store import audit, changes, markets, profiles, recovery_queries, tenants
from app.store.changes import SWITCH, Place
from app.store.profiles import StoredProfile
from app.store.transaction import Tx
from app.trading.registry import RULES

FAMILIES = tuple(sorted({rule.family for rule in RULES.values()}))
PHASES = ("before_play", "in_play", "last_rounds")
_NAME = re.compile(r"[a-z][a-z0-9-]{0,29}")
_MOST_RULES = 200
_NEEDED_MILLIS = daily_files.MAX_DAYS * daily_files.DAY_MILLIS
Transactions = Callable[[], AbstractAsyncContextManager[Tx]]


class ProfileDraft(msgspec.Struct, frozen=True):
    """The content of a version, as in `domain.profiles.Profile`."""

    margins: tuple[MarginControl, ...]
    min_odds: float = LOWEST_ODDS
    max_odds: float = HIGHEST_ODDS
    min_move: float = 0.0
    stakes: tuple[StakeRule, ...] = ()


class Published(NamedTuple):
    """A version, and whether it is new: one equal to the newest is not stored again."""

    profile: Profile
    new: bool


class MarginRule(MarginControl, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The margin, a fraction, for the markets of one `family` ("": all) in one `phase` ("": all).
    `long_shots` is the part of it, from 0 to 1, that is spread over a group's markets equally and not in
    proportion to their probability: the less likely result bears more."""


class StakeChange(StakeRule, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """For the markets of one `family` ("": all) in one `phase` ("": all): what advised maximum stakes are
    multiplied by, and the seconds that are added to advised bet delays."""


class ProfileContent(ProfileDraft, frozen=True, forbid_unknown_fields=True):
    """The content of a version as operators write it. One of `margins` is for every family and phase; the one
    for a market's family and phase counts before that for its family, and that before the one for its phase.
    Odds above `max_odds` are lowered to it; a market with odds below `min_odds` is suspended. With a
    `min_move`, a fraction, odds have steps so far apart, and change with smaller moves rarely."""

    margins: tuple[MarginRule, ...]
    min_odds: float = LOWEST_ODDS
    max_odds: float = HIGHEST_ODDS
    min_move: float = 0.0
    stakes: tuple[StakeChange, ...] = ()


class InForce(NamedTuple):
    """A version, whether it is `new`, and the tenants that were given it."""

    profile: Profile
    new: bool
    moved: Sequence[str]


class Overview(NamedTuple):
    """The newest version of a profile, how many tenants have it, and how many have an older one."""

    newest: StoredProfile
    tenants: int
    behind: int


class Holder(NamedTuple):
    """A tenant that has a profile, in which version, since when (Unix ms)."""

    slug: str
    version: int
    since: int


def checked(name: str, draft: ProfileDraft, version: int) -> Profile:
    """The version of this content; raises `Invalid` with all that is wrong with it."""
    wrong = list(_problems(name, draft))
    if wrong:
        raise Invalid(*wrong)
    return msgspec.convert({"name": name, "version": version} | msgspec.to_builtins(draft), Profile)


def content_of(profile: Profile) -> ProfileContent:
    """What a version was made of."""
    fields = {name: getattr(profile, name) for name in ProfileContent.__struct_fields__}
    return msgspec.convert(msgspec.to_builtins(fields), ProfileContent)


async def publish(
    tx: Tx, name: str, draft: ProfileDraft, *, by: str, now: int, based_on: int | None = None
) -> Published:
    """Store another version of a profile; it is in force for a tenant once `assign` has given it to the
    tenant. `based_on` is the version that was changed (0: none), if the newest must still be that one.
    Raises `Invalid`, and `Conflict` if somebody else has published one since, or does so at the same time."""
    known = await profiles.newest(tx, name)
    newest = known.profile.version if known else 0
    if known and known.profile == checked(name, draft, newest):
        return Published(known.profile, new=False)
    profile = checked(name, draft, newest + 1)
    if based_on is not None and based_on != newest:
        raise _moved_on(name, newest)
    await profiles.add(tx, profile, by, now)
    details = {"version": profile.version, "profile": msgspec.to_builtins(draft)}
    await audit.add(tx, audit.AuditRecord(now, by, "profile.publish", name, None, details))
    return Published(profile, new=True)


async def put_in_force(
    transaction: Transactions,
    name: str,
    draft: ProfileDraft,
    *,
    by: str,
    clock: Clock,
    based_on: int | None = None,
) -> InForce:
    """Publish a version and give the newest to each tenant that has the profile, one transaction a tenant.
    Repeated after a failure, it gives it to the rest. Raises as `publish`."""
    async with transaction() as tx:
        version, new = await publish(tx, name, draft, by=by, now=clock(), based_on=based_on)
    async with transaction() as tx:
        await profiles.lock(tx)  # who is being given the version before has it then
        owners = await tenants_with(tx, name)
    moved = []
    for slug in [one.slug for one in owners]:
        async with transaction() as tx:
            if await _renew(tx, slug, name, by=by, now=clock()):
                moved.append(slug)
    return InForce(version, new, moved)


async def overview(tx: Tx) -> list[Overview]:
    """Every profile, by name."""
    held = [own.key for one in await tenants.listing(tx) if (own := profile_of(one))]
    found = []
    for newest in await profiles.listing(tx):
        up_to_date = held.count(newest.profile.key)
        every = sum(name == newest.profile.name for name, _ in held)
        found.append(Overview(newest, up_to_date, every - up_to_date))
    return found


async def holders(tx: Tx, name: str) -> list[Holder]:
    """The tenants that have this profile, by slug."""
    return [
        Holder(one.slug, last.profile.version, last.at)
        for one in await tenants_with(tx, name)
        for last in one.profiles[-1:]
        if last.profile
    ]


async def versions(tx: Tx, name: str) -> list[StoredProfile]:
    """Every version of a profile, newest first. Raises `NotFound`."""
    found = await profiles.versions(tx, name)
    if not found:
        raise NotFound(f"There is no profile {name!r}.")
    return found


async def tenants_with(tx: Tx, name: str) -> list[Tenant]:
    """The tenants that have this profile, in any version, by slug."""
    return [one for one in await tenants.listing(tx) if (own := profile_of(one)) and own.name == name]


def profile_of(tenant: Tenant) -> Profile | None:
    """The profile that a tenant has; None: standard odds."""
    return tenant.offer.now.profile


async def assign(
    tx: Tx, slug: str, name: str | None, *, by: str, now: int, version: int | None = None
) -> Tenant:
    """Give a tenant the newest version of a profile, or with None the standard odds; nothing changes where
    it has that already.

    It appends to the change log, so it must be called once in a transaction, as its last statement. Raises
    `NotFound` for an unknown tenant or profile, and `Conflict` if the newest version is not `version`.
    """
    tenant = await tenants.lock(tx, slug)
    await profiles.lock(tx)
    wanted = None if name is None else await newest_version(tx, name)
    if wanted and version not in (None, wanted.version):
        raise _moved_on(wanted.name, wanted.version)
    return await _give(tx, tenant, wanted, by, now)


async def _renew(tx: Tx, slug: str, name: str, *, by: str, now: int) -> bool:
    """`assign`, if the tenant still has the profile; whether that changed anything."""
    tenant = await tenants.lock(tx, slug)
    own = profile_of(tenant)
    if own is None or own.name != name:
        return False
    return await _give(tx, tenant, await newest_version(tx, name), by, now) is not tenant


async def _give(tx: Tx, tenant: Tenant, wanted: Profile | None, by: str, now: int) -> Tenant:
    known = profile_of(tenant)
    if (known and known.key) == (wanted and wanted.key):
        return tenant
    details = {"profile": wanted and wanted.name, "version": wanted and wanted.version}
    await audit.add(tx, audit.AuditRecord(now, by, "tenant.profile", tenant.slug, tenant.id, details))
    return await _switch(tx, tenant, wanted, now)


def _moved_on(name: str, newest: int) -> Conflict:
    what = f"The newest version of {name!r} is {newest}: look at it, and send yours again."
    return Conflict(what, code="profile_moved_on", name=name, newest=newest)


async def newest_version(tx: Tx, name: str) -> Profile:
    """The newest version of a profile. Raises `NotFound`. To give it to a tenant, read it after the tenant's
    row is locked: then, of two who publish, the second gives every tenant the last."""
    found = await profiles.newest(tx, name)
    if found is None:
        raise NotFound(f"There is no profile {name!r}: publish it first.")
    return found.profile


async def _switch(tx: Tx, tenant: Tenant, profile: Profile | None, now: int) -> Tenant:
    """A fresh timestamp makes the messages about the switch newer than all before them, as in
    `feed_selection`. What takes long is done before what others wait for is locked: the second time only
    markets that have changed meanwhile are priced."""
    before = tenant.offer.now
    difference = _Difference(before, msgspec.structs.replace(before, profile=profile))
    seen = await markets.open_by_match(tx)
    await run_in_thread(difference.by_match, seen)
    await recovery_queries.assign_timestamps(tx, list(seen), now)
    seq = await changes.take_place(tx)
    history = (*_needed(tenant.profiles, now), ProfileChange(seq, now, profile))
    changed = difference.by_match(await markets.open_by_match(tx))
    await tenants.save_profiles(tx, tenant.id, history)
    await changes.append_for_tenant(tx, Place(seq, SWITCH), tenant.id, changed, now)
    return msgspec.structs.replace(tenant, profiles=history)


def _needed(history: Sequence[ProfileChange], now: int) -> Sequence[ProfileChange]:
    """What is still needed of a tenant's profiles: those that it had in as many days as daily files may be
    there. Replays and files have the odds that they say, and standard ones without them."""
    past = [place for place, one in enumerate(history) if one.at < now - _NEEDED_MILLIS]
    return history[past[-1] :] if past else history


class _Difference:
    """Which markets a tenant sees differently with another profile. What it sees follows from a market's row,
    so that equal rows are looked at once. It receives nothing about types that are off for it."""

    def __init__(self, before: OfferRules, after: OfferRules) -> None:
        self._before, self._after = before, after
        self._known: dict[Market, Market | None] = {}

    def by_match(self, present: Mapping[UUID, Sequence[Market]]) -> dict[UUID, list[Market]]:
        """Those that look different, as the tenant sees them then, by match."""
        found = {
            match_id: [shown for one in own if (shown := self._of(one))] for match_id, own in present.items()
        }
        return {match_id: own for match_id, own in found.items() if own}

    def _of(self, market: Market) -> Market | None:
        if market.type_id in self._before.off:
            return None
        if market not in self._known:
            shown = self._after.priced(market)
            self._known[market] = None if shown == self._before.priced(market) else shown
        return self._known[market]


def _problems(name: str, draft: ProfileDraft) -> Iterator[Field]:
    if not _NAME.fullmatch(name):
        what = "A profile's name has 1 to 30 characters of a-z, 0-9 and -, and begins with a letter."
        yield Field(("name",), what, "profile_name", name)
    if ("", "") not in {one.key for one in draft.margins}:
        what = "One margin must be for every family and phase: one without `family` and `phase`."
        yield Field(("body", "margins"), what, "default_margin", None)
    yield from _problems_of_rules("margins", draft.margins)
    yield from _problems_of_rules("stakes", draft.stakes)
    for place, margin in enumerate(draft.margins):
        yield from _outside(("margins", place, "margin"), margin.margin, 0, MOST_MARGIN)
        yield from _outside(("margins", place, "long_shots"), margin.long_shots, 0, 1)
    for place, rule in enumerate(draft.stakes):
        yield from _outside(("stakes", place, "factor"), rule.factor, 0, MOST_STAKE_FACTOR)
        yield from _outside(("stakes", place, "delay_seconds"), rule.delay_seconds, 0, MOST_DELAY_SECONDS)
    yield from _outside(("min_odds",), draft.min_odds, LOWEST_ODDS, HIGHEST_ODDS)
    yield from _outside(("max_odds",), draft.max_odds, LOWEST_ODDS, HIGHEST_ODDS)
    if draft.min_move:
        yield from _outside(("min_move",), draft.min_move, LEAST_MOVE, MOST_MOVE)
    if not draft.min_odds < draft.max_odds:
        yield Field(
            ("body", "max_odds"), "The highest odds must be above the lowest.", "odds_order", draft.max_odds
        )


def _problems_of_rules(field: str, rules: Sequence[MarginControl | StakeRule]) -> Iterator[Field]:
    if len(rules) > _MOST_RULES:
        yield Field(("body", field), f"At most {_MOST_RULES} are possible.", "too_many_rules", len(rules))
    known: set[tuple[str, str]] = set()
    for place, rule in enumerate(rules):
        where = ("body", field, place)
        if rule.family and rule.family not in FAMILIES:
            what = f"There is no family {rule.family!r}: there are {', '.join(FAMILIES)}."
            yield Field((*where, "family"), what, "unknown", rule.family)
        if rule.phase and rule.phase not in PHASES:
            what = f"There is no phase {rule.phase!r}: there are {', '.join(PHASES)}."
            yield Field((*where, "phase"), what, "unknown", rule.phase)
        if rule.key in known:
            yield Field(
                where, "This family and phase are named twice.", "rule_twice", " ".join(rule.key).strip()
            )
        known.add(rule.key)


def _outside(where: tuple[str | int, ...], value: float, least: float, most: float) -> Iterator[Field]:
    if not least <= value <= most:
        limits = {"lowest": f"{least:g}", "highest": f"{most:g}"}
        what = f"It must be {least:g} to {most:g}."
        yield Field(("body", *where), what, "out_of_range", value, limits)
