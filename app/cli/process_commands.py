"""The commands that run `broker-authorisation` and migrate the database, and how every process listens. The
other processes' commands have modules of their own, for each starts without what the others import."""

import asyncio
import os
import socket

import click
import uvicorn
import uvloop

from app.broker.authorisation import application
from app.cli.runtime import async_command, load_settings
from app.kit import logging, metrics
from app.kit.background import run_forever
from app.settings import Settings
from app.store.migrations import migrate as bring_up_to_date
from app.workers.broker_keys import BrokerKeys

GRACE_SECONDS = 5
_BACKLOG = 2048


def listening(host: str, port: int, named: str) -> socket.socket:
    """A socket that listens there; `named` is the setting or option that changes the port."""
    try:
        return socket.create_server((host, port), backlog=_BACKLOG)
    except OSError as error:
        why = f"{host}:{port}: {os.strerror(error.errno or 0)}"
        raise click.ClickException(f"cannot listen on {why}; try another {named}") from error


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Only the broker should reach it.")
@click.option("--port", default=8091, show_default=True)
def broker_authorisation(host: str, port: int) -> None:
    """Decide for the broker what tenants may do, and which API keys may log in (docs/security.md).

    For brokers that are configured to send such requests, with BROKER_AUTHORISATION=http. It needs the
    database and the management API for API keys only; while it is down, connected tenants continue to
    receive, and no tenant can log in.
    """
    settings = load_settings()
    logging.configure("broker-authorisation", level=settings.log_level)
    with (
        listening(host, port, "--port") as listener,
        metrics.serve("broker-authorisation", settings.metrics_host, settings.metrics_port),
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        runner.run(_answer_broker(settings, listener))


async def _answer_broker(settings: Settings, listener: socket.socket) -> None:
    keys = BrokerKeys(settings)
    config = uvicorn.Config(
        application(settings.exchange, keys.logins),
        lifespan="off",
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    following = asyncio.create_task(run_forever("following keys", keys.run))
    try:
        await uvicorn.Server(config).serve(sockets=[listener])
    finally:
        following.cancel()
        await asyncio.wait([following])


@click.command()
@async_command
async def migrate() -> None:
    """Create the database if it is missing, and migrate it to the present schema."""
    settings = load_settings()
    logging.configure("migrate", level=settings.log_level)
    await bring_up_to_date(settings.database_url)
    click.echo("the database is up to date")
