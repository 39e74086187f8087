"""A command's effect as previews show it: markets and entries by name, and the tenants that would receive
it.
"""

from typing import Any

from app.commands.execution import Preview
from app.sites.console.dependencies import SignedInRequest
from app.sites.pages.ledger_kinds import kind_of
from app.sites.pages.market_names import MarketNames, names_of
from app.sites.pages.rendering import texts_for
from app.store import tenants
from app.store.transaction import Tx


async def effect_values(tx: Tx, request: SignedInRequest, found: Preview) -> dict[str, Any]:
    """The values of `effect.html`."""
    keys = [*(each.key for each in found.entries), *(each.after.key for each in found.markets)]
    names = await names_of(tx, texts_for(request), keys)
    return {
        "preview": found,
        "rows": _rows(found, names),
        "entries": _entries(found, names),
        "receivers": await tenants.receivers(tx, found.match.id),
    }


def _rows(found: Preview, names: MarketNames) -> list[dict[str, Any]]:
    match = found.match
    return [
        {
            "name": names.name(each.after.key, match.home, match.away),
            "before": each.before,
            "after": each.after,
        }
        for each in found.markets
    ]


def _entries(found: Preview, names: MarketNames) -> list[dict[str, Any]]:
    match = found.match
    return [
        {"name": names.name(each.key, match.home, match.away), "kind": kind_of(each), "entry": each}
        for each in found.entries
    ]
