"""Whether no process of the service is alive, and a restored database is sound and fits this service; before
anything is changed.
"""

import asyncio
import time
from collections.abc import Collection, Sequence
from uuid import UUID

import msgspec

from app.broker.broker_users import PUBLISHER_PREFIX
from app.broker.management import Management, UserConnection
from app.commands.settlement_audit import audit_settlements
from app.domain.ids import match_urn
from app.kit.clock import iso_seconds
from app.kit.errors import Conflict
from app.store import matches, migrations, restoration, tenants
from app.store.connections import Store
from app.store.restoration import KnownNumbers

_POLL_SECONDS = 0.25
_CLOCK_MILLIS = 5_000  #: by how much two clocks may differ


class Audit(msgspec.Struct, frozen=True):
    """How many matches and ledger entries were checked, and what is wrong with ledger and change log."""

    matches: int
    entries: int
    wrong: Sequence[str]


async def require_idle(store: Store, management: Management, internal_vhost: str, *, seconds: float) -> None:
    """Raise `Conflict`, which names them, if processes of the service are connected to the database or, for a
    tenant or the internal queues, to the broker. A process that lost the database when it was restored
    connects again within `seconds`. `store` has one connection."""
    async with store.autocommit() as tx:
        vhosts = {tenant.vhost for tenant in await tenants.listing(tx)}
    deadline = time.monotonic() + seconds
    while True:
        found = await _database_sessions(store)
        found += await _broker_connections(management, vhosts, internal_vhost)
        if found:
            raise Conflict(
                f"The service is running: {'; '.join(found)}. Stop every web, ingest and feed process "
                "(broker-authorisation may stay), then run this again."
            )
        if time.monotonic() >= deadline:
            return
        await asyncio.sleep(_POLL_SECONDS)


async def _database_sessions(store: Store) -> list[str]:
    async with store.autocommit() as tx:
        return [
            f"a session on the database from {each.address}, process {each.pid} of PostgreSQL"
            for each in await restoration.sessions(tx)
        ]


async def _broker_connections(
    management: Management, vhosts: Collection[str], internal_vhost: str
) -> list[str]:
    """The broker lists a connection for up to some seconds after its end."""
    return [
        f"a connection of {each.user} to the vhost {each.vhost} from {each.peer_host}"
        for each in await management.user_connections()
        if each.vhost == internal_vhost or _publishes(each, vhosts)
    ]


def _publishes(connection: UserConnection, vhosts: Collection[str]) -> bool:
    return connection.user.startswith(PUBLISHER_PREFIX) and connection.vhost in vhosts


async def require_usable(store: Store, now: int) -> KnownNumbers:
    """What the database knows; raises `Conflict` when it is a standby, has another schema, or contradicts our
    clock at `now` (ms): all later numbers and timestamps follow from the clock."""
    async with store.autocommit() as tx:
        if missing := await migrations.pending_migrations(tx):
            count = f"{len(missing)} migration{'s' if len(missing) > 1 else ''}"
            raise Conflict(f"The database lacks {count}: run `matchfeed migrate` first.")
        known = await restoration.known_numbers(tx)
    if known.standby:
        raise Conflict("The database is a standby: promote it first (`pg_ctl promote`).")
    if abs(known.clock - now) > _CLOCK_MILLIS:
        raise Conflict(
            f"PostgreSQL's clock says {iso_seconds(known.clock)}, this machine's {iso_seconds(now)}: set "
            "them (NTP) first, since new timestamps and numbers follow from the clock."
        )
    if known.newest_at > now + _CLOCK_MILLIS:
        raise Conflict(
            f"The database has timestamps up to {iso_seconds(known.newest_at)}, and this machine's clock "
            f"says {iso_seconds(now)}: set it (NTP), or wait until then."
        )
    return known


async def audit(store: Store) -> Audit:
    """Check the change log against the ledger, and every settlement against the stored facts."""
    async with store.snapshot() as tx:
        found = await restoration.contradictions(tx)
        settled = await restoration.settled(tx)
    wrong = [f"{count} {what}" for what, count in found.items()]
    entries = 0
    for match_id in settled:
        count, differing = await _audit_match(store, match_id)
        entries += count
        wrong += differing
    return Audit(len(settled), entries, wrong)


async def _audit_match(store: Store, match_id: UUID) -> tuple[int, list[str]]:
    async with store.snapshot() as tx:
        match = await matches.get(tx, match_id)
        if match is None:  # counted among the contradictions
            return 0, []
        found = await audit_settlements(tx, match)
    name = match_urn(match.number)
    return found.entries, [
        f"{name}: market {each.type_id} {each.specifiers}: {each.problem}" for each in found.differences
    ]
