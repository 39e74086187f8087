"""The feed process, and the delivery status of tenants."""

import click

from app.amqp.delivery_status import TenantStatus, tenant_statuses
from app.cli.runtime import async_command, broker_config, command_store, load_settings
from app.workers import run_feed

_COLUMNS = "{:<24} {:>10} {:>10} {:>8} {:>8} {:>8} {:>5}  {}"
_HEADS = ("tenant", "behind", "seconds", "alive", "dropped", "waiting", "cons", "state")


@click.group(invoke_without_command=True)
@click.pass_context
def feed(context: click.Context) -> None:
    """Run the feed process, which publishes changes to tenants over AMQP; `feed status` shows how far it
    is."""
    if context.invoked_subcommand is None:
        _run()


@async_command
async def _run() -> None:
    await run_feed(load_settings())


@feed.command()
@async_command
async def status() -> None:
    """How far each tenant is: envelopes and seconds behind, seconds since the last alive, messages dropped by
    and waiting in its queues, its consumers, and the connection."""
    settings = load_settings()
    async with command_store(settings) as store, broker_config(settings) as broker:
        statuses = await tenant_statuses(store, broker.management)
    click.echo(_COLUMNS.format(*_HEADS))
    for each in statuses:
        click.echo(_line(each))


def _line(tenant: TenantStatus) -> str:
    waiting, consumers = "?", "?"
    if tenant.queues is not None:
        waiting = str(sum(queue.ready + queue.unacknowledged for queue in tenant.queues))
        consumers = str(sum(queue.consumers for queue in tenant.queues))
    behind, alive = f"{tenant.behind_seconds:.1f}", f"{tenant.alive_seconds_ago:.0f} s"
    counts = (tenant.behind, behind, alive, tenant.dropped, waiting, consumers)
    return _COLUMNS.format(tenant.tenant, *counts, tenant.state)
