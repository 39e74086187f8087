"""For development: the tenants of the demonstration; and the fault menu: break one thing of the demo on
purpose, and watch the bookmaker's book heal.
"""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import click

from app.cli.connections import broker_config, command_store
from app.cli.runtime import actor, async_command, load_settings
from app.sandbox.demo_tenants import DemoTenantMaker
from app.sandbox.demonstration import RunningDemo
from app.sandbox.faults import BOOKMAKER, FAULTS, DemoFault, FaultTarget
from app.sandbox.healing import run_fault
from app.settings import Settings

_STYLES: dict[str, dict[str, Any]] = {
    "equal": {"fg": "green"},
    "recovery": {"fg": "cyan"},
    "connection": {"fg": "yellow"},
    "silent": {"fg": "yellow"},
    "alive": {"fg": "yellow"},
    "healed": {"fg": "green", "bold": True},
}


@click.group()
def fault() -> None:
    """Break one thing of the running demo, and watch it heal until the bookmaker's book equals REST."""


def _fault_command(name: str, chosen: DemoFault) -> click.Command:
    @click.option(
        "--tenant", default=BOOKMAKER, show_default=True, help="The tenant whose messages are meant."
    )
    @async_command
    async def run(tenant: str) -> None:
        demo, settings = RunningDemo(dict(os.environ)), load_settings()
        target = FaultTarget(
            demo=demo,
            tenant=tenant,
            database_url=settings.database_url,
            rabbitmq_url=settings.rabbitmq_url,
            rabbitmq_api_url=settings.rabbitmq_api_url,
            exchange=settings.exchange,
            producer_id=settings.producer_id,
            print_step=_print_step,
        )
        await run_fault(target, chosen, _print_line)

    return click.command(name, help=chosen.about, short_help=chosen.about)(run)


def _print_step(text: str) -> None:
    click.secho(f"       {text}", bold=True)


def _print_line(text: str, kind: str) -> None:
    click.secho(text, **_STYLES.get(kind, {}))


for _name, _chosen in FAULTS.items():
    fault.add_command(_fault_command(_name, _chosen))


@click.command("demo-tenants")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Write here (mode 600).")
@async_command
async def demo_tenants(output: Path | None) -> None:
    """Create the demo's tenants with keys and AMQP access; prints them, and an operator key, as JSON.

    Run again, it issues new keys and passwords; the demo's earlier ones no longer work.
    """
    async with demo_tenant_maker(load_settings()) as maker:
        text = json.dumps(await maker.make_all(), indent=1)
    if output is None:
        click.echo(text)
    else:
        _write_private(output, text)


@asynccontextmanager
async def demo_tenant_maker(settings: Settings) -> AsyncIterator[DemoTenantMaker]:
    """What creates or repairs the demo's tenants where the settings lead."""
    async with command_store(settings) as store, broker_config(settings) as broker:
        yield DemoTenantMaker(store, broker, settings.secret_key, actor())


def _write_private(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    os.chmod(path, 0o600)
    path.write_text(text, "utf-8")
