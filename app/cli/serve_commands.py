"""The command that runs the web process, apart from those of the other processes: they start without what it
alone needs."""

import resource
import socket
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any, cast

import click
import uvicorn

from app.channels.stream.connection import RawFrameProtocol
from app.cli.process_commands import GRACE_SECONDS, listening
from app.cli.runtime import load_settings
from app.http.server import ConnectionLimits, HttpProtocol, Server, TlsListener, server_context
from app.kit import garbage_collection, logging, metrics
from app.main import create_app
from app.settings import DEVELOPMENT_SECRET, Settings, is_local, networks

#: How long a connection may stay open without a request: longer than clients (httpx: 5 s) and balancers
#: (mostly 60 s) reuse theirs, so that no request meets the closing of its connection.
IDLE_SECONDS = 75


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8000, show_default=True)
@click.option(
    "--operator-host",
    default="127.0.0.1",
    show_default=True,
    help="With OPERATOR_PORT: the host of the operators' listener.",
)
@click.option(
    "--sdk-host", default="127.0.0.1", show_default=True, help="With SDK_PORT: the host of the SDK address."
)
def serve(host: str, port: int, operator_host: str, sdk_host: str) -> None:
    """Run the web process: REST, streams, the log sink, the operator API, and the SDK address."""
    settings = load_settings()
    _check_exposure(settings, host)
    if settings.sdk_port:
        _check_exposure(settings, sdk_host)
    logging.configure("web", level=settings.log_level)
    with garbage_collection.paused():
        app = create_app(settings)
    config = server_config(app, settings)
    _allow_connections()
    garbage_collection.spare_long_lived_objects()
    with ExitStack() as stack:
        listeners = [stack.enter_context(listening(host, port, "--port"))]
        if settings.operator_port:
            own = listening(operator_host, settings.operator_port, "OPERATOR_PORT")
            listeners.append(stack.enter_context(own))
        tls = None
        if settings.sdk_port:
            sdk = stack.enter_context(listening(sdk_host, settings.sdk_port, "SDK_PORT"))
            tls = tls_listener(sdk, settings)
            if tls is None:
                listeners.append(sdk)
        stack.enter_context(metrics.serve("web", settings.metrics_host, settings.metrics_port))
        server = Server(config, tls, app.state.parts.listening)
        server.run(sockets=listeners)
    if not server.started:
        raise click.ClickException("the web process could not start; see its log above")


def server_config(app: Callable[..., Any], settings: Settings) -> uvicorn.Config:
    """How `app` is served. Forwarded addresses are trusted from the proxies that the settings name, by
    default from none; uvicorn's own default trusts every client on this machine."""
    proxies = networks(settings.trusted_proxies)
    limits = ConnectionLimits(
        settings.head_seconds, settings.body_seconds, settings.connections_per_address, proxies
    )
    return uvicorn.Config(
        app,
        loop="uvloop",
        http=cast(Any, partial(HttpProtocol, limits=limits)),
        ws=RawFrameProtocol,
        ws_per_message_deflate=False,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=[str(each) for each in proxies],
        access_log=False,
        log_config=None,
        server_header=False,
        headers=[("x-content-type-options", "nosniff")],
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_keep_alive=IDLE_SECONDS,
    )


def tls_listener(sdk: socket.socket, settings: Settings) -> TlsListener | None:
    """The SDK address with the certificate that the settings name; None if they name none."""
    files = settings.sdk_certificate_file, settings.sdk_private_key_file
    if not any(files):
        return None
    try:
        return TlsListener(sdk, server_context(*files), settings.head_seconds)
    except OSError as error:
        named = f"SDK_CERTIFICATE_FILE {files[0]} and SDK_PRIVATE_KEY_FILE {files[1]}"
        raise click.ClickException(f"cannot use {named}: {error.strerror or error}") from error


def _check_exposure(settings: Settings, host: str) -> None:
    """Refuse to listen where others could act as operators."""
    if settings.secret_key == DEVELOPMENT_SECRET and not is_local(host):
        raise click.ClickException(f"others can reach {host}: set SECRET_KEY to one that only you know")
    if settings.deployment == "production" and not settings.operator_port:
        raise click.ClickException(
            "operators need a listener of their own in production: set OPERATOR_PORT, see docs/deploy.md"
        )


def _allow_connections() -> None:
    """Raise the limit of open files to what the system allows: each stream is a socket."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
