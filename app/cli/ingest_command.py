"""The command that runs the ingest process."""

import click

from app.cli.runtime import async_command, load_settings
from app.workers.ingest import run_ingest


@click.command()
@async_command
async def ingest() -> None:
    """Run the ingest process: apply the log batches that the log sink has accepted."""
    await run_ingest(load_settings())
