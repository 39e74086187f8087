"""The feed process, the delivery status of tenants, and a tenant's feed as it comes."""

import os
import sys

import click

from app.amqp.delivery_status import TenantStatus, tenant_statuses
from app.broker.address import parse
from app.channels.feed import tail as feed_tail
from app.cli.connections import broker_config, command_store
from app.cli.runtime import async_command, load_settings, print_line
from app.workers.feed import run_feed


@click.command()
@click.argument("tenant")
@async_command
async def tail(tenant: str) -> None:
    """Print the messages that TENANT receives over AMQP, readably, as they arrive."""
    settings = load_settings()
    async for message in feed_tail.tail(parse(settings.rabbitmq_url).url(tenant), settings.exchange):
        if not _printed(message):
            return


def _printed(text: str) -> bool:
    """False when the reader of the output has ended (`| head`), which is no failure."""
    try:
        print_line(text)
    except BrokenPipeError:
        # What is still in the buffer would be written, and fail again, at the end of the process.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


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
