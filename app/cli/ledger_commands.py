"""The keys of the signed ledger: list, rotate."""

import click

from app.cli.connections import command_store
from app.cli.runtime import actor, async_command, load_settings
from app.kit.clock import iso_seconds
from app.ledger.writer import rotate
from app.store import ledger as stored


@click.group()
def ledger() -> None:
    """The signed ledger (docs/ledger.md)."""


@ledger.command("keys")
@async_command
async def ledger_keys() -> None:
    """The public keys, oldest first; the last one signs."""
    async with command_store(load_settings()) as store, store.autocommit() as tx:
        found = await stored.keys(tx)
    for key in found:
        until = f"until {iso_seconds(key.retired_at)}" if key.retired_at else "signs"
        click.echo(f"{key.id} {key.public_key.hex()} from {iso_seconds(key.created_at)}, {until}")
    if not found:
        click.echo("no key yet: a feed process makes the first one")


@ledger.command("rotate")
@click.option("--without-old-key", is_flag=True, help="The old key is lost: tenants must trust the new one.")
@async_command
async def ledger_rotate(without_old_key: bool) -> None:
    """Have a new key sign from now on; a head says so that the old and the new one sign. The old private key
    is deleted."""
    settings = load_settings()
    async with command_store(settings) as store:
        made = await rotate(store, settings.secret_key, by=actor(), without_old_key=without_old_key)
    new = made.signatures[-1].key_id
    click.echo(f"head {made.head.number}: {new} {made.head.next_key} signs from now on")
