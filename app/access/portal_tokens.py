"""The tokens of links and sessions: 256 random bits each, of which only a keyed hash is stored."""

import re
import secrets
from enum import Enum
from hashlib import blake2b

_BYTES = 32
_FORM = re.compile(r"[A-Za-z0-9_-]{43}")


class Purpose(Enum):
    """What is hashed: hashes of one purpose are of no use for another. The value is BLAKE2's `person`, of at
    most 16 bytes."""

    LINK = b"matchfeed link"
    SESSION = b"matchfeed sess"
    CSRF = b"matchfeed csrf"
    ADDRESS = b"matchfeed addr"


def generate() -> str:
    """A new token, of letters, digits, `-` and `_`."""
    return secrets.token_urlsafe(_BYTES)


def is_well_formed(raw: str) -> bool:
    """Whether `raw` has the form of a token."""
    return _FORM.fullmatch(raw) is not None


def keyed_hash(text: str, purpose: Purpose, secret: str) -> bytes:
    """32 bytes that cannot be computed without `secret`."""
    key = blake2b(secret.encode(), digest_size=64, person=purpose.value).digest()
    # Browsers may send what UTF-8 cannot express.
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32, key=key).digest()
