"""PostgreSQL at one address, or at those of a primary and its standbys.

`postgresql://user@host:port,host:port/database` lists the servers, as in libpq; we connect to the one that is
the primary at that moment.
"""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import asyncpg

from app.kit.logging import get_logger
from app.kit.servers import listed_servers
from app.store.timeline import OutdatedServer

#: The time limit for each of several servers: one that is cut off sends no reply at all.
_SERVER_SECONDS = 2.0
_PRIMARY = {"target_session_attrs": "primary"}
_NOT_THIS_ONE = (
    OSError,
    TimeoutError,
    asyncpg.TargetServerAttributeNotMatched,
    asyncpg.CannotConnectNowError,
    OutdatedServer,
)
Examine = Callable[[Any], Awaitable[object]]  #: raises an error if a new connection may not be used
log = get_logger(__name__)


def of_primary(url: str) -> str:
    """`url`; one that lists several servers then requires the primary."""
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query))
    if "," not in parts.netloc or _PRIMARY.keys() <= query.keys():
        return url
    return urlunsplit(parts._replace(query=urlencode(query | _PRIMARY)))


async def connect(url: str, *, examine: Examine | None = None, **options: Any) -> asyncpg.Connection:
    """`asyncpg.connect`, with each of several servers in turn until one is the primary, and passes
    `examine`.

    The driver, too, takes a list of servers, but has one time limit for all: one that is cut off would use it
    up.
    """
    listed = urlsplit(url).netloc.rpartition("@")[2]
    if "," not in listed:
        return await _examined(await asyncpg.connect(url, **options), examine)
    servers = listed_servers(listed, 5432)
    for number, (host, port) in enumerate(servers, 1):
        server = {"host": host, "port": port, "timeout": _SERVER_SECONDS}
        try:
            connection = await asyncpg.connect(of_primary(url), **(options | server))
            return await _examined(connection, examine)
        except _NOT_THIS_ONE as error:
            if number == len(servers):
                raise
            log.info("not the primary", server=f"{host}:{port}", error=repr(error))
    raise ValueError("no address of the database")


async def _examined(connection: asyncpg.Connection, examine: Examine | None) -> asyncpg.Connection:
    if examine is not None:
        try:
            await examine(connection)
        except BaseException:
            connection.terminate()
            raise
    return connection
