"""A tenant's corner of the broker: made, limited, and proven to work before anyone is told.

What the limits make a queue lose is dead-lettered to the queue `lost`, whatever the queue is called: how
many messages lie there is exactly what the tenant has missed. Messages that its clients reject do not.

What the tenant may do there is listed in `rights`.
"""

import asyncio
import re
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
from aio_pika.exceptions import AMQPError, ChannelNotFoundEntity

from app.broker import rights
from app.broker.address import Address, parse
from app.broker.connection import connected
from app.broker.management import Management
from app.broker.rights import Mode, user_of
from app.kit.background import apart
from app.kit.errors import Conflict, Unavailable

_SLUG = re.compile(r"[a-z][a-z0-9-]{1,30}\Z")
_LOGIN_SECONDS = 10.0

#: What one tenant may have. Connections and channels are counted per user, so that ours do not count.
USER_LIMITS = {"max-connections": 10, "max-channels": 200}
VHOST_LIMITS = {"max-queues": 11}  # its ten, and `lost`
#: A queue that nobody reads loses its oldest messages, then itself; the tenant recovers.
QUEUE_LIMITS = {
    "max-length": 20_000,
    "max-length-bytes": 128 * 1024 * 1024,
    "message-ttl": 3_600_000,
    "expires": 86_400_000,
}
#: The broker gives such names itself, and never this one.
_NO_QUEUE = "amq.gen-none"
#: The exchange and the queue of what tenants' queues have lost; the queue says how many, and keeps few.
LOST = "lost"
_LOST_LIMITS = {"x-max-length": 100_000, "x-max-length-bytes": 16 * 1024 * 1024}
_OTHERS = f"^(?!{LOST}$)"
_LOSSES = ("maxlen", "expired")


async def provision(
    management: Management,
    slug: str,
    exchange: str,
    public_host: str,
    *,
    mode: Mode,
    broker: Address | None = None,
) -> str:
    """Make (or make good) the tenant's vhost, with a new password; the AMQP URL, once a login has worked.

    The URL carries the password, which is kept nowhere; connections that were opened with an earlier one are
    ended. `public_host` is `host[:port]` as the tenant is told; the proof logs in there, or at `broker` when
    that is how the broker is reached from here. The user of `broker` gets its rights in the vhost too.
    Raises `Conflict` for a slug that cannot name a vhost, `Unavailable` when the broker refuses or the new
    login does not work in time; the earlier password is the tenant's then, as before.
    """
    if not _SLUG.match(slug):
        raise Conflict(f"{slug!r} cannot name a vhost: small letters, digits and hyphens, at most 31.")
    user, password = user_of(slug), secrets.token_urlsafe(24)
    url = f"{'amqps' if broker and broker.tls else 'amqp'}://{user}:{password}@{public_host}/{slug}"
    await management.put_vhost(slug)
    for ours in {management.user, broker.user if broker else management.user}:
        await management.permit(slug, ours, configure=".*", write=".*", read=".*")
    await furnish(management, slug, exchange)
    door = msgspec.structs.replace(broker, user=user, password=password) if broker else parse(url)
    async with _new_password(management, door):
        await grant(management, slug, exchange, mode)
        # A tenant at its limit of connections leaves none for the proof.
        await management.close_user(user, "there are new credentials")
        await _prove(door, slug, exchange, mode)
    return url


async def grant(management: Management, slug: str, exchange: str, mode: Mode) -> None:
    """Let the tenant's user into its vhost, with the rights and limits of every tenant."""
    user = user_of(slug)
    permission, topics = rights.permission(slug, exchange, mode), rights.topic_permission(exchange, mode)
    if permission:
        await management.permit(slug, user, **msgspec.structs.asdict(permission))
    else:
        await management.forbid(slug, user)
    if topics:
        await management.permit_topics(slug, user, topics)
    await management.limit_user(user, USER_LIMITS)


@asynccontextmanager
async def _new_password(management: Management, login: Address) -> AsyncIterator[None]:
    """The user of `login` has its password; where the block fails, it gets the earlier one back."""
    earlier = await management.credentials(login.user)
    await management.put_user(login.user, login.password)
    try:
        yield
    except BaseException:
        if earlier:
            await management.restore_credentials(login.user, earlier)
        raise


async def furnish(management: Management, vhost: str, exchange: str) -> None:
    """What stands in a tenant's vhost whoever logs in: the exchange, limits on every queue, and where the
    losses go. The queue of the losses is made last: where it is, all of it is."""
    await management.put_exchange(vhost, exchange, "topic")
    await management.put_exchange(vhost, LOST, "headers", internal=True)
    await management.put_operator_policy(vhost, "tenant-queues", QUEUE_LIMITS, _OTHERS)
    overflow = {"overflow": "drop-head", "dead-letter-exchange": LOST}
    await management.put_policy(vhost, "tenant-queues", overflow, _OTHERS)
    await management.limit_vhost(vhost, VHOST_LIMITS)
    await management.put_queue(vhost, LOST, _LOST_LIMITS)
    for loss in _LOSSES:
        only = {"x-match": "any-with-x", "x-first-death-reason": loss}
        await management.bind(vhost, LOST, LOST, loss, only)


async def withdraw(management: Management, slug: str) -> None:
    """Take a tenant's vhost and user away, whoever is connected."""
    await management.delete_user(user_of(slug))
    await management.close_user(user_of(slug), "access withdrawn")
    await management.delete_vhost(slug)


async def _prove(tenant: Address, vhost: str, exchange: str, mode: Mode) -> None:
    """Do as the tenant will: log in, and bind. Rights may need a moment to spread."""
    refused = "no answer"
    try:
        async with asyncio.timeout(_LOGIN_SECONDS):
            while refused := await _refusal(tenant, vhost, exchange):
                await asyncio.sleep(0.1)
    except TimeoutError as error:
        hint = " (BROKER_AUTHORISATION is http: does the broker ask us?)" if mode == "http" else ""
        raise Unavailable(
            f"The new login {tenant.user} does not work on vhost {vhost} within {_LOGIN_SECONDS:.0f} s: "
            f"{refused}{hint}. The password is the earlier one; try again.",
            retry_after=10,
        ) from error


async def _refusal(tenant: Address, vhost: str, exchange: str) -> str:
    """What the broker has against the tenant's binding a queue; nothing when it would bind one."""
    try:
        await apart(_bind(tenant, vhost, exchange), _LOGIN_SECONDS)
    except ChannelNotFoundEntity:
        return ""
    except (OSError, AMQPError) as error:
        return str(error) or type(error).__name__
    return ""


async def _bind(tenant: Address, vhost: str, exchange: str) -> None:
    """Binds a queue that is not there, for the tenant may have as many as it can have: rights come first, and
    only who has them is told that there is no such queue."""
    async with connected(tenant.url(vhost), _LOGIN_SECONDS) as connection:
        channel = await connection.channel()
        queue = await channel.get_queue(_NO_QUEUE, ensure=False)
        await queue.bind(exchange, "#")
