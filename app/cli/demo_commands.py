"""The tenants of the demonstration."""

import json
import os
from pathlib import Path
from typing import Any

import click

from app.cli.runtime import actor, async_command, broker_config, command_store, load_settings
from app.sandbox.demo_tenants import DemoTenantMaker
from app.settings import Settings


@click.command("demo-tenants")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Write here (mode 600).")
@async_command
async def demo_tenants(output: Path | None) -> None:
    """Create the demo's tenants with keys and AMQP access; prints them, and an operator key, as JSON.

    Run again, it issues new keys and passwords; the demo's earlier ones no longer work.
    """
    text = json.dumps(await make_demo_tenants(load_settings()), indent=1)
    if output is None:
        click.echo(text)
    else:
        _write_private(output, text)


async def make_demo_tenants(settings: Settings) -> dict[str, Any]:
    """Create or repair the demo's tenants; what clients need to know of them, secrets included."""
    async with command_store(settings) as store, broker_config(settings) as broker:
        return await DemoTenantMaker(store, broker, settings.secret_key, actor()).make_all()


def _write_private(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    os.chmod(path, 0o600)
    path.write_text(text, "utf-8")
