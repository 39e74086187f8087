"""Signing in, and the sessions that follow from it.

Whether an address is known does not show: every refusal has one text and takes one hash of a password, and
the limits count unknown addresses as known ones. A session has a new token each time; one that was sent by
the browser before is never adopted.
"""

from collections.abc import Collection
from uuid import UUID, uuid4

import msgspec

from app.access import credentials, second_factor
from app.access.credentials import Purpose
from app.access.rate_limit import address_block
from app.access.users import audit_change, normalized_email
from app.domain.tenant import Session, SignedIn
from app.kit.control_characters import strip_control_characters
from app.kit.errors import Field, Invalid, NotFound, TooManyRequests, Unauthenticated
from app.kit.logging import get_logger
from app.store import sessions as stored
from app.store import users
from app.store.connections import Store
from app.store.counters import Counters
from app.store.sessions import FoundSession
from app.store.transaction import Tx
from app.store.users import UserRecord

IDLE_MILLIS = 8 * 3_600_000
ABSOLUTE_MILLIS = 7 * 24 * 3_600_000
MAX_SESSIONS = 50  #: of a user; one more ends the oldest
_SEEN_MILLIS = 60_000
#: Attempts a minute: of one e-mail address, and from one network address, behind which there may be an
#: office.
PER_EMAIL, PER_ADDRESS = 10, 30
_PASSWORD_ATTEMPTS = 5
_MAX_USER_AGENT = 200
log = get_logger(__name__)


class SignInRefused(Unauthenticated):
    """The one refusal of all who may not sign in, whatever the reason, and of a session that has ended."""

    def __init__(self) -> None:
        super().__init__("These data do not let anybody in. Check them, or ask an owner for a link.")


class SecondFactorRequired(Unauthenticated):
    """The password is right; a code is needed, too."""

    def __init__(self) -> None:
        super().__init__("Enter the code that your second factor shows.")


class IssuedSession(msgspec.Struct, frozen=True):
    """A new session: `token` goes to the browser and cannot be recovered."""

    token: str
    session: Session

    def __repr__(self) -> str:
        return f"IssuedSession(token=…, session={self.session.id})"


async def sign_in(
    store: Store,
    counters: Counters,
    email: str,
    password: str,
    code: str | None,
    *,
    address: str,
    user_agent: str,
    secret: str,
    now: int,
    operator: bool = False,
) -> IssuedSession:
    """A new session of the user with that e-mail address, of a tenant or an `operator`; `address` is where
    the request came from.

    Raises `SignInRefused`, `SecondFactorRequired` (after a right password without a code), `TooManyRequests`,
    and `Unavailable` when too many passwords are being checked.
    """
    email = normalized_email(email)
    await _limit(counters, email, address, secret)
    async with store.autocommit() as tx:
        record = await users.by_email(tx, email)
    if record is not None and record.user.is_operator is not operator:
        record = None
    expected = record.password_hash if record and record.tenant.active else None
    if not await credentials.verify_password(expected, password) or record is None:
        raise _refused(address)
    async with store.transaction() as tx:
        user = await _checked(tx, record, code, secret, now)
        if user is not None:
            agent = strip_control_characters(user_agent)[:_MAX_USER_AGENT]
            return await _open(tx, user, address, agent, secret, now)
    raise _refused(address)


async def session_of(
    tx_or_store: Tx | Store, token: str, *, secret: str, now: int, operator: bool = False
) -> SignedIn | None:
    """Who has the session with that token, of people of tenants or of operators. None unless it is valid: it
    expires 8 h after its last use and 7 days after it began, and when the user or the tenant is no longer
    active. Writes once a minute that the session was seen, so it needs a transaction that may write."""
    if not credentials.is_token(token):
        return None
    if isinstance(tx_or_store, Store):
        async with tx_or_store.autocommit() as tx:
            return await session_of(tx, token, secret=secret, now=now, operator=operator)
    found = await stored.by_hash(tx_or_store, credentials.token_hash(token, Purpose.SESSION, secret))
    if found is None or not _is_valid(found, now):
        return None
    if found.user.is_operator is not operator:
        return None
    if now - found.session.last_seen_at >= _SEEN_MILLIS:
        await stored.record_seen(tx_or_store, found.session.id, now)
    csrf_token = credentials.token_hash(token, Purpose.CSRF, secret).hex()
    return SignedIn(found.user, found.tenant, found.session.id, csrf_token)


async def valid_sessions(store: Store, ids: Collection[UUID], *, now: int) -> set[UUID]:
    """Those of these sessions that are valid; this is no use of them. Raises `Unavailable`."""
    async with store.autocommit() as tx:
        found = await stored.by_ids(tx, ids)
    return {each.session.id for each in found if _is_valid(each, now)}


async def sessions(tx: Tx, user_id: UUID, *, now: int) -> list[Session]:
    """The user's valid sessions, newest first."""
    return [session for session in await stored.listing(tx, user_id) if not _expired(session, now)]


async def end_session(tx: Tx, user_id: UUID, session_id: UUID, *, by: str, now: int) -> None:
    """End a session of the user. Raises `NotFound` for any other."""
    record = await users.lock(tx, user_id)
    if not await stored.end(tx, user_id, session_id):
        raise NotFound("There is no such session.", code="no_session")
    await audit_change(tx, by, now, "user.session_end", record.user, session=str(session_id))


async def end_other_sessions(tx: Tx, user_id: UUID, keep: UUID, *, by: str, now: int) -> None:
    """End every session of the user except `keep`."""
    record = await users.lock(tx, user_id)
    ended = await stored.end_others(tx, user_id, keep)
    if ended:
        await audit_change(tx, by, now, "user.sessions_end", record.user, sessions_ended=ended)


async def change_password(store: Store, signed_in: SignedIn, old: str, new: str, *, now: int) -> None:
    """Set the user's own password; their other sessions end.

    Raises `Invalid` for a wrong `old` or a `new` that does not fit, and `SignInRefused` when the session has
    ended, as it does with the sixth attempt: whoever uses an unattended browser may not guess on.
    """
    user, session_id = signed_in.user, signed_in.session_id
    credentials.validate_password(new, user.email)
    async with store.transaction() as tx:
        record = await users.lock(tx, user.id)
        # Counted before the password is verified, so that attempts at once are no way around the limit.
        attempts = await stored.count_password_attempt(tx, user.id, session_id)
        if attempts is not None and attempts > _PASSWORD_ATTEMPTS:
            await end_session(tx, user.id, session_id, by=user.actor, now=now)
            attempts = None
    if attempts is None:
        raise SignInRefused
    if not await credentials.verify_password(record.password_hash, old):
        raise Invalid(Field(("old",), "This is not your password.", "wrong_password"))
    hashed = await credentials.hash_password(new)
    async with store.transaction() as tx:
        current = await users.lock(tx, user.id)
        if not current.user.active or current.password_hash != record.password_hash:
            raise SignInRefused
        await users.save(tx, msgspec.structs.replace(current, password_hash=hashed))
        await stored.forget_password_attempts(tx, session_id)
        ended = await stored.end_others(tx, user.id, session_id)
        await audit_change(tx, user.actor, now, "user.password", user, how="change", sessions_ended=ended)


async def _limit(counters: Counters, email: str, address: str, secret: str) -> None:
    """Count an attempt; one that its network address may not make does not count against the user."""
    hashed = credentials.token_hash(email, Purpose.ADDRESS, secret).hex()
    limits = ((f"signin:from:{address_block(address)}", PER_ADDRESS), (f"signin:as:{hashed}", PER_EMAIL))
    for name, limit in limits:
        millis = await counters.refused_for(name, limit)
        if millis:
            seconds = -(-millis // 1000)
            what = "Too many attempts to sign in; try again later."
            raise TooManyRequests(what, retry_after=seconds, code="too_many_sign_ins")


async def _checked(tx: Tx, seen: UserRecord, code: str | None, secret: str, now: int) -> UserRecord | None:
    """The user, locked, if they may sign in with that code, None otherwise; what was verified before may have
    changed meanwhile."""
    try:
        record = await users.lock(tx, seen.user.id)
    except NotFound:  # erased since
        return None
    unchanged = record.password_hash == seen.password_hash
    if not (unchanged and record.user.active and record.tenant.active):
        return None
    if record.totp_secret is None:
        return record
    if record.wrong_codes >= second_factor.MAX_WRONG_CODES:
        return None
    if not code:
        raise SecondFactorRequired
    return await second_factor.accept_code(tx, record, code, secret=secret, now=now)


async def _open(
    tx: Tx, record: UserRecord, address: str, user_agent: str, secret: str, now: int
) -> IssuedSession:
    user = msgspec.structs.replace(record.user, last_sign_in_at=now)
    await users.save(tx, msgspec.structs.replace(record, user=user))
    await stored.delete_older(tx, user.id, now - ABSOLUTE_MILLIS, now - IDLE_MILLIS)
    for oldest in (await stored.listing(tx, user.id))[MAX_SESSIONS - 1 :]:
        await stored.end(tx, user.id, oldest.id)
    token = credentials.new_token()
    session = Session(id=uuid4(), created_at=now, last_seen_at=now, address=address, user_agent=user_agent)
    await stored.insert(tx, user.id, session, credentials.token_hash(token, Purpose.SESSION, secret))
    await audit_change(tx, user.actor, now, "user.sign_in", user, address=address, session=str(session.id))
    return IssuedSession(token, session)


def _refused(address: str) -> SignInRefused:
    """Logged without what was entered: people type passwords into the wrong field."""
    log.warning("a sign-in was refused", address=address)
    return SignInRefused()


def _is_valid(found: FoundSession, now: int) -> bool:
    return found.user.active and found.tenant.active and not _expired(found.session, now)


def _expired(session: Session, now: int) -> bool:
    return now - session.created_at >= ABSOLUTE_MILLIS or now - session.last_seen_at >= IDLE_MILLIS
