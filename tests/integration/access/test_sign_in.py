"""Who may sign in, what a refusal shows, and how long a session lasts."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from msgspec.structs import replace

from app.access import admin, credentials, sign_in, users
from app.access.sign_in import ABSOLUTE_MILLIS, IDLE_MILLIS, PER_ADDRESS, PER_EMAIL, SignInRefused
from app.domain.tenant import Role
from app.kit.errors import Invalid, NotFound, TooManyRequests
from app.store import audit
from app.store import sessions as stored
from app.store import users as stored_users
from app.store.connections import Store
from app.store.counters import Counters
from tests.integration.access.conftest import SECRET
from tests.integration.access.people import (
    BY,
    NOW,
    PASSWORD,
    enter,
    invited,
    link,
    person,
    session_ids,
    signed_in,
    some_address,
    some_email,
    valid,
)
from tests.support.redis import PrivateRedis

WRONG = "wrong horse battery"


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The stored hashes that passwords are compared with, in order."""
    seen: list[str] = []
    matches = credentials._matches

    def recorded(stored: str, password: str) -> bool:
        seen.append(stored)
        return matches(stored, password)

    monkeypatch.setattr(credentials, "_matches", recorded)
    return seen


async def test_a_session_shows_who_signed_in(store: Store, counters: Counters) -> None:
    user = await person(store, some_email(), Role.TRADER)
    issued = await enter(store, counters, user.email.upper() + " ", address="192.0.2.77")
    seen = await signed_in(store, issued.token)
    assert (seen.user.id, seen.user.role, seen.tenant.slug) == (user.id, Role.TRADER, "acme")
    assert seen.user.last_sign_in_at == NOW
    assert seen.session_id == issued.session.id
    assert seen.actor == f"user {user.email}"
    async with store.autocommit() as tx:
        (session,) = await sign_in.sessions(tx, user.id, now=NOW)
        assert session == issued.session
        newest, *_ = await audit.listing(tx, user.tenant_id, limit=10)
    assert (session.address, session.user_agent) == ("192.0.2.77", "a browser")
    assert (newest.action, newest.actor) == ("user.sign_in", f"user {user.email}")


async def test_one_session_too_many_ends_the_oldest(
    store: Store, counters: Counters, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sign_in, "MAX_SESSIONS", 3)
    user, other = await person(store, some_email()), await person(store, some_email())
    kept = await enter(store, counters, other.email, now=NOW)
    issued = [await enter(store, counters, user.email, now=NOW + minute) for minute in range(5)]
    assert [await valid(store, each.token) for each in issued] == [False, False, True, True, True]
    assert await valid(store, kept.token)


async def test_a_refusal_does_not_show_its_reason(
    store: Store, counters: Counters, hashed: list[str]
) -> None:
    """The same error, and one hash of a password with the same parameters, for every reason."""
    known, ended = await person(store, some_email()), await person(store, some_email())
    invitee = await invited(store, some_email())
    inactive = await person(store, some_email(), slug="gone")
    async with store.transaction() as tx:
        await users.end_user(tx, ended.tenant_id, ended.id, **BY)
        await admin.set_tenant_active(tx, "gone", False, **BY)
    attempts = {
        "unknown address": (some_email(), PASSWORD),
        "no address": ("\ud800\x00", PASSWORD),
        "wrong password": (known.email, WRONG),
        "endless password": (known.email, PASSWORD * 1000),
        "ended user": (ended.email, PASSWORD),
        "inactive tenant": (inactive.email, PASSWORD),
        "no password yet": (invitee.email, PASSWORD),
    }
    refusals = {}
    for reason, (email, password) in attempts.items():
        hashed.clear()
        with pytest.raises(SignInRefused) as refused:
            await enter(store, counters, email, password)
        assert len(hashed) == 1, reason
        refusals[reason] = (type(refused.value), str(refused.value), hashed[0].split("$")[:4], len(hashed[0]))
    assert len(set(map(str, refusals.values()))) == 1, refusals


async def test_each_sign_in_has_a_session_of_its_own(store: Store, counters: Counters) -> None:
    """A token that somebody planted in the browser before is worth nothing afterwards."""
    user = await person(store, some_email())
    planted = "A" * 43
    assert not await valid(store, planted)
    first, second = await enter(store, counters, user.email), await enter(store, counters, user.email)
    assert first.token != second.token
    assert not await valid(store, planted)
    one, other = await signed_in(store, first.token), await signed_in(store, second.token)
    assert one.csrf_token != other.csrf_token


async def test_what_is_stored_opens_no_session(store: Store, counters: Counters) -> None:
    """Who reads the database, or a log, gets neither a token nor what a form carries."""
    user = await person(store, some_email())
    issued = await enter(store, counters, user.email)
    seen = await signed_in(store, issued.token)
    tables = ("portal_user", "portal_session", "portal_link", "audit")
    async with store.autocommit() as tx:
        rows = [str(dict(row)) for table in tables for row in await tx.fetch(f"SELECT * FROM {table}")]
        (digest,) = [row["hash"] for row in await tx.fetch("SELECT hash FROM portal_session")]
    written = "\n".join([*rows, repr(issued), repr(seen)])
    for private in (issued.token, PASSWORD, seen.csrf_token):
        assert private not in written
    assert seen.csrf_token != digest.hex()
    assert await sign_in.session_of(store, issued.token, secret="another" * 8, now=NOW) is None


async def test_a_malformed_token_is_no_session(store: Store) -> None:
    for token in ["", "x", "A" * 44, "é" * 43, "\ud800" * 43, "A" * 42 + "\n"]:
        assert not await valid(store, token), token


async def test_an_unused_session_expires(store: Store, counters: Counters) -> None:
    user = await person(store, some_email())
    issued = await enter(store, counters, user.email)
    assert await valid(store, issued.token, NOW + IDLE_MILLIS - 1)
    assert await valid(store, issued.token, NOW + 2 * IDLE_MILLIS - 2)
    late = NOW + 3 * IDLE_MILLIS - 2
    assert not await valid(store, issued.token, late)
    assert await session_ids(store, user, late) == []


async def test_a_session_that_is_used_expires_after_a_week(store: Store, counters: Counters) -> None:
    user = await person(store, some_email())
    issued = await enter(store, counters, user.email)
    for now in range(NOW, NOW + ABSOLUTE_MILLIS, IDLE_MILLIS - 1):
        assert await valid(store, issued.token, now)
    assert not await valid(store, issued.token, NOW + ABSOLUTE_MILLIS)


async def test_use_is_recorded_once_a_minute(store: Store, counters: Counters) -> None:
    user = await person(store, some_email())
    issued = await enter(store, counters, user.email)
    seen = []
    for now in (NOW + 59_999, NOW + 60_000, NOW + 60_001, NOW + 119_999):
        assert await valid(store, issued.token, now)
        async with store.autocommit() as tx:
            seen += [session.last_seen_at - NOW for session in await stored.listing(tx, user.id)]
    assert seen == [0, 60_000, 60_000, 60_000]


async def test_expired_sessions_are_deleted_by_the_next_sign_in(store: Store, counters: Counters) -> None:
    user = await person(store, some_email())
    await enter(store, counters, user.email)
    newer = await enter(store, counters, user.email, now=NOW + IDLE_MILLIS + 1)
    async with store.autocommit() as tx:
        assert [session.id for session in await stored.listing(tx, user.id)] == [newer.session.id]


async def test_a_session_ends_with_its_user_and_its_tenant(store: Store, counters: Counters) -> None:
    owner, reader = await person(store, some_email()), await person(store, some_email(), Role.READER)
    first, second = await enter(store, counters, owner.email), await enter(store, counters, reader.email)
    async with store.transaction() as tx:
        await users.end_user(tx, reader.tenant_id, reader.id, **BY)
    assert not await valid(store, second.token)
    assert await valid(store, first.token)
    async with store.transaction() as tx:
        await admin.set_tenant_active(tx, "acme", False, **BY)
    assert not await valid(store, first.token)


async def test_a_role_takes_effect_in_open_sessions(store: Store, counters: Counters) -> None:
    await person(store, some_email())
    trader = await person(store, some_email(), Role.TRADER)
    issued = await enter(store, counters, trader.email)
    async with store.transaction() as tx:
        await users.set_role(tx, trader.tenant_id, trader.id, Role.READER, **BY)
    assert (await signed_in(store, issued.token)).user.role is Role.READER


async def test_sessions_are_ended_one_by_one(store: Store, counters: Counters) -> None:
    user = await person(store, some_email())
    one, two, three = [await enter(store, counters, user.email) for _ in range(3)]
    async with store.transaction() as tx:
        await sign_in.end_session(tx, user.id, two.session.id, **BY)
        with pytest.raises(NotFound):
            await sign_in.end_session(tx, user.id, two.session.id, **BY)
    assert [await valid(store, each.token) for each in (one, two, three)] == [True, False, True]
    async with store.transaction() as tx:
        await sign_in.end_other_sessions(tx, user.id, three.session.id, **BY)
    assert await session_ids(store, user) == [three.session.id]
    async with store.autocommit() as tx:
        done = [record.action for record in await audit.listing(tx, user.tenant_id, limit=2)]
    assert done == ["user.sessions_end", "user.session_end"]


async def test_a_session_of_somebody_else_is_not_ended(store: Store, counters: Counters) -> None:
    one, other = await person(store, some_email()), await person(store, some_email(), slug="other")
    issued = await enter(store, counters, other.email)
    async with store.transaction() as tx:
        with pytest.raises(NotFound):
            await sign_in.end_session(tx, one.id, issued.session.id, **BY)
        with pytest.raises(NotFound):
            await sign_in.end_session(tx, uuid4(), issued.session.id, **BY)
        await sign_in.end_other_sessions(tx, one.id, uuid4(), **BY)
    assert await valid(store, issued.token)


@pytest.mark.parametrize("known", [True, False])
async def test_passwords_cannot_be_guessed_at_will(store: Store, counters: Counters, known: bool) -> None:
    """The limit of an address holds from everywhere together, whether or not there is such a user."""
    email = some_email()
    if known:
        await person(store, email)
    for _ in range(PER_EMAIL):
        with pytest.raises(SignInRefused):
            await enter(store, counters, email, WRONG)
    with pytest.raises(TooManyRequests) as limited:
        await enter(store, counters, email)
    assert limited.value.retry_after and 0 < limited.value.retry_after <= 60


async def test_one_sender_cannot_try_many_users(
    store: Store, counters: Counters, hashed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what it tries in vain does not count against the users."""
    monkeypatch.setattr(credentials, "_matches", lambda *_: False)
    user, sender = await invited(store, some_email()), some_address()
    for _ in range(PER_ADDRESS):
        with pytest.raises(SignInRefused):
            await enter(store, counters, some_email(), address=sender)
    for _ in range(PER_EMAIL + 1):
        with pytest.raises(TooManyRequests):
            await enter(store, counters, user.email, address=sender)
    with pytest.raises(SignInRefused):
        await enter(store, counters, user.email)


async def test_limits_hold_without_redis(store: Store, tmp_path: Path) -> None:
    private, email = PrivateRedis(tmp_path), some_email()
    user = await person(store, email)
    async with Counters(private.url) as counters:
        for _ in range(PER_EMAIL):
            with pytest.raises(SignInRefused):
                await enter(store, counters, email, WRONG)
        with pytest.raises(TooManyRequests):
            await enter(store, counters, email)
        other = await person(store, some_email(), Role.READER)
        assert await valid(store, (await enter(store, counters, other.email)).token)
    assert await session_ids(store, user) == []


async def test_a_changed_password_ends_the_other_sessions(store: Store, counters: Counters) -> None:
    user = await person(store, some_email())
    here, elsewhere = await enter(store, counters, user.email), await enter(store, counters, user.email)
    session = await signed_in(store, here.token)
    await sign_in.change_password(store, session, PASSWORD, "another fine password", now=NOW)
    assert [await valid(store, each.token) for each in (here, elsewhere)] == [True, False]
    with pytest.raises(SignInRefused):
        await enter(store, counters, user.email)
    assert await enter(store, counters, user.email, "another fine password")


async def test_a_redeemed_link_ends_all_sessions(store: Store, counters: Counters) -> None:
    """Whoever had the password, or a browser, is out; and not those of another user."""
    user, other = await person(store, some_email()), await person(store, some_email())
    tokens = [(await enter(store, counters, each.email)).token for each in (user, user, other)]
    raw = await link(store, user)
    assert [await valid(store, token) for token in tokens] == [True, True, True]
    await users.redeem_link(store, raw, "another fine password", secret=SECRET, now=NOW)
    assert [await valid(store, token) for token in tokens] == [False, False, True]
    with pytest.raises(SignInRefused):
        await enter(store, counters, user.email)


async def test_an_unattended_browser_is_no_place_to_guess(store: Store, counters: Counters) -> None:
    """Six attempts at once or one after another, and the session ends; a right password starts anew."""
    user = await person(store, some_email())
    here = await enter(store, counters, user.email)
    session = await signed_in(store, here.token)

    async def change(old: str, new: str = "another fine password") -> None:
        await sign_in.change_password(store, session, old, new, now=NOW)

    for _ in range(2):
        for _ in range(4):
            with pytest.raises(Invalid):
                await change(WRONG)
        await change(PASSWORD, PASSWORD)
    outcomes = await asyncio.gather(*(change(WRONG) for _ in range(8)), return_exceptions=True)
    assert sorted(type(each).__name__ for each in outcomes) == ["Invalid"] * 5 + ["SignInRefused"] * 3
    assert not await valid(store, here.token)
    with pytest.raises(SignInRefused):
        await change(PASSWORD)


async def test_a_password_that_changes_meanwhile_opens_no_session(
    store: Store, counters: Counters, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the check of a password and the session, the password changes or the user ends."""
    reader = await person(store, some_email(), Role.READER)
    verify: Callable[..., object] = credentials.verify_password

    async def end_meanwhile(stored: str | None, password: str) -> bool:
        matched = await verify(stored, password)  # type: ignore[misc]
        async with store.transaction() as tx:
            record = await stored_users.lock(tx, reader.id)
            await stored_users.save(tx, replace(record, password_hash="another"))
        return bool(matched)

    monkeypatch.setattr(credentials, "verify_password", end_meanwhile)
    with pytest.raises(SignInRefused):
        await enter(store, counters, reader.email)
    assert await session_ids(store, reader) == []
