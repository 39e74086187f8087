"""Codes of a second factor: required once confirmed, accepted once, not to be guessed."""

import pyotp
import pytest

from app.access import second_factor, users
from app.access.second_factor import MAX_WRONG_CODES, Enrolment
from app.access.sign_in import SecondFactorRequired, SignInRefused
from app.domain.tenant import Role, User
from app.kit.errors import Conflict, Invalid
from app.store import audit
from app.store import users as stored
from app.store.connections import Store
from app.store.counters import Counters
from tests.integration.access.conftest import SECRET
from tests.integration.access.people import NOW, PASSWORD, enter, link, person, some_email, valid
from tests.support.eventually import succeeds

STEP = 30_000
LATER = NOW + 10 * STEP


def code(raw: str, now: int) -> str:
    """What the user's phone shows."""
    return pyotp.TOTP(raw).at(now // 1000)


def wrong(raw: str, now: int) -> str:
    """Six digits that are the code of no time near `now`."""
    near = {code(raw, now + step * STEP) for step in range(-2, 3)}
    return next(digits for digits in map("{:06}".format, range(6)) if digits not in near)


async def begun(store: Store, user: User) -> Enrolment:
    async with store.transaction() as tx:
        return await second_factor.begin(tx, user, secret=SECRET, now=NOW)


async def enabled(store: Store) -> tuple[User, str]:
    """A user with a second factor, confirmed at `NOW`, and its secret."""
    user = await person(store, some_email())
    enrolment = await begun(store, user)
    async with store.transaction() as tx:
        await second_factor.confirm(tx, user, code(enrolment.secret, NOW), secret=SECRET, now=NOW)
    return user, enrolment.secret


async def test_a_code_is_required_once_it_is_confirmed(store: Store, counters: Counters) -> None:
    user = await person(store, some_email())
    enrolment = await begun(store, user)
    assert await enter(store, counters, user.email)
    with pytest.raises(Invalid):
        async with store.transaction() as tx:
            await second_factor.confirm(tx, user, wrong(enrolment.secret, NOW), secret=SECRET, now=NOW)
    assert await enter(store, counters, user.email)
    async with store.transaction() as tx:
        await second_factor.confirm(tx, user, code(enrolment.secret, NOW), secret=SECRET, now=NOW)
        assert (await stored.get(tx, user.id)).user.second_factor
        with pytest.raises(Conflict):
            await second_factor.begin(tx, user, secret=SECRET, now=NOW)
        with pytest.raises(Conflict):
            await second_factor.confirm(tx, user, code(enrolment.secret, LATER), secret=SECRET, now=LATER)
    for missing in (None, ""):
        with pytest.raises(SecondFactorRequired):
            await enter(store, counters, user.email, now=LATER, code=missing)
    digits = code(enrolment.secret, LATER)
    issued = await enter(store, counters, user.email, code=f"{digits[:3]} {digits[3:]}", now=LATER)
    assert await valid(store, issued.token, LATER)


async def test_without_the_password_nobody_learns_of_the_second_factor(
    store: Store, counters: Counters
) -> None:
    user, raw = await enabled(store)
    for given in (None, wrong(raw, LATER), code(raw, LATER)):
        with pytest.raises(SignInRefused):
            await enter(store, counters, user.email, "wrong horse battery", given, now=LATER)


async def test_a_code_is_accepted_once(store: Store, counters: Counters) -> None:
    """Neither again, nor one from before it; nor the one that confirmed the second factor."""
    user, raw = await enabled(store)
    with pytest.raises(SignInRefused):
        await enter(store, counters, user.email, code=code(raw, NOW))
    assert await enter(store, counters, user.email, code=code(raw, LATER), now=LATER)
    for at in (LATER, LATER - STEP):
        with pytest.raises(SignInRefused):
            await enter(store, counters, user.email, code=code(raw, at), now=LATER)
    assert await enter(store, counters, user.email, code=code(raw, LATER + STEP), now=LATER)


@pytest.mark.parametrize(("steps", "accepted"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
async def test_clocks_may_differ_by_a_step(
    store: Store, counters: Counters, steps: int, accepted: bool
) -> None:
    user, raw = await enabled(store)
    entering = enter(store, counters, user.email, code=code(raw, LATER + steps * STEP), now=LATER)
    assert await succeeds(entering, SignInRefused) is accepted


@pytest.mark.parametrize("digits", ["", "12345", "1234567", "abcdef", "١٢٣٤٥٦", "12345\x00", "\ud800"])
async def test_a_malformed_code_is_wrong(store: Store, digits: str) -> None:
    user, _ = await enabled(store)
    with pytest.raises(Invalid):
        await second_factor.remove(store, user, digits, secret=SECRET, now=LATER)


async def test_codes_cannot_be_guessed(store: Store, counters: Counters) -> None:
    """After ten wrong codes no right one helps, until a link has set another password."""
    user, raw = await enabled(store)
    for _ in range(MAX_WRONG_CODES - 1):
        with pytest.raises(Invalid):
            await second_factor.remove(store, user, wrong(raw, LATER), secret=SECRET, now=LATER)
    with pytest.raises(SignInRefused):
        await enter(store, counters, user.email, code=wrong(raw, LATER), now=LATER)
    for given in (code(raw, LATER), None):
        with pytest.raises(SignInRefused):
            await enter(store, counters, user.email, code=given, now=LATER)
    with pytest.raises(Invalid):
        await second_factor.remove(store, user, code(raw, LATER), secret=SECRET, now=LATER)
    await users.redeem_link(store, await link(store, user), "another fine password", secret=SECRET, now=NOW)
    assert await enter(store, counters, user.email, "another fine password", code(raw, LATER), now=LATER)


async def test_a_right_code_forgives_wrong_ones(store: Store, counters: Counters) -> None:
    user, raw = await enabled(store)
    for now in (LATER, LATER + 5 * STEP):
        for _ in range(MAX_WRONG_CODES - 1):
            with pytest.raises(Invalid):
                await second_factor.remove(store, user, wrong(raw, now), secret=SECRET, now=now)
        assert await enter(store, counters, user.email, code=code(raw, now), now=now)


async def test_the_user_removes_it_with_a_code(store: Store, counters: Counters) -> None:
    user, raw = await enabled(store)
    await second_factor.remove(store, user, code(raw, LATER), secret=SECRET, now=LATER)
    assert await enter(store, counters, user.email, now=LATER)
    with pytest.raises(Conflict):
        await second_factor.remove(store, user, code(raw, LATER + STEP), secret=SECRET, now=LATER)


async def test_a_reset_leaves_it_unless_the_link_removes_it(store: Store, counters: Counters) -> None:
    user, raw = await enabled(store)
    await users.redeem_link(store, await link(store, user), PASSWORD, secret=SECRET, now=NOW)
    with pytest.raises(SecondFactorRequired):
        await enter(store, counters, user.email, now=LATER)
    bare = await link(store, user, without_second_factor=True)
    with pytest.raises(SecondFactorRequired):
        await enter(store, counters, user.email, now=LATER)
    await users.redeem_link(store, bare, PASSWORD, secret=SECRET, now=NOW)
    assert await enter(store, counters, user.email, now=LATER)


async def test_a_secret_is_shown_once_and_stored_encrypted(store: Store) -> None:
    user = await person(store, some_email(), Role.OWNER)
    first, second = await begun(store, user), await begun(store, user)
    assert first.secret != second.secret
    assert second.secret in second.uri and second.secret not in repr(second)
    async with store.transaction() as tx:
        with pytest.raises(Invalid):
            await second_factor.confirm(tx, user, code(first.secret, NOW), secret=SECRET, now=NOW)
        await second_factor.confirm(tx, user, code(second.secret, NOW), secret=SECRET, now=NOW)
        record = await stored.get(tx, user.id)
        written = (
            str(record.totp_secret) + repr(record) + str(await audit.listing(tx, user.tenant_id, limit=50))
        )
    assert second.secret not in written


async def test_a_secret_of_another_secret_key_accepts_nothing(store: Store) -> None:
    user, raw = await enabled(store)
    with pytest.raises(Invalid):
        await second_factor.remove(store, user, code(raw, LATER), secret="another" * 8, now=LATER)
