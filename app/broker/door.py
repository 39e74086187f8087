"""A tenant's entrance to its vhost: shut while the tenant is revoked, opened again with the same password.

A user that may have no connections is refused at login, whatever its password; the password itself stays.
"""

from app.broker.management import Management
from app.broker.provisioning import grant
from app.broker.rights import Mode, user_of

#: The limits of a tenant that is kept out.
SHUT = {"max-connections": 0}


async def shut(management: Management, slug: str) -> None:
    """Let the tenant's user in no more, and end its connections; when this returns, none is left."""
    user = user_of(slug)
    await management.limit_user(user, SHUT)
    await management.forbid(slug, user)
    await management.end_connections(user, "access withdrawn")


async def reopen(management: Management, slug: str, exchange: str, mode: Mode) -> None:
    """Let the tenant's user in again."""
    await grant(management, slug, exchange, mode)


async def hang_up(management: Management, slug: str, reason: str) -> None:
    """End every connection of the tenant's user."""
    await management.close_user(user_of(slug), reason)
