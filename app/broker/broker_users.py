"""Users at the broker: those of tenants, whose access is revoked and restored without another password, and
the feed processes' own.

A tenant's user whose connection limit is 0 is refused at login, whatever its password.

A feed process that was suspended and resumes would flush its socket buffers, long after another process took
its tenants over. So every process logs in as its own user, and the new holder expels that user: it cannot log
in again, and every connection of it is closed.
"""

import secrets

import msgspec

from app.broker.management import Management
from app.broker.permissions import REPLAY_EXCHANGE, TENANT_TAG, tenant_user
from app.broker.provisioning import LOST, RUNNING

PUBLISHER_PREFIX = "matchfeed-feed-"
#: The user limits of a revoked tenant.
REVOKED_LIMITS = {"max-connections": 0}


def publisher_user(holder: str) -> str:
    """The user's name; `holder` is the feed process as it holds leases."""
    return f"{PUBLISHER_PREFIX}{holder}"


def is_publisher_user(user: str) -> bool:
    return user.startswith(PUBLISHER_PREFIX)


async def create_publisher_user(management: Management, holder: str) -> str:
    """Create the holder's user, without permissions; returns its password."""
    password = secrets.token_urlsafe(24)
    await management.put_user(publisher_user(holder), password)
    return password


async def permit_publisher(management: Management, holder: str, vhost: str, exchange: str) -> None:
    """Permit the holder to declare and publish to one tenant's exchange and that of its replays, to declare
    the exchange that ends with the broker, to read the queue of its losses, and nothing else."""
    name = exchange.replace(".", r"\.")
    await management.set_permissions(
        vhost,
        publisher_user(holder),
        configure=f"^({name}|{REPLAY_EXCHANGE}|{RUNNING})$",
        write=f"^({name}|{REPLAY_EXCHANGE})$",
        read=f"^{LOST}$",
    )


async def expel_publisher(management: Management, holder: str) -> None:
    """Change the holder's password, close its connections and delete its user: when this returns, nothing
    that it has written or will write reaches a queue. Raises `Unavailable` when its connections do not close.
    """
    user = publisher_user(holder)
    await management.put_user(user, secrets.token_urlsafe(24))
    await management.ensure_disconnected(user, "another process has taken over")
    await management.delete_user(user)


async def revoke_access(management: Management, vhost: str) -> None:
    """Refuse the tenant's logins and close its connections; when this returns, none is left."""
    user = tenant_user(vhost)
    await management.limit_user(user, REVOKED_LIMITS)
    await management.clear_permissions(vhost, user)
    await management.ensure_disconnected(user, "access withdrawn")


async def tag_tenant_user(management: Management, vhost: str) -> None:
    """Give a tenant's user the tag that tenants' users have; its password stays."""
    user = tenant_user(vhost)
    if present := await management.credentials(user):
        await management.set_credentials(user, msgspec.structs.replace(present, tags=(TENANT_TAG,)))


async def client_users(management: Management, vhost: str) -> set[str]:
    """The users that the tenant's clients are connected as, keys too: neither feed processes nor
    ourselves."""
    users = {each.user for each in await management.connections(vhost)} - {management.user}
    return {user for user in users if not is_publisher_user(user)}
