"""What the people of a tenant may see in the portal: what its own keys and its vhost give access to."""

from uuid import UUID

from app.domain.match import Match
from app.domain.scopes import KeyRights, Reach, narrowest, reach
from app.domain.tenant import Tenant
from app.kit.errors import Forbidden, NotFound
from app.store import keys, matches, tenants
from app.store.transaction import Tx


async def reach_of(tx: Tx, tenant: Tenant, *scopes: str) -> Reach:
    """What the tenant may see under all of these scopes; raises `Forbidden` where that is nothing."""
    issued = await keys.listing(tx, tenant.id)
    rights = [KeyRights(each.scopes, each.sports, each.finished_only) for each in issued if each.active]
    found = narrowest(reach(scope, rights, amqp=tenant.amqp) for scope in scopes)
    if found is Reach.NOTHING:
        what = f"This needs an API key of your tenant with the scope {' and '.join(scopes)}."
        raise Forbidden(
            f"{what} Issue one that has it, or ask your account manager.",
            code="no_scope",
            scopes=", ".join(scopes),
        )
    return found


async def match_within(tx: Tx, tenant_id: UUID, found: Reach, ref: str) -> Match:
    """The match that `ref` names (UUID or ``od:match:<n>``); raises `NotFound` beyond that reach, `Invalid`
    for a `ref` of neither form."""
    match = await matches.by_ref(tx, ref, finished_only=found is Reach.FINISHED)
    if found is Reach.BOOKED and not await tenants.booked(tx, tenant_id, [match.id]):
        raise NotFound(f"There is no match {ref!r}.", code="no_match", match=ref)
    return match
