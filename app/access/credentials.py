"""Passwords (what one must be, and its argon2id hash), and the tokens of links and sessions.

A hash of a password takes 46 MiB and some 80 ms of a processor, so at most two are computed at once, in
threads of their own, and few may wait. Where there is nothing to compare with, the work is the same
(`_NOTHING`). A token is 256 random bits, of which only a keyed hash is stored.
"""

import asyncio
import re
import secrets
import unicodedata
from base64 import b64encode
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from enum import Enum
from hashlib import blake2b
from secrets import token_bytes
from typing import ParamSpec, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from app.kit.errors import Field, Invalid, Unavailable

P = ParamSpec("P")
T = TypeVar("T")
MIN_LENGTH, MAX_LENGTH = 12, 128
_HASHER = PasswordHasher(time_cost=1, memory_cost=47_104, parallelism=1)
_MAX_PENDING = 32
_executor = ThreadPoolExecutor(2, thread_name_prefix="password")
_pending: set[Future[object]] = set()
_BYTES = 32
_FORM = re.compile(r"[A-Za-z0-9_-]{43}")


def _unknown() -> str:
    """The hash of a password that nobody knows: random bytes, with the parameters of every other."""
    salt, digest = (b64encode(token_bytes(size)).decode().rstrip("=") for size in (16, 32))
    costs = f"m={_HASHER.memory_cost},t={_HASHER.time_cost},p={_HASHER.parallelism}"
    return f"$argon2id$v=19${costs}${salt}${digest}"


_NOTHING = _unknown()


def validate_password(password: str, email: str) -> None:
    """Raises `Invalid` unless the password may be used by the user with that address."""
    plain = _normalized(password)
    why, kind = "", ""
    if not MIN_LENGTH <= len(plain) <= MAX_LENGTH or len(password) > MAX_LENGTH:
        why, kind = f"A password has {MIN_LENGTH} to {MAX_LENGTH} characters.", "password_length"
    elif plain.casefold() == email.casefold():
        why, kind = "A password is not the address.", "password_is_address"
    elif len(set(plain)) == 1:
        why, kind = "A password is not one character repeated.", "password_repeats"
    if why:
        ctx = {"lowest": MIN_LENGTH, "highest": MAX_LENGTH}
        raise Invalid(Field(("password",), why, kind, ctx=ctx))


async def hash_password(password: str) -> str:
    """What is stored of a password. Raises `Unavailable` when too many wait already."""
    return await _in_thread(_HASHER.hash, _encoded(password))


async def verify_password(stored: str | None, password: str) -> bool:
    """Whether `stored` is the hash of the password; None, or a password that is too long, takes as long as a
    wrong password. Raises `Unavailable` when too many wait already."""
    if stored is None or len(password) > MAX_LENGTH:
        await _in_thread(_matches, _NOTHING, password[:MAX_LENGTH])
        return False
    return await _in_thread(_matches, stored, password)


def _matches(stored: str, password: str) -> bool:
    try:
        return _HASHER.verify(stored, _encoded(password))
    except VerifyMismatchError:
        return False


def _normalized(password: str) -> str:
    """The password in one Unicode form: keyboards differ in how they compose a letter."""
    return unicodedata.normalize("NFKC", password)


def _encoded(password: str) -> bytes:
    return _normalized(password).encode("utf-8", "surrogatepass")


async def _in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    if len(_pending) >= _MAX_PENDING:
        raise Unavailable(
            "Too many passwords are being checked; try again.", retry_after=2, code="too_many_passwords"
        )
    future = _executor.submit(work, *args, **kwargs)
    _pending.add(future)  # type: ignore[arg-type]  # a future's type is not covariant
    future.add_done_callback(_pending.discard)
    return await asyncio.wrap_future(future)


class Purpose(Enum):
    """What is hashed: hashes of one purpose are of no use for another. The value is BLAKE2's `person`, of at
    most 16 bytes."""

    LINK = b"matchfeed link"
    SESSION = b"matchfeed sess"
    CSRF = b"matchfeed csrf"
    ADDRESS = b"matchfeed addr"


def new_token() -> str:
    """A new token, of letters, digits, `-` and `_`."""
    return secrets.token_urlsafe(_BYTES)


def is_token(raw: str) -> bool:
    """Whether `raw` has the form of a token."""
    return _FORM.fullmatch(raw) is not None


def token_hash(text: str, purpose: Purpose, secret: str) -> bytes:
    """32 bytes that cannot be computed without `secret`."""
    key = blake2b(secret.encode(), digest_size=64, person=purpose.value).digest()
    # Browsers may send what UTF-8 cannot express.
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32, key=key).digest()
