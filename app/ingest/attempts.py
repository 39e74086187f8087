"""How often a failing batch is tried before it counts as at fault."""

from app.kit.errors import Unavailable
from app.store.connections import Store

ATTEMPTS = 5
RETRY_SECONDS = 0.1


async def is_database_healthy(store: Store) -> bool:
    """Whether a failure just now is the data's, not the database's."""
    try:
        await store.check()
    except Unavailable:
        return False
    return True
