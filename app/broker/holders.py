"""The feed processes' own users on the broker, so that one process can be shut out whatever it is doing.

A process that was stopped and wakes up would flush what it had in its buffers, long after another took
its tenants over. So every process logs in as a user of its own, and the taker expels that user: no new
login, and every connection ended. The broker answers the closing call only when the connection's channel
has stopped taking messages; a second call ends a connection whose client never says goodbye.
"""

import asyncio
import secrets

from app.broker.management import Management
from app.broker.provisioning import LOST
from app.kit.errors import Unavailable

PREFIX = "matchfeed-feed-"
_WHY = "another process has taken over"
_CLOSE_SECONDS = 10.0
_AGAIN_SECONDS = 0.05


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
    try:
        async with asyncio.timeout(_CLOSE_SECONDS):
            await management.close_user(user, _WHY)
            while await management.connected(user):
                await asyncio.sleep(_AGAIN_SECONDS)
                await management.close_user(user, _WHY)
    except TimeoutError as error:
        what = f"The connections of {user} did not end within {_CLOSE_SECONDS:.0f} s."
        raise Unavailable(what, retry_after=1) from error
    await management.delete_user(user)
