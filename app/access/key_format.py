"""The format of a key: `mfk_`, 43 random characters (256 bits), 6 of checksum.

The prefix lets secret scanners find a leaked key; the checksum distinguishes a mistyped key from an unknown
one without a database query.
"""

import hmac
import re
import secrets
from functools import lru_cache
from hashlib import blake2b
from zlib import crc32

PREFIX = "mfk_"
HINT_LENGTH = 8
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_BODY_LENGTH = 43
_CHECK_LENGTH = 6
_FORM = re.compile(rf"{PREFIX}[0-9A-Za-z]{{{_BODY_LENGTH + _CHECK_LENGTH}}}")
_PERSON = b"matchfeed key"


def generate() -> str:
    """A new key."""
    body = PREFIX + _base62(secrets.randbits(256), _BODY_LENGTH)
    return body + _checksum(body)


def is_well_formed(raw: str) -> bool:
    """Whether `raw` has the format and the checksum of a key."""
    if not _FORM.fullmatch(raw):
        return False
    return hmac.compare_digest(_checksum(raw[:-_CHECK_LENGTH]), raw[-_CHECK_LENGTH:])


def keyed_hash(raw: str, secret: str) -> bytes:
    """What is stored of a key: 32 bytes that cannot be recomputed without `secret`."""
    return blake2b(raw.encode(), digest_size=32, key=_hash_key(secret), person=_PERSON).digest()


@lru_cache(maxsize=4)
def _hash_key(secret: str) -> bytes:
    return blake2b(secret.encode(), digest_size=64, person=_PERSON).digest()


def hint(raw: str) -> str:
    """The first characters, by which people distinguish keys; far too few to guess the rest."""
    return raw[:HINT_LENGTH]


def _checksum(body: str) -> str:
    return _base62(crc32(body.encode()), _CHECK_LENGTH)


def _base62(number: int, length: int) -> str:
    digits = []
    for _ in range(length):
        number, digit = divmod(number, len(_DIGITS))
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))
