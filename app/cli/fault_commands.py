"""The fault menu: break one thing of the demo on purpose, and watch the bookmaker's book heal."""

import os
from typing import Any

import click

from app.cli.runtime import async_command, load_settings
from app.sandbox.demonstration import RunningDemo
from app.sandbox.faults import BOOKMAKER, FAULTS, DemoFault, FaultTarget
from app.sandbox.healing import run_fault

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


def _command(name: str, chosen: DemoFault) -> click.Command:
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
    fault.add_command(_command(_name, _chosen))
