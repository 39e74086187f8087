"""A certificate for the TLS listeners of this machine, from an authority that exists for it alone.

Existing odds-feed clients speak TLS only, to the API and to the broker. Both listeners of a sandbox present
one certificate, which names this machine and no other. The authority's key is deleted as soon as it has
signed it, so a client that trusts the authority trusts this one certificate.
"""

import shutil
import subprocess
from pathlib import Path

import msgspec

from .processes import ServiceError

#: Names and addresses in the certificate.
HOSTS = ("DNS:localhost", "IP:127.0.0.1", "IP:::1")
_DAYS = 365
#: A certificate with less than this left is replaced.
_LEFT_SECONDS = 30 * 86_400
_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
_EXTENSIONS = f"""\
subjectAltName = {",".join(HOSTS)}
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = serverAuth
"""
_AUTHORITY = """\
[req]
distinguished_name = subject
[subject]
[authority]
basicConstraints = critical,CA:TRUE,pathlen:0
keyUsage = critical,keyCertSign
"""


class Certificate(msgspec.Struct, frozen=True):
    """PEM files: what clients are configured to trust, and what a server presents, with its private key."""

    authority: Path
    certificate: Path
    key: Path


def ensure_certificate(directory: Path) -> Certificate:
    """The certificate under `directory`, made if there is none that is valid for another month.

    Raises `ServiceError` when the command `openssl` is missing or fails.
    """
    found = certificate_in(directory)
    if not (all(file.exists() for file in msgspec.structs.astuple(found)) and _lasts(found.certificate)):
        directory.mkdir(parents=True, exist_ok=True)
        _make(found, directory)
    return found


def certificate_in(directory: Path) -> Certificate:
    """Where the certificate of this directory is, for those who know that it is there."""
    return Certificate(*(directory.resolve() / name for name in ("ca.pem", "server.pem", "server.key")))


def _make(wanted: Certificate, directory: Path) -> None:
    config, extensions = directory / "authority.cnf", directory / "server.cnf"
    request, authority_key = directory / "server.csr", directory / "ca.key"
    config.write_text(_AUTHORITY)
    extensions.write_text(_EXTENSIONS)
    authority_key.touch(mode=0o600)
    wanted.key.touch(mode=0o600)
    try:
        subject = ("-subj", "/CN=matchfeed sandbox", "-config", config)
        authority = ("-keyout", authority_key, "-out", wanted.authority, "-days", str(_DAYS))
        _openssl("req", "-x509", *_KEY, *subject, "-extensions", "authority", *authority)
        _openssl(
            "req", *_KEY, "-subj", "/CN=localhost", "-config", config, "-keyout", wanted.key, "-out", request
        )
        signer = ("-CA", wanted.authority, "-CAkey", authority_key, "-set_serial", "1")
        signed = ("-in", request, "-extfile", extensions, "-days", str(_DAYS), "-out", wanted.certificate)
        _openssl("x509", "-req", *signer, *signed)
    finally:
        for file in (config, extensions, request, authority_key):
            file.unlink(missing_ok=True)


def _lasts(certificate: Path) -> bool:
    checked = _run("x509", "-checkend", str(_LEFT_SECONDS), "-noout", "-in", certificate)
    return checked.returncode == 0


def _openssl(*arguments: str | Path) -> None:
    done = _run(*arguments)
    if done.returncode:
        raise ServiceError(f"openssl {arguments[0]} failed: {done.stderr.strip()[-300:]}")


def _run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    if shutil.which("openssl") is None:
        raise ServiceError("the command openssl is missing; install it (Debian: apt-get install openssl)")
    return subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False)
