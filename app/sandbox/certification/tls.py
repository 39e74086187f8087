"""A certificate for the proxies, from an authority that exists for one run: clients with the habits of
existing SDKs speak TLS only. The authority's key is never written, the server's only for a moment."""

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from tempfile import NamedTemporaryFile

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_DAYS = 7
_NAMES = (x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1")))


def server_context(ca_file: Path) -> ssl.SSLContext:
    """What servers on this machine present; the authority that a client must trust is written to the file."""
    authority, server = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    issuer = _name("matchfeed certification")
    anchor = _begun(issuer, issuer, authority).add_extension(x509.BasicConstraints(True, 0), True)
    named = x509.SubjectKeyIdentifier.from_public_key(authority.public_key())
    anchor = anchor.add_extension(named, False)
    signed = _begun(_name("localhost"), issuer, server)
    for extension, critical in (
        (x509.SubjectAlternativeName(_NAMES), False),
        (x509.BasicConstraints(False, None), True),
        (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False),
        (x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(named), False),
    ):
        signed = signed.add_extension(extension, critical)
    ca_file.write_bytes(anchor.sign(authority, SHA256()).public_bytes(Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with NamedTemporaryFile() as chain:
        chain.write(server.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        chain.write(signed.sign(authority, SHA256()).public_bytes(Encoding.PEM))
        chain.flush()
        context.load_cert_chain(chain.name)
    return context


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _begun(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=_DAYS))
    )
