"""This machine: its disk, its certificates, and which addresses others can reach."""

import asyncio
import shutil
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from ssl import get_server_certificate
from urllib.parse import urlsplit

import httpx
from cryptography import x509

from app.operations.doctor.findings import Finding, ill, judged, unknown, well

Address = tuple[str, int]  #: host and port
AMQPS = 5671
_EXPIRY = timedelta(days=14)
_FREE_SHARE = 0.05
_SECONDS = 5.0
_TCP = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_LISTENING = "0A"
_ANY_ADDRESS = {"0" * 8, "0" * 32}
_REFUSED = {401, 403}  #: the statuses with which an address of operators answers without a key


def disk() -> Finding:
    """The file system on which this command runs; other machines must watch their own."""
    usage = shutil.disk_usage("/")
    free = f"{usage.free / 2**30:.1f} GiB of {usage.total / 2**30:.1f} are free on this machine"
    wrong = [free] if usage.free < _FREE_SHARE * usage.total else ()
    return judged("disk", wrong, free, "Free some space: logs, old backups.")


async def certificates(file: str, addresses: Iterable[Address], now: datetime) -> Finding:
    """The certificates of the SDK address (a file) and of the `addresses`, at which a proxy or the broker
    adds TLS. Which authorities clients trust is for them to say. Who does not answer has its own finding."""
    action = "Renew it (docs/deploy.md), and restart `matchfeed serve` for SDK_CERTIFICATE_FILE."
    seen: dict[str, datetime] = {}
    silent: list[str] = []
    try:
        if file:
            seen["SDK_CERTIFICATE_FILE"] = _expiry(_read(file))
    except (OSError, ValueError) as error:
        return ill("certificate", f"SDK_CERTIFICATE_FILE cannot be read: {error}", action)
    for host, port in addresses:
        try:
            served = await asyncio.to_thread(get_server_certificate, (host, port), timeout=_SECONDS)
            seen[f"{host}:{port}"] = _expiry(served.encode())
        except (OSError, ValueError) as error:
            silent.append(f"none seen at {host}:{port} ({error})")
    until = [f"{where} until {at:%Y-%m-%d}" for where, at in seen.items()]
    wrong = [f"{where} expires on {at:%Y-%m-%d}" for where, at in seen.items() if at - now < _EXPIRY]
    return judged("certificate", wrong, "; ".join([*until, *silent]) or "no address has one", action)


def _read(file: str) -> bytes:
    return Path(file).read_bytes()


def _expiry(pem: bytes) -> datetime:
    return x509.load_pem_x509_certificate(pem).not_valid_after_utc


def with_tls(public_url: str, broker_host: str) -> list[Address]:
    """The public addresses of the service and of the broker, those at which TLS is spoken."""
    url, broker = urlsplit(public_url), urlsplit(f"//{broker_host}")
    web = [(url.hostname or "", url.port or 443)] if url.scheme == "https" else []
    return web + [(broker.hostname or "", AMQPS)] * (broker.port == AMQPS)


async def web_process(public_url: str) -> Finding:
    """Whether a web process answers at the public address: any response will do."""
    action = "Start `matchfeed serve`; read its log; see the proxy and PUBLIC_URL."
    try:
        async with _client() as client:
            response = await client.get(f"{public_url.rstrip('/')}/v1/alive")
    except httpx.HTTPError as error:
        return ill(
            "web process", f"{public_url} does not answer: {str(error) or type(error).__name__}", action
        )
    wrong = [f"{public_url} answers {response.status_code}"] if response.is_server_error else ()
    return judged("web process", wrong, f"{public_url} answers", action)


async def operator_exposure(public_url: str, operator_port: int, *, production: bool) -> Finding:
    """Whether others than operators reach the operators' addresses."""
    part, action = "operators' listener", "Set OPERATOR_PORT and restart `matchfeed serve` (docs/deploy.md)."
    if not operator_port:
        if production:
            return ill(part, "operators have no listener of their own", action)
        return well(part, "none of its own, as in development")
    wrong = []
    if operator_port in listening_everywhere():
        wrong.append(f"port {operator_port} listens on every address of this machine")
        action = "Give `matchfeed serve` an --operator-host that only operators reach, or a firewall's rule."
    try:
        async with _client() as client:
            response = await client.get(f"{public_url.rstrip('/')}/ops/v1/alerts")
    except httpx.HTTPError:
        return judged(part, wrong, "", action) if wrong else unknown(part, f"{public_url} is silent", action)
    if response.status_code in _REFUSED:
        wrong.append(f"{public_url}/ops/v1 answers")
    return judged(part, wrong, f"port {operator_port}; {public_url} does not know its addresses", action)


def _client() -> httpx.AsyncClient:
    """Any certificate will do: that of a private authority, too, which this machine need not know."""
    return httpx.AsyncClient(timeout=_SECONDS, trust_env=False, verify=False)  # noqa: S501


def listening_everywhere() -> set[int]:
    """The ports on which something on this machine listens on every address; none where that is unknown."""
    lines = [line.split() for file in _TCP if file.exists() for line in file.read_text().splitlines()[1:]]
    addresses = [words[1].split(":") for words in lines if words[3] == _LISTENING]
    return {int(port, 16) for address, port in addresses if address in _ANY_ADDRESS}
