"""What routes about matches share: what they ask of a key, what is kept, and matches as XML tells them."""

from collections.abc import Hashable, Sequence
from typing import Any

from app.domain.match import Match
from app.domain.tenant import Grant
from app.http.media import Format
from app.store import lineups, tenants
from app.store.transaction import Tx
from app.wire.envelopes import events
from app.wire.envelopes.events import Event
from app.wire.fields import Group, Groups, groups


def opt(*needed: str, query: tuple[str, ...] = ()) -> dict[str, Any]:
    """What a route asks for: one of these scopes."""
    return {"sport": "cs2", "scopes": needed, "query": query}


def seen(grant: Grant, form: Format) -> Hashable:
    """What of a grant an answer depends on. Which matches are booked is told to internals and in XML."""
    opened = groups(grant.scopes)
    booked = form is Format.XML or Group.INTERNALS in opened
    return opened, grant.finished_only, grant.tenant.id if booked else None


#: Routes whose bodies are kept.
KEPT: dict[str, Any] = {"kept": seen}
#: Routes that have an `.xml` sibling too.
HOT = KEPT | {"sibling": True}


async def told(tx: Tx, grant: Grant, found: Sequence[Match], opened: Groups) -> list[Event]:
    """The matches as XML tells them to a key that opens these groups of fields."""
    met = await lineups.of(tx, found)
    booked = await tenants.booked(tx, grant.tenant.id, [match.id for match in found])
    return [
        events.event(match, who.tournament, who.home, who.away, opened=opened, booked=match.id in booked)
        for match, who in zip(found, met, strict=True)
    ]
