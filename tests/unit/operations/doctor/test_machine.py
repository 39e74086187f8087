"""The doctor's findings about this machine."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from app.operations.doctor import machine
from app.operations.doctor.findings import State
from scripts.local_services.certificates import Certificate, ensure_certificate


@pytest.mark.parametrize(("days", "state"), [(15, State.WELL), (13, State.ILL), (-1, State.ILL)])
async def test_a_certificate_is_ill_two_weeks_before_it_expires(
    tmp_path: Path, days: int, state: State
) -> None:
    """That in a file, and that which a proxy or the broker serves, whoever issued it."""
    made = ensure_certificate(tmp_path)
    until = x509.load_pem_x509_certificate(made.certificate.read_bytes()).not_valid_after_utc
    now = until - timedelta(days=days)
    assert (await machine.certificates(str(made.certificate), [], now)).state is state
    async with served(made) as address:
        found = await machine.certificates("", [address], now)
        assert found.state is state and f"127.0.0.1:{address[1]}" in found.detail


async def test_a_file_that_is_no_certificate_is_ill(tmp_path: Path) -> None:
    other = tmp_path / "other.pem"
    other.write_text("no certificate")
    assert (await machine.certificates(str(other), [], datetime.now(UTC))).state is State.ILL
    assert (await machine.certificates("", [], datetime.now(UTC))).state is State.WELL


async def test_an_address_without_tls_is_named_and_not_ill(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    found = await machine.certificates("", [("127.0.0.1", port)], datetime.now(UTC))
    assert found.state is State.WELL and f"none seen at 127.0.0.1:{port}" in found.detail


@pytest.mark.parametrize(
    ("public_url", "broker", "addresses"),
    [
        ("http://127.0.0.1:8000", "127.0.0.1:5672", []),
        ("https://feed.example.com/", "mq.example.com", [("feed.example.com", 443)]),
        ("https://[::1]:8443", "mq.example.com:5671", [("::1", 8443), ("mq.example.com", 5671)]),
    ],
)
def test_addresses_with_tls(public_url: str, broker: str, addresses: list[tuple[str, int]]) -> None:
    assert machine.with_tls(public_url, broker) == addresses


async def test_a_web_process_behind_a_self_signed_certificate_is_well(tmp_path: Path) -> None:
    """`scripts/deploy/debian` makes such a certificate, and no client on this machine trusts it."""
    async with served(ensure_certificate(tmp_path)) as (host, port):
        assert (await machine.web_process(f"https://{host}:{port}")).state is State.WELL


@asynccontextmanager
async def served(made: Certificate) -> AsyncIterator[tuple[str, int]]:
    """An HTTPS server with this certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.certificate, made.key)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):  # who wants the certificate alone leaves at once
            if await reader.readline():
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context) as server:
        yield server.sockets[0].getsockname()


def test_a_port_that_every_address_has_is_known() -> None:
    with socket.create_server(("0.0.0.0", 0)) as open_to_all, socket.create_server(("127.0.0.1", 0)) as own:
        found = machine.listening_everywhere()
        assert open_to_all.getsockname()[1] in found
        assert own.getsockname()[1] not in found
