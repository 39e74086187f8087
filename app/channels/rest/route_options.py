"""The `opt` of routes about matches: what they require of a key, and how their responses are cached."""

from collections.abc import Hashable
from typing import Any

from app.domain.tenant import Grant
from app.http.representation import Format
from app.wire.fields import Group, groups


def options(*scopes: str, query: tuple[str, ...] = ()) -> dict[str, Any]:
    """`opt` of a route that requires one of these scopes."""
    return {"sport": "cs2", "scopes": scopes, "query": query}


def _cached_per(grant: Grant, form: Format) -> Hashable:
    """What of a grant a response depends on. Bookings are part of XML and of the internal fields. Which types
    are off is read with the grant, never with the response: what is cached is then right for its key."""
    field_groups = groups(grant.scopes)
    booked = form is Format.XML or Group.INTERNALS in field_groups
    tenant = grant.tenant
    own = (tenant.id if booked else None, tenant.probabilities, tenant.types_off)
    return field_groups, grant.finished_only, *own


#: Routes whose responses are cached.
CACHED: dict[str, Any] = {"cached_per": _cached_per}
#: Cached routes that have an `.xml` sibling too.
CACHED_WITH_SIBLING = CACHED | {"sibling": True}
