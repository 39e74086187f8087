"""What a profile would change for tenants, as the pages of a preview show it."""

from collections.abc import Sequence
from typing import Any

from app.access.profile_previews import FamilyPreview, MarketPreview, TenantPreview
from app.access.profiles import profile_of
from app.sites.console.site import market_path
from app.sites.pages.market_names import MarketNames, names_of
from app.sites.pages.texts import Texts
from app.store import listings
from app.store.transaction import Tx


async def effects(tx: Tx, texts: Texts, found: Sequence[TenantPreview]) -> dict[str, Any]:
    """The values of `profile_effect.html`: a row a tenant, and the families once for all tenants for which
    the same would change."""
    alike: list[tuple[Sequence[FamilyPreview], list[str]]] = []
    for one in found:
        slug = one.tenant.slug if one.tenant else ""
        same = next((slugs for families, slugs in alike if families is one.families), None)
        if same is None:
            alike.append((one.families, [slug]))
        else:
            same.append(slug)
    examples = [each for families, _ in alike for family in families for each in family.examples]
    matches = await listings.names_by_id(tx, {each.match_id for each in examples})
    names = await names_of(tx, texts, [each.market.key for each in examples])

    def example(each: MarketPreview) -> dict[str, Any]:
        match = matches[each.match_id]
        return _example(each, names, match.home, match.away, match.number)

    return {
        "tenants": [{"preview": one, "own": profile_of(one.tenant) if one.tenant else None} for one in found],
        "groups": [
            {
                "tenants": slugs,
                "families": [
                    {"of": family, "examples": [example(each) for each in family.examples]}
                    for family in families
                ],
            }
            for families, slugs in alike
        ],
    }


def _example(each: MarketPreview, names: MarketNames, home: str, away: str, number: int) -> dict[str, Any]:
    return {
        "match": f"{home} – {away}",
        "name": names.name(each.market.key, home, away),
        "path": market_path(number, each.market.key),
        "now": each.market,
        "then": each.after,
    }
