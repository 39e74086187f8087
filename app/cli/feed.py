"""The feed process, and how tenants are told."""

import click

from app.access.delivery_status import TenantStatus, tenant_statuses
from app.cli.context import broker_of, opened, running, settled
from app.workers import run_feed

_COLUMNS = "{:<24} {:>10} {:>10} {:>8} {:>8} {:>8} {:>5}  {}"
_HEADS = ("tenant", "behind", "seconds", "alive", "dropped", "waiting", "cons", "state")


@click.group(invoke_without_command=True)
@click.pass_context
def feed(context: click.Context) -> None:
    """Run the feed process: tell tenants over AMQP what changes. Or see how they are told: `feed status`."""
    if context.invoked_subcommand is None:
        _run()


@running
async def _run() -> None:
    await run_feed(settled())


@feed.command()
@running
async def status() -> None:
    """How far each tenant has been told: envelopes and seconds behind, seconds since the last alive, messages
    dropped by and waiting in its queues, its consumers, and the connection."""
    settings = settled()
    async with opened(settings) as store, broker_of(settings) as broker:
        told = await tenant_statuses(store, broker.management)
    click.echo(_COLUMNS.format(*_HEADS))
    for each in told:
        click.echo(_line(each))


def _line(told: TenantStatus) -> str:
    waiting, consumers = "?", "?"
    if told.queues is not None:
        waiting = str(sum(queue.ready + queue.unacknowledged for queue in told.queues))
        consumers = str(sum(queue.consumers for queue in told.queues))
    behind, alive = f"{told.behind_seconds:.1f}", f"{told.alive_seconds_ago:.0f} s"
    counts = (told.behind, behind, alive, told.dropped, waiting, consumers)
    return _COLUMNS.format(told.tenant, *counts, told.state)
