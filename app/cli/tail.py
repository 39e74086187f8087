"""Watching a tenant's feed."""

import click

from app.broker.address import parse
from app.channels.feed.tail import tail as messages
from app.cli.context import running, settled


@click.command()
@click.argument("tenant")
@running
async def tail(tenant: str) -> None:
    """Print what TENANT is told over AMQP, readably, as it arrives."""
    settings = settled()
    async for message in messages(parse(settings.rabbitmq_url).url(tenant), settings.exchange):
        click.echo(message)
