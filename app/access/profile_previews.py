"""What a version of a profile would change, before it is published: for the tenants that have the profile, or
for one that is to have it.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

import msgspec

from app.access.profiles import ProfileDraft, checked, tenants_with
from app.domain.market import Market, MarketStatus
from app.domain.profiles import Profile
from app.domain.tenant import Tenant
from app.domain.tenant_offer import STANDARD, OfferRules
from app.kit.grouping import grouped
from app.kit.heavy_work import run_in_thread
from app.store import markets, tenants
from app.store.transaction import Tx

_EXAMPLES = 10  #: markets that a preview shows of a family
Present = Mapping[UUID, Sequence[Market]]  #: the open markets, by match


class MarketPreview(NamedTuple):
    """A market of a match as a tenant sees it, and as it would."""

    match_id: UUID
    market: Market
    after: Market


class FamilyPreview(NamedTuple):
    """What would change for the open markets of a family: how many there are, how many have other odds, how
    many more would be suspended, the mean of their inverse odds over their probabilities less 1 now and then,
    and those that would change most."""

    family: str
    markets: int
    changed: int
    suspended: int
    margin_now: float
    margin_then: float
    examples: Sequence[MarketPreview]


class TenantPreview(NamedTuple):
    """What would change for a tenant (None: one with the standard odds and every match and market type)."""

    tenant: Tenant | None
    families: Sequence[FamilyPreview]

    @property
    def changed(self) -> int:
        """How many open markets would have other odds."""
        return sum(one.changed for one in self.families)

    @property
    def suspended(self) -> int:
        """How many more open markets would be suspended."""
        return sum(one.suspended for one in self.families)


async def preview(tx: Tx, name: str, draft: ProfileDraft, slug: str | None = None) -> list[TenantPreview]:
    """What would change for the tenant `slug` if it had this content, or, without one, for each tenant that
    has the profile `name`; where none has, for one with the standard odds. Raises `Invalid`, `NotFound`."""
    wanted = checked(name, draft, 0)
    owners = await tenants_with(tx, name) if slug is None else [await tenants.by_slug(tx, slug)]
    return await _for_tenants(tx, owners or [None], wanted)


async def preview_of_assignment(tx: Tx, slug: str, wanted: Profile | None) -> TenantPreview:
    """What would change for a tenant if it had this profile, or the standard odds. Raises `NotFound`."""
    (found,) = await _for_tenants(tx, [await tenants.by_slug(tx, slug)], wanted)
    return found


async def _for_tenants(
    tx: Tx, owners: Sequence[Tenant | None], wanted: Profile | None
) -> list[TenantPreview]:
    """Tenants for which the same holds share what is computed."""
    present = await markets.open_by_match(tx)
    known: dict[Hashable, Sequence[FamilyPreview]] = {}
    found = []
    for owner in owners:
        booked = set(present) if owner is None else await tenants.booked(tx, owner.id, list(present))
        before = owner.offer.now if owner else STANDARD
        key = before.key, frozenset(present.keys() - booked)
        if key not in known:
            own = {match_id: present[match_id] for match_id in present if match_id in booked}
            known[key] = await run_in_thread(_families, own, before, wanted)
        found.append(TenantPreview(owner, known[key]))
    return found


def _families(present: Present, before: OfferRules, wanted: Profile | None) -> list[FamilyPreview]:
    after = msgspec.structs.replace(before, profile=wanted)
    by_family = grouped(
        (market.family, MarketPreview(match_id, before.priced(market), after.priced(market)))
        for match_id, own in present.items()
        for market in own
        if market.type_id not in before.off
    )
    return [_of_family(family, found) for family, found in sorted(by_family.items())]


def _of_family(family: str, found: Sequence[MarketPreview]) -> FamilyPreview:
    changed = [one for one in found if one.market != one.after]
    stopped = [one for one in changed if _on_offer(one.market) and not _on_offer(one.after)]
    return FamilyPreview(
        family=family,
        markets=len(found),
        changed=len(changed),
        suspended=len(stopped),
        margin_now=_mean_margin(one.market for one in found),
        margin_then=_mean_margin(one.after for one in found),
        examples=sorted(changed, key=_ratio, reverse=True)[:_EXAMPLES],
    )


def _on_offer(market: Market) -> bool:
    return market.status is MarketStatus.ACTIVE


def _mean_margin(found: Iterable[Market]) -> float:
    paid = [1 / (float(one.odds) * one.probability) - 1 for one in found if one.probability]
    return sum(paid) / len(paid) if paid else 0.0


def _ratio(one: MarketPreview) -> float:
    """By which factor the odds would change, upwards or downwards."""
    ratio = float(one.market.odds / one.after.odds)
    return max(ratio, 1 / ratio)
