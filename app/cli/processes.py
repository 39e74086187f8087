"""The services' processes, and the migrations that come before them."""

import os
import resource
import socket

import click
import uvicorn

from app.broker.authorisation import application
from app.channels.stream.lines import DirectWebSockets
from app.cli.context import running, settled
from app.http.protocol import Protocol
from app.kit import garbage, logging
from app.main import create_app
from app.settings import DEVELOPMENT_SECRET, is_local
from app.store.migrations import migrate as bring_up_to_date
from app.workers import run_ingest

_GRACE_SECONDS = 5
_BACKLOG = 2048


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8000, show_default=True)
def serve(host: str, port: int) -> None:
    """Run the web process: REST, streams, the log sink and the operator API."""
    settings = settled()
    if settings.secret_key == DEVELOPMENT_SECRET and not is_local(host):
        raise click.ClickException(f"others can reach {host}: set SECRET_KEY to one that only you know")
    logging.configure("web", level=settings.log_level)
    config = uvicorn.Config(
        create_app(settings),
        loop="uvloop",
        http=Protocol,
        ws=DirectWebSockets,
        ws_per_message_deflate=False,
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    _allow_connections()
    garbage.spare_the_present()
    with _listening(host, port) as listener:
        server = uvicorn.Server(config)
        server.run(sockets=[listener])
    if not server.started:
        raise click.ClickException("the web process could not start; its log above says why")


def _allow_connections() -> None:
    """As many sockets as the system lets us have: each stream holds one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _listening(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), backlog=_BACKLOG)
    except OSError as error:
        why = f"{host}:{port}: {os.strerror(error.errno or 0)}"
        raise click.ClickException(f"cannot listen on {why}; try another --port") from error


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Nobody but the broker should reach it.")
@click.option("--port", default=8091, show_default=True)
def broker_authorisation(host: str, port: int) -> None:
    """Answer the broker's questions about what tenants may do (docs/security.md).

    For brokers that are configured to ask, with BROKER_AUTHORISATION=http. It needs neither database nor
    broker; while it is down, tenants that are connected go on reading, and no tenant can log in.
    """
    settings = settled()
    logging.configure("broker-authorisation", level=settings.log_level)
    config = uvicorn.Config(
        application(settings.exchange),
        loop="uvloop",
        lifespan="off",
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    with _listening(host, port) as listener:
        uvicorn.Server(config).run(sockets=[listener])


@click.command()
@running
async def ingest() -> None:
    """Run the ingest process: apply what the log sink has taken."""
    await run_ingest(settled())


@click.command()
@running
async def migrate() -> None:
    """Create the database when it is missing, and bring it to the present schema."""
    settings = settled()
    logging.configure("migrate", level=settings.log_level)
    await bring_up_to_date(settings.database_url)
    click.echo("the database is up to date")


PROCESSES = (serve, broker_authorisation, ingest, migrate)
