"""Prints a tenant's feed."""

import os
import sys

import click

from app.broker.address import parse
from app.channels.feed.tail import tail as messages
from app.cli.runtime import async_command, load_settings
from app.kit.control_characters import escape_control_characters


@click.command()
@click.argument("tenant")
@async_command
async def tail(tenant: str) -> None:
    """Print the messages that TENANT receives over AMQP, readably, as they arrive."""
    settings = load_settings()
    async for message in messages(parse(settings.rabbitmq_url).url(tenant), settings.exchange):
        if not _printed(message):
            return


def _printed(text: str) -> bool:
    """False when the reader of the output has ended (`| head`), which is no failure."""
    try:
        click.echo(escape_control_characters(text))
    except BrokenPipeError:
        # What is still in the buffer would be written, and fail again, at the end of the process.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True
