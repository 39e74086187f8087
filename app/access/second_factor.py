"""The second factor of a user: six digits that their phone computes from a secret and the time (TOTP).

The secret is shown once, to be scanned, and stored encrypted with a key derived from SECRET_KEY. A code is
accepted once, in its 30 seconds and those before and after them. Wrong codes are counted; after ten in a row
none is accepted until a link has set another password, since a person who guesses codes knows the password.
"""

import hmac
import re
from base64 import urlsafe_b64encode
from functools import lru_cache

import msgspec
import pyotp
from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from app.domain.tenant import User
from app.kit.errors import Conflict, Field, Invalid
from app.kit.logging import get_logger
from app.store import audit, users
from app.store.audit import AuditRecord
from app.store.connections import Store
from app.store.transaction import Tx
from app.store.users import UserRecord

MAX_WRONG_CODES = 10
_STEP_MILLIS = 30_000
_WINDOW = 1  #: steps before and after the present one
_ISSUER = "matchfeed"
_CODE = re.compile(r"[0-9]{6}")
log = get_logger(__name__)


class Enrolment(msgspec.Struct, frozen=True):
    """What a phone needs to compute codes: as an address (`otpauth://…`, for a QR code), and the bare secret.
    Shown once."""

    uri: str
    secret: str

    def __repr__(self) -> str:
        return "Enrolment(…)"


async def begin(tx: Tx, user: User, *, secret: str, now: int) -> Enrolment:
    """A new secret, which takes effect when a code confirms it; one that was begun before is void.

    Raises `Conflict` when the user has a second factor.
    """
    record = await users.lock(tx, user.id)
    if record.totp_secret is not None:
        raise Conflict("There is a second factor already; remove it first.", code="second_factor_there")
    raw = pyotp.random_base32()
    pending = _fernet(secret).encrypt(raw.encode())
    await users.save(tx, msgspec.structs.replace(record, totp_pending=pending))
    await _audit(tx, user, now, "user.second_factor_begin")
    return Enrolment(pyotp.TOTP(raw).provisioning_uri(name=user.email, issuer_name=_ISSUER), raw)


async def confirm(tx: Tx, user: User, code: str, *, secret: str, now: int) -> None:
    """Require codes from now on, if `code` is one of the secret that `begin` made.

    Raises `Conflict` when none was begun, `Invalid` for a wrong code.
    """
    record = await users.lock(tx, user.id)
    if record.totp_pending is None:
        raise Conflict("No second factor was begun.", code="second_factor_not_begun")
    step = _step_of(record.totp_pending, code, -1, secret, now)
    if step is None:
        raise _wrong_code()
    enabled = msgspec.structs.replace(
        record, totp_secret=record.totp_pending, totp_pending=None, totp_step=step, wrong_codes=0
    )
    await users.save(tx, enabled)
    await _audit(tx, user, now, "user.second_factor")


async def remove(store: Store, user: User, code: str, *, secret: str, now: int) -> None:
    """Require codes no longer, if `code` is right. Raises `Conflict` when the user has no second factor,
    `Invalid` for a wrong code, which counts."""
    async with store.transaction() as tx:
        record = await users.lock(tx, user.id)
        if record.totp_secret is None:
            raise Conflict("There is no second factor.", code="no_second_factor")
        accepted = await accept_code(tx, record, code, secret=secret, now=now)
        if accepted is not None:
            await users.save(tx, without_second_factor(accepted))
            await _audit(tx, user, now, "user.second_factor_remove")
    if accepted is None:
        raise _wrong_code()


async def accept_code(tx: Tx, record: UserRecord, code: str, *, secret: str, now: int) -> UserRecord | None:
    """The user (whose row is locked) after a right code, to be saved by the caller; None for a wrong one,
    which is counted."""
    if record.totp_secret is None or record.wrong_codes >= MAX_WRONG_CODES:
        return None
    step = _step_of(record.totp_secret, code, record.totp_step, secret, now)
    if step is not None:
        return msgspec.structs.replace(record, totp_step=step, wrong_codes=0)
    await users.save(tx, msgspec.structs.replace(record, wrong_codes=record.wrong_codes + 1))
    return None


def last_usable_step(now: int) -> int:
    """The time step of the last code that could be accepted at `now` (ms)."""
    return now // _STEP_MILLIS + _WINDOW


def without_second_factor(record: UserRecord) -> UserRecord:
    """The user as they are without a second factor, begun or confirmed."""
    return msgspec.structs.replace(record, totp_secret=None, totp_pending=None, totp_step=-1, wrong_codes=0)


def _step_of(encrypted: bytes, code: str, last: int, secret: str, now: int) -> int | None:
    """The time step, after `last`, whose code this is; None if there is none near `now`."""
    digits = "".join(code.split())
    if not _CODE.fullmatch(digits):
        return None
    try:
        totp = pyotp.TOTP(_fernet(secret).decrypt(encrypted).decode())
    except InvalidToken:
        log.error("a second factor cannot be decrypted: it was stored under another SECRET_KEY")
        return None
    present = now // _STEP_MILLIS
    steps = range(max(present - _WINDOW, last + 1), present + _WINDOW + 1)
    return next((step for step in steps if hmac.compare_digest(totp.generate_otp(step), digits)), None)


@lru_cache(maxsize=4)
def _fernet(secret: str) -> Fernet:
    key = HKDF(SHA256(), 32, salt=None, info=b"matchfeed second factor").derive(secret.encode())
    return Fernet(urlsafe_b64encode(key))


def _wrong_code() -> Invalid:
    return Invalid(Field(("code",), "This code is not right, or was used already.", "code"))


async def _audit(tx: Tx, user: User, now: int, action: str) -> None:
    await audit.add(tx, AuditRecord(now, user.actor, action, str(user.id), user.tenant_id))
