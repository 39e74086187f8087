"""Whether a process of the service is alive: it would publish from a database that is being put in order."""

import asyncio
import time
from collections.abc import Collection

from app.broker.management import Management, UserConnection
from app.broker.publisher_users import PREFIX
from app.kit.errors import Conflict
from app.store import restoration
from app.store.connections import Store

_POLL_SECONDS = 0.25


async def require_idle(
    store: Store, management: Management, vhosts: Collection[str], internal_vhost: str, *, seconds: float
) -> None:
    """Raise `Conflict`, which names them, if processes of the service are connected to the database or, for
    one of these tenants or the internal queues, to the broker. A process that lost the database when it was
    restored connects again within `seconds`. `store` has one connection."""
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
    return connection.user.startswith(PREFIX) and connection.vhost in vhosts
