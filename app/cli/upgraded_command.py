"""`matchfeed upgraded`: what has to be done after an upgrade from 0.1.0."""

import click

from app.cli.runtime import async_command, command_store, load_settings, pricing_config
from app.commands import former_settlements
from app.domain.ids import match_urn
from app.kit.clock import system_clock


@click.command()
@async_command
async def upgraded() -> None:
    """Complete the settlements of matches that a process of 0.1.0 wrote last.

    Run it once, when the last process of 0.1.0 has ended. These processes do not know all market types: they
    leave some open that are decided, and do not roll back some that no longer hold. Tenants receive what
    changes as after any correction. Safe to run again.
    """
    settings = load_settings()
    matches = entries = 0
    async with command_store(settings) as store:
        async for done in former_settlements.complete(store, system_clock, pricing_config(settings)):
            matches, entries = matches + 1, entries + done.entries
            click.echo(f"{match_urn(done.number)}: {done.entries} ledger entries added")
    click.echo(f"{matches} matches were written last by 0.1.0: {entries} ledger entries added")
