"""Ends sessions that hold locks for a process that stands still (stopped, or on a machine that is paused).

PostgreSQL ends a session that is idle in a transaction (`connections`), but none that has received a part of
a statement: it is active and waits for its client, and no timeout of PostgreSQL 15 applies. The driver sends
the text of a statement that it has not prepared yet, and the arguments once PostgreSQL has parsed the text; a
process that stops in between would hold its locks until it goes on.
"""

import asyncio

from app.kit.logging import get_logger
from app.kit.retry import retry_while_unavailable
from app.store.connections import AUTHORISATION_SESSION_NAME, SESSION_NAME, Store
from app.store.statements import session

_EVERY_SECONDS = 1.0
_STALLED_SECONDS = 5.0  #: as long as a session may be idle in a transaction
log = get_logger(__name__)


async def end_stalled_regularly(store: Store) -> None:
    """End stalled sessions until cancelled. Every process does it: any other may be the one that stops."""
    while True:
        await retry_while_unavailable("ending stalled sessions", lambda: end_stalled(store, _STALLED_SECONDS))
        await asyncio.sleep(_EVERY_SECONDS)


async def end_stalled(store: Store, seconds: float) -> int:
    """End the service's sessions on this database that have waited for the rest of a statement for so long;
    returns how many. Raises `Unavailable`."""
    async with store.autocommit() as tx:
        ended = await tx.fetch(session.END_STALLED, [SESSION_NAME, AUTHORISATION_SESSION_NAME], seconds)
    for row in ended:
        log.warning("a stalled session was ended", pid=row["pid"], address=row["address"])
    return len(ended)
