"""A tenant's entrance to its vhost: shut while the tenant is revoked, opened again with the same password.

Without rights in the vhost a login is refused, whatever its password; the password itself stays.
"""

from app.broker.management import Management
from app.broker.provisioning import permissions, user_of


async def shut(management: Management, slug: str) -> None:
    """Let the tenant's user in no more, and end its connections; when this returns, none is left."""
    user = user_of(slug)
    await management.forbid(slug, user)
    await management.end_connections(user, "access withdrawn")


async def reopen(management: Management, slug: str) -> None:
    """Let the tenant's user in again."""
    await management.permit(slug, user_of(slug), **permissions(slug))


async def hang_up(management: Management, slug: str, reason: str) -> None:
    """End every connection of the tenant's user."""
    await management.close_user(user_of(slug), reason)
