"""Provisioning a tenant's vhost: created, limited, and tested with a login before the URL is returned.

Messages that any tenant queue drops because of its limits are dead-lettered to the queue `lost`: their number
there is exactly what the tenant has missed. Messages that its clients reject are not dead-lettered.

What the tenant may do in the vhost is listed in `permissions`.
"""

import asyncio
import re
import secrets
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

import msgspec

from app.broker import permissions
from app.broker.address import Address, parse, tenant_url
from app.broker.login_check import check_binding
from app.broker.management import Management
from app.broker.management_api import ListedExchange
from app.broker.permissions import (
    CLIENT_EXCHANGES,
    REPLAY_EXCHANGE,
    SDK_EXCHANGE,
    TENANT_TAG,
    AuthorisationMode,
    tenant_user,
)
from app.domain.tenant import MAX_QUEUES, NUMBERED_VHOST
from app.kit.errors import Conflict, Unavailable

#: Named by a slug, or as clients expect that know tenants by number.
_NAME = re.compile(rf"[a-z][a-z0-9-]{{1,30}}\Z|{NUMBERED_VHOST}\d{{1,10}}\Z")
_LOGIN_SECONDS = 10.0

#: What one tenant may have. Connections and channels are limited by user, so that ours do not count.
USER_LIMITS = {"max-connections": 10, "max-channels": 200}
#: A queue without consumers loses its oldest messages and then expires; the tenant requests a recovery.
QUEUE_LIMITS = {
    "max-length": 20_000,
    "max-length-bytes": 128 * 1024 * 1024,
    "message-ttl": 3_600_000,
    "expires": 86_400_000,
}
#: The exchange and the queue of what tenants' queues have lost: the queue counts them and stores few.
LOST = "lost"
#: A transient exchange of each vhost, which ends with the broker: where it is missing, the broker was
#: restarted since the tenant was last served, and its queues have lost their transient messages.
RUNNING = "running"
_LOST_LIMITS = {"x-max-length": 100_000, "x-max-length-bytes": 16 * 1024 * 1024}
_OTHERS = f"^(?!{LOST}$)"
_LOSSES = ("maxlen", "expired")


async def provision(
    management: Management,
    vhost: str,
    exchange: str,
    public_host: str,
    *,
    mode: AuthorisationMode,
    broker: Address | None = None,
    max_queues: int = MAX_QUEUES,
) -> str:
    """Create (or repair) the tenant's vhost, with a new password; the AMQP URL, once a login has worked.

    The URL contains the password, which is stored nowhere; connections opened with an earlier one are closed.
    `public_host` is `host[:port]` for the tenant's URL; the test logs in there, or at `broker` when the
    broker's address differs from inside. The user of `broker` gets permissions in the vhost too.
    Raises `Conflict` for a name that no vhost may have, `Unavailable` when the broker refuses or the new
    login does not work in time; the earlier password stays valid then.
    """
    if not _NAME.match(vhost):
        what = f"{vhost!r} cannot name a vhost: small letters, digits and hyphens, at most 31."
        raise Conflict(what, code="vhost_name", slug=vhost)
    user, password = tenant_user(vhost), secrets.token_urlsafe(24)
    url = tenant_url(public_host, broker, user, password, vhost)
    await declare_vhost(management, vhost, exchange, broker, max_queues=max_queues)
    login = msgspec.structs.replace(broker, user=user, password=password) if broker else parse(url)
    async with _new_password(management, login):
        await apply_permissions(management, vhost, exchange, mode)
        # A tenant at its connection limit leaves no connection for the test.
        await management.close_user_connections(user, "there are new credentials")
        await _test_login(login, vhost, exchange, mode)
    return url


async def declare_vhost(
    management: Management,
    vhost: str,
    exchange: str,
    broker: Address | None = None,
    *,
    max_queues: int = MAX_QUEUES,
) -> None:
    """Create the vhost, or complete it, with all that it has for every tenant; our own user (and that of
    `broker`) may do everything there."""
    await management.put_vhost(vhost)
    for ours in {management.user, broker.user if broker else management.user}:
        await management.set_permissions(vhost, ours, configure=".*", write=".*", read=".*")
    await limit_queues(management, vhost, max_queues)
    await declare_topology(management, vhost, exchange)


async def limit_queues(management: Management, vhost: str, max_queues: int) -> None:
    """Let the tenant have so many queues, and `lost`; those that it has beyond that stay."""
    await management.limit_vhost(vhost, vhost_limits(max_queues))


def vhost_limits(max_queues: int) -> dict[str, int]:
    return {"max-queues": max_queues + 1}


async def apply_permissions(
    management: Management, vhost: str, exchange: str, mode: AuthorisationMode, *, replays: bool = True
) -> None:
    """Set the permissions and limits of every tenant for this user, which may log in again with them."""
    user = tenant_user(vhost)
    permission = permissions.permission(exchange, mode, replays=replays)
    if permission:
        await management.set_permissions(vhost, user, **msgspec.structs.asdict(permission))
    else:
        await management.clear_permissions(vhost, user)
    for topics in permissions.topic_permissions(exchange, mode, replays=replays):
        await management.set_topic_permission(vhost, user, topics)
    await management.limit_user(user, USER_LIMITS)


@asynccontextmanager
async def _new_password(management: Management, login: Address) -> AsyncIterator[None]:
    """Set the password of `login`; if the block fails, restore the earlier one, or delete the new user."""
    earlier = await management.credentials(login.user)
    await management.put_user(login.user, login.password, TENANT_TAG)
    try:
        yield
    except BaseException:
        if earlier:
            await management.set_credentials(login.user, msgspec.structs.replace(earlier, tags=(TENANT_TAG,)))
        else:  # nobody knows its password
            await management.delete_user(login.user)
        raise


async def declare_topology(management: Management, vhost: str, exchange: str) -> None:
    """Declare what every tenant's vhost has: the exchanges, limits on every queue, and the dead-letter
    exchange and queue of the losses. That queue is declared last: where it exists, the rest does."""
    await management.put_exchange(vhost, exchange, "topic")
    await declare_client_exchanges(management, vhost, exchange)
    await management.put_exchange(vhost, LOST, "headers", internal=True)
    await management.put_policy(vhost, "tenant-queues", QUEUE_LIMITS, _OTHERS)
    overflow = {"overflow": "drop-head", "dead-letter-exchange": LOST}
    await management.put_policy(vhost, "tenant-queues", overflow, _OTHERS, for_users=True)
    await management.put_queue(vhost, LOST, _LOST_LIMITS)
    for loss in _LOSSES:
        only = {"x-match": "any-with-x", "x-first-death-reason": loss}
        await management.bind(vhost, LOST, LOST, loss, only)


async def declare_client_exchanges(management: Management, vhost: str, exchange: str) -> None:
    """Declare the exchanges to which clients of established odds feeds bind: that with everything of
    `exchange`, and that of replays."""
    await declare_replay_exchange(management, vhost)
    if exchange != SDK_EXCHANGE:
        await management.put_exchange(vhost, SDK_EXCHANGE, "topic")
        await management.bind_exchange(vhost, exchange, SDK_EXCHANGE, "#")


async def declare_replay_exchange(management: Management, vhost: str) -> None:
    await management.put_exchange(vhost, REPLAY_EXCHANGE, "topic")


async def has_client_exchanges(
    management: Management, listed: Collection[ListedExchange], vhost: str, exchange: str
) -> bool:
    """Whether those exchanges, of those that the broker listed, are there as declared, and bound. That of
    replays may be missing (`lacks_replay_exchange`)."""
    wanted = {*CLIENT_EXCHANGES} - {exchange}
    if lacks_replay_exchange(listed, vhost):
        wanted -= {REPLAY_EXCHANGE}
    if any(ListedExchange(vhost, name) not in listed for name in wanted):
        return False
    return exchange == SDK_EXCHANGE or await management.is_bound(vhost, exchange, SDK_EXCHANGE)


def lacks_replay_exchange(listed: Collection[ListedExchange], vhost: str) -> bool:
    """Whether the vhost has no exchange of replays, as those that version 0.2.0 made."""
    return not any(each.vhost == vhost and each.name == REPLAY_EXCHANGE for each in listed)


async def restore_client_exchanges(management: Management, vhost: str, exchange: str) -> None:
    """Replace them: a client deleted one, or declared another of its name."""
    for name in {*CLIENT_EXCHANGES} - {exchange}:
        await management.delete_exchange(vhost, name)
    await declare_client_exchanges(management, vhost, exchange)


async def deprovision(management: Management, vhost: str) -> None:
    """Delete a tenant's vhost and user and close their connections: for demonstrations and benchmarks on a
    shared broker. The service itself never deletes a vhost."""
    await management.delete_user(tenant_user(vhost))
    await management.close_user_connections(tenant_user(vhost), "access withdrawn")
    await management.delete_vhost(vhost)


async def _test_login(tenant: Address, vhost: str, exchange: str, mode: AuthorisationMode) -> None:
    """Log in and bind as the tenant will. Permissions may take a moment to take effect."""
    refused = "no answer"
    try:
        async with asyncio.timeout(_LOGIN_SECONDS):
            while refused := (await check_binding(tenant, vhost, exchange, _LOGIN_SECONDS))[-1].error:
                await asyncio.sleep(0.1)
    except TimeoutError as error:
        hint = " (BROKER_AUTHORISATION is http: does the broker reach us?)" if mode == "http" else ""
        raise Unavailable(
            f"The new login {tenant.user} does not work on vhost {vhost} within {_LOGIN_SECONDS:.0f} s: "
            f"{refused}{hint}. The password is the earlier one; try again.",
            retry_after=10,
            code="login_not_working",
        ) from error
