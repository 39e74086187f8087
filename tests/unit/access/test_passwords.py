"""What a password must be, how it is stored, and that a check costs the same whatever it finds."""

import asyncio
import threading

import pytest
from argon2 import extract_parameters
from argon2.low_level import Type
from hypothesis import given
from hypothesis import strategies as st

from app.access import credentials
from app.access.credentials import hash_password, validate_password, verify_password
from app.kit.errors import Invalid, Unavailable

EMAIL = "ann.example@example.com"


@pytest.mark.parametrize(
    "password",
    [
        "",
        "short",
        "a" * 11,
        "a" * 12,
        "ab" * 64 + "c",
        "Ann.Example@Example.COM",
        "\u0132" * 65 + "a",
        "é" * 20,
    ],
)
def test_a_password_that_does_not_fit_is_refused(password: str) -> None:
    with pytest.raises(Invalid) as refused:
        validate_password(password, EMAIL)
    assert [field.loc for field in refused.value.fields] == [("password",)]
    assert password not in str(refused.value) or not password


@given(st.text(st.characters(max_codepoint=0x2FF), min_size=12, max_size=128))
def test_a_password_is_as_long_as_its_composed_text(password: str) -> None:
    """Whatever is accepted can be verified later: it is never cut."""
    try:
        validate_password(password, EMAIL)
    except Invalid:
        return
    assert credentials.MIN_LENGTH <= len(credentials._normalized(password)) <= credentials.MAX_LENGTH
    assert len(password) <= credentials.MAX_LENGTH


async def test_only_the_password_matches() -> None:
    stored = await hash_password("cafe\u0301 and croissants")
    assert "caf" not in stored
    assert extract_parameters(stored).type is Type.ID
    assert await verify_password(stored, "café and croissants")
    assert not await verify_password(stored, "cafe and croissants")
    assert not await verify_password(None, "café and croissants")
    assert await hash_password("cafe\u0301 and croissants") != stored


@pytest.mark.parametrize("password", ["x" * 12, "x" * 129, "x" * 100_000, "\ud800" * 12, "\x00", ""])
async def test_each_check_computes_one_hash(monkeypatch: pytest.MonkeyPatch, password: str) -> None:
    """With the same parameters, whether there is a password to compare with or not."""
    seen: list[str] = []
    matches = credentials._matches

    def recorded(stored: str, given: str) -> bool:
        seen.append(stored)
        assert len(given) <= credentials.MAX_LENGTH
        return matches(stored, given)

    known = await hash_password("another password")
    monkeypatch.setattr(credentials, "_matches", recorded)
    assert not await verify_password(known, password)
    assert not await verify_password(None, password)
    assert len(seen) == 2
    assert len({(str(extract_parameters(each)), len(each)) for each in seen}) == 1


async def test_two_hashes_at_once_and_few_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """More are refused at once, so that a flood of attempts takes neither memory nor the others' time."""
    started, go_on = threading.Semaphore(0), threading.Event()
    running: list[int] = []

    def slow(stored: str, given: str) -> bool:
        running.append(1)
        started.release()
        assert go_on.wait(10)
        return True

    monkeypatch.setattr(credentials, "_matches", slow)
    tasks = [asyncio.create_task(verify_password("…", "x")) for _ in range(credentials._MAX_PENDING)]
    try:
        for _ in range(2):
            assert await asyncio.to_thread(started.acquire, timeout=10)
        with pytest.raises(Unavailable):
            await asyncio.wait_for(verify_password("…", "x"), 5)
        assert len(running) == 2
    finally:
        go_on.set()
    assert await asyncio.gather(*tasks) == [True] * credentials._MAX_PENDING
    assert await verify_password("…", "x")
