"""The certificate: which client passed which accidents, signed with Ed25519.

The file is JSON: `certificate` (an object), `public_key` and `signature` (both Base64). What is signed is the
object's canonical form: UTF-8, keys sorted, no spaces.
"""

import base64
import json
import os
from pathlib import Path
from typing import Any

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from app.kit.errors import Conflict
from app.sandbox.certification.verdicts import Run


class Certified(msgspec.Struct, frozen=True):
    """What every certificate says, beside more."""

    client: str
    client_version: str
    channel: str
    accidents: tuple[str, ...]
    complete: bool


def signing_key(file: Path) -> Ed25519PrivateKey:
    """The key in a PEM file, made there (mode 600) if there is none. Raises `Conflict` for another kind."""
    if not file.exists():
        made = Ed25519PrivateKey.generate()
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as written:
            written.write(made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return made
    try:
        found = load_pem_private_key(file.read_bytes(), None)
    except (ValueError, TypeError) as error:
        raise Conflict(f"{file} holds no private key without a password: {error}", code="no_key") from error
    if not isinstance(found, Ed25519PrivateKey):
        raise Conflict(f"{file} holds no Ed25519 key", code="no_key")
    return found


def signed(run: Run, key: Ed25519PrivateKey) -> bytes:
    """The certificate of a run that has passed, as the bytes of its file."""
    certificate = {
        "client": run.client,
        "client_version": run.client_version,
        "channel": run.channel,
        "seed": run.seed,
        "service": run.service,
        "begun": run.begun,
        "ended": run.ended,
        "accidents": [each.accident for each in run.verdicts],
        "complete": run.complete,
    }
    public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    document = {
        "certificate": certificate,
        "public_key": base64.b64encode(public).decode(),
        "signature": base64.b64encode(key.sign(_canonical(certificate))).decode(),
    }
    return msgspec.json.format(msgspec.json.encode(document)) + b"\n"


def verified(raw: bytes) -> tuple[dict[str, Any], str]:
    """The certificate in a file's bytes, and the public key that signed it. Raises `Conflict` unless the
    signature is right; whose key that is, is for the reader to know."""
    try:
        document = json.loads(raw)
        certificate, public = document["certificate"], base64.b64decode(document["public_key"], validate=True)
        signature = base64.b64decode(document["signature"], validate=True)
        Ed25519PublicKey.from_public_bytes(public).verify(signature, _canonical(certificate))
        msgspec.convert(certificate, Certified)  # who signs with a key of their own may sign anything
    except InvalidSignature:
        raise Conflict("the signature is not of this certificate: it was altered", code="signature") from None
    except (ValueError, KeyError, TypeError, RecursionError, msgspec.ValidationError) as error:
        raise Conflict(f"this is no certificate: {error!r}", code="no_certificate") from error
    return certificate, document["public_key"]


def _canonical(certificate: dict[str, Any]) -> bytes:
    return json.dumps(certificate, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
