"""The connection of an existing client to the broker: TLS, the key as user name, an empty password."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from unittest.mock import patch
from urllib.parse import quote

import msgspec
from aio_pika.abc import AbstractConnection
from aio_pika.connection import Connection, make_url
from aiormq.auth import PlainAuth


class BrokerAddress(msgspec.Struct, frozen=True):
    """What a client is configured with: host and port, and the file of the authority that it trusts."""

    host: str
    port: int
    ca_file: str


def _exact(plain: PlainAuth) -> str:
    """The library sends `guest` for an empty user name or password."""
    url = plain.connector.url
    return f"\0{url.user or ''}\0{url.password or ''}"


@asynccontextmanager
async def logged_in(
    address: BrokerAddress, key: str, vhost: str, *, password: str = ""
) -> AsyncIterator[AbstractConnection]:
    """A connection to `vhost` with `key`; raises `AMQPError`, `OSError` or `TimeoutError`."""
    context = ssl.create_default_context(cafile=address.ca_file)
    login = f"{quote(key, safe='')}:{quote(password, safe='')}"
    url = f"amqps://{login}@{address.host}:{address.port}/{quote(vhost, safe='')}"
    connection: AbstractConnection = Connection(make_url(url), ssl_context=context)
    try:
        with patch.object(PlainAuth, "encode", _exact):
            await connection.connect(timeout=5)
        yield connection
    finally:
        await connection.close()
