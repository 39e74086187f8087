"""Work that one process does at a time, of all that share the database."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from app.store.connections import Store
from app.store.statements import own_session
from app.store.transaction import Tx, translate_errors

REFERENCE_FILES = 7232656  #: the advisory lock for importing files of reference data


@asynccontextmanager
async def exclusive(store: Store, lock: int) -> AsyncIterator[bool]:
    """Whether this process has the lock until the context ends: False if another one has it.

    The lock belongs to a connection of its own, so that it ends with the process. Raises `Unavailable`.
    """
    async with translate_errors():
        connection = await store.dedicated()
        try:
            yield bool(await Tx(connection).value(own_session.TRY_LOCK, lock))
        finally:
            await connection.close()
