"""The feed processes' own broker users, one a process, so that one process can be cut off.

A process that was suspended and resumes would flush its socket buffers, long after another process took its
tenants over. So every process logs in as its own user, and the new holder expels that user: it cannot log in
again, and every connection of it is closed.
"""

import secrets

from app.broker.management import Management
from app.broker.provisioning import LOST, RUNNING

PREFIX = "matchfeed-feed-"


def publisher_user(holder: str) -> str:
    """The user's name; `holder` is the feed process as it holds leases."""
    return f"{PREFIX}{holder}"


async def create_publisher_user(management: Management, holder: str) -> str:
    """Create the holder's user, without permissions; returns its password."""
    password = secrets.token_urlsafe(24)
    await management.put_user(publisher_user(holder), password)
    return password


async def permit_publisher(management: Management, holder: str, vhost: str, exchange: str) -> None:
    """Permit the holder to declare and publish to one tenant's exchange, to declare the exchange that ends
    with the broker, to read the queue of its losses, and nothing else."""
    name = exchange.replace(".", r"\.")
    await management.set_permissions(
        vhost,
        publisher_user(holder),
        configure=f"^({name}|{RUNNING})$",
        write=f"^{name}$",
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
