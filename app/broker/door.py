"""A tenant's entrance to its vhost: shut while the tenant is revoked, opened again with the same password.

Without rights in the vhost a login is refused, whatever its password; the password itself stays.
"""

import asyncio

from app.broker.management import Management
from app.broker.provisioning import permissions, user_of
from app.kit.errors import Unavailable

_CLOSE_SECONDS = 10.0


async def shut(management: Management, slug: str) -> None:
    """Let the tenant's user in no more, and end its connections; when this returns, none is left."""
    user = user_of(slug)
    await management.forbid(slug, user)
    try:
        async with asyncio.timeout(_CLOSE_SECONDS):
            await hang_up(management, slug, "access withdrawn")
            while await management.connected(user):
                await hang_up(management, slug, "access withdrawn")
    except TimeoutError as error:
        what = f"The connections of {user} did not end within {_CLOSE_SECONDS:.0f} s."
        raise Unavailable(what, retry_after=1) from error


async def reopen(management: Management, slug: str) -> None:
    """Let the tenant's user in again."""
    await management.permit(slug, user_of(slug), **permissions(slug))


async def hang_up(management: Management, slug: str, reason: str) -> None:
    """End every connection of the tenant's user."""
    await management.close_user(user_of(slug), reason)
