"""RabbitMQ: whether it answers and has what we need of it, and whether it is in step with the tenants."""

import asyncio
from collections.abc import Sequence

from app.access.broker_sync import BrokerAccessConfig, differing_tenants
from app.broker import connection
from app.broker.address import parse
from app.broker.management import Management
from app.broker.management_api import BrokerNode
from app.ingest.queues import PARTITIONS, name_of
from app.kit.errors import Unavailable
from app.operations.doctor.findings import Finding, State, ill, judged, unknown, well
from app.store import tenants
from app.store.connections import Store

_START = "Start RabbitMQ, enable the plugin rabbitmq_management, or set RABBITMQ_API_URL."
_LOGIN_SECONDS = 5.0
_OLDEST = (3, 10)
_PLUGINS = ("rabbitmq_management", "rabbitmq_event_exchange")
_AUTHORISATION_PLUGINS = ("rabbitmq_auth_backend_http", "rabbitmq_auth_backend_cache")
_MAX_WAITING = 1000  #: log batches; more wait only if ingest does not keep up
_STATISTICS_SECONDS = 6.0  #: RabbitMQ's `collect_statistics_interval` is 5 s
DEPENDENT = ("broker plugins", "broker nodes", "broker alarms", "ingest queues")


async def answers(management: Management) -> Finding:
    try:
        version = await management.version()
    except Unavailable as error:
        return ill("broker", error.detail, _START)
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    old = [f"RabbitMQ {version} is older than 3.10"] if numbers < _OLDEST else ()
    return judged("broker", old, f"RabbitMQ {version} answers", "Install RabbitMQ 3.10 or later.")


async def login(rabbitmq_url: str, internal_vhost: str) -> Finding:
    """Whether our processes can connect, to the vhost of the internal queues."""
    action = "See RABBITMQ_URL, RabbitMQ's log, and that RABBITMQ_INTERNAL_VHOST exists (a start makes it)."
    try:
        await connection.reachable(parse(rabbitmq_url).urls(internal_vhost), _LOGIN_SECONDS)
    except connection.FAILURES as error:
        return ill("broker login", f"{type(error).__name__} in vhost {internal_vhost}", action)
    return well("broker login", f"vhost {internal_vhost} accepts us")


async def examine(management: Management, internal_vhost: str, mode: str) -> list[Finding]:
    """What needs the management API alone."""
    nodes = await management.nodes()
    return [
        _plugins(nodes, mode),
        members(nodes),
        _alarms(nodes),
        await _ingest_queues(management, internal_vhost),
    ]


async def tenants_in_step(store: Store, management: Management, config: BrokerAccessConfig) -> Finding:
    """Whether every tenant with AMQP has its vhost, and its user the rights that it should."""
    async with store.autocommit() as tx:
        provisioned = [tenant for tenant in await tenants.listing(tx) if tenant.amqp]
    vhosts = set(await management.vhosts())
    without = [tenant.slug for tenant in provisioned if tenant.vhost not in vhosts]
    others = await differing_tenants(management, provisioned, config)
    wrong = [f"{slug} has no vhost" for slug in without]
    wrong += [f"{tenant.slug} has other rights" for tenant in others if tenant.slug not in without]
    action = (
        "Rights are repaired each minute by feed and web processes; for a missing vhost run"
        " `matchfeed tenant provision`, which makes a new password."
    )
    return judged("tenants at the broker", wrong, f"{len(provisioned)} tenants are as they should be", action)


def _plugins(nodes: Sequence[BrokerNode], mode: str) -> Finding:
    wanted = (*_PLUGINS, *(_AUTHORISATION_PLUGINS if mode == "http" else ()))
    wrong = [
        f"{node.name} lacks {', '.join(missing)}"
        for node in nodes
        if not node.paused and (missing := [each for each in wanted if each not in node.plugins])
    ]
    action = "Run `rabbitmq-plugins enable` with their names on that machine."
    return judged("broker plugins", wrong, ", ".join(wanted), action)


def members(nodes: Sequence[BrokerNode]) -> Finding:
    """Whether all nodes run, together."""
    if not nodes:
        return unknown("broker nodes", "no node is listed", _START)
    wrong = [f"{node.name} does not run" for node in nodes if not node.running]
    wrong += [f"{node.name} is paused" for node in nodes if node.paused]
    wrong += [
        f"{node.name} is separated from {', '.join(node.partitions)}" for node in nodes if node.partitions
    ]
    action = (
        "Start a node that does not run, and restart one that is still paused after a minute. Nodes that were"
        " cut off from each other for a moment may stay separated, and clients of one then receive nothing"
        " from the other: restart the one that is separated from most others."
    )
    return judged("broker nodes", wrong, f"{len(nodes)} run together", action)


def _alarms(nodes: Sequence[BrokerNode]) -> Finding:
    alarms = [(node, "memory") for node in nodes if node.mem_alarm]
    alarms += [(node, "disk") for node in nodes if node.disk_free_alarm]
    if not nodes:
        return unknown("broker alarms", "no node is listed", _START)
    free = min(node.disk_free for node in nodes)
    action = (
        "Nothing is published meanwhile. Free memory or disk on that machine, or see which queue is long:"
        " `matchfeed feed status`."
    )
    wrong = [f"{node.name}: {what} alarm" for node, what in alarms]
    return judged("broker alarms", wrong, f"none; {free / 2**30:.1f} GiB of disk are free", action)


async def _ingest_queues(management: Management, vhost: str) -> Finding:
    """What is ill must still be so in the broker's next statistics: it counts consumers and messages every
    few seconds, queue by queue, so while a worker starts some queues are listed with one before others."""
    found = await _counted(management, vhost)
    if found.state is State.ILL:
        await asyncio.sleep(_STATISTICS_SECONDS)
        found = await _counted(management, vhost)
    return found


async def _counted(management: Management, vhost: str) -> Finding:
    """Eight queues with a consumer each. Another finding reports that no worker is alive: consumers are
    required only while one is."""
    present = {each.name: each for each in await management.queues(vhost)}
    names = [name_of(number) for number in range(PARTITIONS)]
    wrong = [f"{name} is missing" for name in names if name not in present]
    queues = [present[name] for name in names if name in present]
    if any(each.consumers for each in queues):
        wrong += [f"{each.name} has no consumer" for each in queues if not each.consumers]
        waiting = sum(each.ready for each in queues)
        wrong += [f"{waiting} log batches wait"] if waiting > _MAX_WAITING else []
    action = "Restart `matchfeed ingest`; if batches go on waiting, add another one (docs/scaling.md)."
    return judged("ingest queues", wrong, f"{len(queues)} queues", action)
