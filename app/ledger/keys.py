"""The keys that sign heads (Ed25519).

A private key is stored encrypted with a key derived from SECRET_KEY, so that every feed process can sign and
a stolen database cannot; it is deleted when another one replaces it.
"""

from base64 import urlsafe_b64encode
from functools import lru_cache
from hashlib import sha256

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from app.domain.ledger_tree import Signature
from app.kit.errors import Conflict
from app.store.ledger import StoredKey

_ID_DIGITS = 16


class UnusableKey(Conflict):
    """The private key was encrypted under another SECRET_KEY."""


def key_id(public_key: bytes) -> str:
    """How a key is named: the first hexadecimal digits of the SHA-256 of its public key."""
    return sha256(public_key).hexdigest()[:_ID_DIGITS]


def new_key(secret: str, now: int) -> StoredKey:
    """A key that was never used."""
    private = Ed25519PrivateKey.generate()
    public = private.public_key().public_bytes_raw()
    encrypted = _fernet(secret).encrypt(private.private_bytes_raw())
    return StoredKey(key_id(public), public, encrypted, now, None)


def sign(key: StoredKey, secret: str, data: bytes) -> Signature:
    """The key's signature of these bytes. Raises `UnusableKey`."""
    try:
        raw = _fernet(secret).decrypt(key.private_key or b"")
    except InvalidToken as error:
        raise UnusableKey(
            f"The private key of {key.id} cannot be decrypted: it was stored under another SECRET_KEY. "
            "Set that one, or go on with a new key: matchfeed ledger rotate --without-old-key",
            code="ledger_key",
        ) from error
    return Signature(key.id, Ed25519PrivateKey.from_private_bytes(raw).sign(data).hex())


@lru_cache(maxsize=4)
def _fernet(secret: str) -> Fernet:
    key = HKDF(SHA256(), 32, salt=None, info=b"matchfeed ledger key").derive(secret.encode())
    return Fernet(urlsafe_b64encode(key))
