"""The SDK address over TLS, beside the plain listeners of the same process."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import click
import httpx
import msgspec
import pytest

from app.cli.serve_commands import tls_listener
from app.settings import Settings
from scripts.local_services.certificates import Certificate, ensure_certificate
from tests.support.ports import spare
from tests.support.web import IssueKey
from tests.support.wire import serving_http


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return ensure_certificate(tmp_path_factory.mktemp("tls"))


class Served:
    """The ports of the listeners, and the authority that signed the certificate of the TLS one."""

    def __init__(self, public: int, sdk: int, authority: Path) -> None:
        self.public, self.sdk = public, sdk
        self.trusting = ssl.create_default_context(cafile=authority)


def with_sdk_address(settings: Settings, port: int, certificate: Certificate | None) -> Settings:
    files = (str(certificate.certificate), str(certificate.key)) if certificate else ("", "")
    return msgspec.structs.replace(
        settings,
        sdk_port=port,
        sdk_certificate_file=files[0],
        sdk_private_key_file=files[1],
        head_seconds=1.0,
    )


@pytest.fixture
async def served(settings: Settings, certificate: Certificate) -> AsyncIterator[Served]:
    public, sdk = spare(2)
    settings = with_sdk_address(settings, sdk, certificate)
    async with serving_http(settings, public):
        yield Served(public, sdk, certificate.authority)


async def test_a_client_that_verifies_the_chain_is_served(served: Served, issue: IssueKey) -> None:
    headers = {"x-access-token": await issue(bundles=("cs2.odds.basic",))}
    for host in ("127.0.0.1", "localhost"):
        async with httpx.AsyncClient(verify=served.trusting) as client:
            found = await client.get(f"https://{host}:{served.sdk}/v1/sports/en/sports", headers=headers)
            assert b'id="od:sport:2"' in found.content
            assert (await client.get(f"https://{host}:{served.sdk}/cs2/v1/matches")).status_code == 404
    async with httpx.AsyncClient() as client:
        found = await client.get(f"http://127.0.0.1:{served.public}/v1/sports/en/sports", headers=headers)
        assert b'id="3"' in found.content


async def test_others_are_not(served: Served) -> None:
    """Neither one that does not trust the authority nor one without TLS."""
    async with httpx.AsyncClient() as client:
        for scheme in ("https", "http"):
            with pytest.raises(httpx.TransportError):
                await client.get(f"{scheme}://127.0.0.1:{served.sdk}/v1/health")


async def test_a_client_that_never_shakes_hands_is_disconnected(served: Served) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", served.sdk)
    async with asyncio.timeout(60):
        assert await reader.read() == b""
    writer.close()


async def test_without_a_certificate_it_is_plain_for_a_proxy(settings: Settings, issue: IssueKey) -> None:
    key = await issue(bundles=("cs2.odds.basic",))
    public, sdk = spare(2)
    settings = with_sdk_address(settings, sdk, None)
    async with (
        serving_http(settings, public),
        httpx.AsyncClient(headers={"x-access-token": key}) as client,
    ):
        assert b"od:sport:2" in (await client.get(f"http://127.0.0.1:{sdk}/v1/sports/en/sports")).content


@pytest.mark.parametrize("broken", ["missing", "empty", "other"])
def test_files_that_do_not_fit_are_named(certificate: Certificate, tmp_path: Path, broken: str) -> None:
    key = tmp_path / "key.pem"
    if broken == "empty":
        key.touch()
    if broken == "other":
        key = ensure_certificate(tmp_path).key
    wrong = msgspec.structs.replace(certificate, key=key)
    with pytest.raises(click.ClickException, match="SDK_PRIVATE_KEY_FILE"):
        tls_listener(None, with_sdk_address(Settings(), 1, wrong))  # type: ignore[arg-type]
