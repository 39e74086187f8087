"""The feed processes' own users on the broker, so that one process can be shut out whatever it is doing.

A process that was stopped and wakes up would flush what it had in its buffers, long after another took
its tenants over. So every process logs in as a user of its own, and the taker expels that user: no new
login, and every connection ended.
"""

import secrets

from app.broker.management import Management
from app.broker.provisioning import LOST

PREFIX = "matchfeed-feed-"


def user_of(holder: str) -> str:
    return f"{PREFIX}{holder}"


async def enlist(management: Management, holder: str) -> str:
    """Make the holder's user, which may do nothing yet; its password."""
    password = secrets.token_urlsafe(24)
    await management.put_user(user_of(holder), password)
    return password


async def admit(management: Management, holder: str, vhost: str, exchange: str) -> None:
    """Let the holder declare and publish to the exchange of one tenant, count what the tenant's queues have
    lost, and nothing else."""
    only = f"^{exchange}$".replace(".", r"\.")
    await management.permit(vhost, user_of(holder), configure=only, write=only, read=f"^{LOST}$")


async def expel(management: Management, holder: str) -> None:
    """Shut a holder out: when this returns, nothing that it has written or will write gets through.
    Raises `Unavailable` when its connections do not end."""
    user = user_of(holder)
    await management.put_user(user, secrets.token_urlsafe(24))
    await management.end_connections(user, "another process has taken over")
    await management.delete_user(user)
