"""Revoking and restoring a tenant's access to its vhost; its password stays the same.

A user whose connection limit is 0 is refused at login, whatever its password.
"""

import msgspec

from app.broker.management import Management
from app.broker.permissions import TENANT_TAG, AuthorisationMode, tenant_user
from app.broker.provisioning import apply_permissions
from app.broker.publisher_users import PREFIX

#: The user limits of a revoked tenant.
REVOKED_LIMITS = {"max-connections": 0}


async def revoke(management: Management, vhost: str) -> None:
    """Refuse the tenant's logins and close its connections; when this returns, none is left."""
    user = tenant_user(vhost)
    await management.limit_user(user, REVOKED_LIMITS)
    await management.clear_permissions(vhost, user)
    await management.ensure_disconnected(user, "access withdrawn")


async def restore(management: Management, vhost: str, exchange: str, mode: AuthorisationMode) -> None:
    """Accept the tenant's logins again, with its permissions and limits."""
    await apply_permissions(management, vhost, exchange, mode)


async def tag(management: Management, vhost: str) -> None:
    """Give a user that an earlier version created the tag of tenants' users; its password stays."""
    user = tenant_user(vhost)
    if present := await management.credentials(user):
        await management.set_credentials(user, msgspec.structs.replace(present, tags=(TENANT_TAG,)))


async def client_users(management: Management, vhost: str) -> set[str]:
    """The users that the tenant's clients are connected as, keys too: neither feed processes nor
    ourselves."""
    users = {each.user for each in await management.connections(vhost)} - {management.user}
    return {user for user in users if not user.startswith(PREFIX)}


async def close_connections(management: Management, vhost: str, reason: str) -> None:
    """Close every connection of the tenant's user."""
    await management.close_user_connections(tenant_user(vhost), reason)
