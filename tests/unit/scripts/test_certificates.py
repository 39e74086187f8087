"""The sandbox's certificate: what a client that trusts its authority accepts, and what it does not."""

import ssl
from pathlib import Path

import pytest

from scripts.local_services import certificates
from scripts.local_services.certificates import Certificate, ensure_certificate
from scripts.local_services.processes import ServiceError


def _handshake(presented: Certificate, trusted: Path, host: str) -> None:
    """A TLS handshake in memory; raises `ssl.SSLCertVerificationError` when the client refuses."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(presented.certificate, presented.key)
    client = ssl.create_default_context(cafile=trusted)
    upward, downward = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = client.wrap_bio(downward, upward, server_hostname=host)
    theirs = server.wrap_bio(upward, downward, server_side=True)
    done = [False, False]
    while not all(done):
        for side, end in enumerate((ours, theirs)):
            try:
                end.do_handshake()
                done[side] = True
            except ssl.SSLWantReadError:
                continue


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return ensure_certificate(tmp_path_factory.mktemp("tls"))


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "::1"])
def test_a_client_that_trusts_the_authority_accepts_this_machine(made: Certificate, host: str) -> None:
    _handshake(made, made.authority, host)


def test_another_host_is_refused(made: Certificate) -> None:
    with pytest.raises(ssl.SSLCertVerificationError, match="mismatch"):
        _handshake(made, made.authority, "odds.example")


def test_another_authority_is_refused(made: Certificate, tmp_path: Path) -> None:
    other = ensure_certificate(tmp_path)
    with pytest.raises(ssl.SSLCertVerificationError, match="verify failed"):
        _handshake(made, other.authority, "localhost")


def test_nothing_can_sign_further_certificates(made: Certificate) -> None:
    assert sorted(file.name for file in made.key.parent.iterdir()) == ["ca.pem", "server.key", "server.pem"]
    assert made.key.stat().st_mode & 0o077 == 0


def test_a_valid_certificate_is_used_again(made: Certificate) -> None:
    before = made.certificate.read_bytes()
    assert ensure_certificate(made.key.parent) == made
    assert made.certificate.read_bytes() == before


def test_one_that_ends_soon_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificates, "_DAYS", 20)
    before = ensure_certificate(tmp_path).certificate.read_bytes()
    monkeypatch.undo()
    replaced = ensure_certificate(tmp_path)
    assert replaced.certificate.read_bytes() != before
    _handshake(replaced, replaced.authority, "localhost")


def test_a_missing_command_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ServiceError, match="openssl is missing"):
        ensure_certificate(tmp_path / "tls")


def test_a_command_that_fails_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificates, "_KEY", ("-newkey", "no-such-algorithm"))
    with pytest.raises(ServiceError, match="openssl req failed"):
        ensure_certificate(tmp_path)
