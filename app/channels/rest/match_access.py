"""Matches as far as a key may see them: by reference, and as the events that XML documents show."""

from collections.abc import Sequence

from app.domain.match import Match
from app.domain.tenant import Grant
from app.store import match_entrants, matches, tenants
from app.store.transaction import Tx
from app.wire.fields import Groups
from app.wire.xml import sport_events
from app.wire.xml.sport_events import SportEvent


async def visible_match(tx: Tx, grant: Grant, ref: str) -> Match:
    """The match that `ref` names (UUID or ``od:match:<n>``), if this key may see it; else `NotFound`."""
    return await matches.by_ref(tx, ref, finished_only=grant.finished_only)


async def visible_sport_events(
    tx: Tx, grant: Grant, found: Sequence[Match], field_groups: Groups
) -> list[SportEvent]:
    """The matches as XML shows them to a key that opens these field groups."""
    entrants = await match_entrants.of_matches(tx, found)
    booked = await tenants.booked(tx, grant.tenant.id, [match.id for match in found])
    return [
        sport_events.event(
            match, who.tournament, who.home, who.away, field_groups=field_groups, booked=match.id in booked
        )
        for match, who in zip(found, entrants, strict=True)
    ]
