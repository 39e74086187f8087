from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.access import key_format

SECRET = "a-secret-of-at-least-thirty-two-characters"
BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def test_a_key_is_well_formed_and_never_the_same() -> None:
    made = {key_format.generate() for _ in range(200)}
    assert len(made) == 200
    assert all(key_format.is_well_formed(raw) and raw.startswith("mfk_") and len(raw) == 53 for raw in made)


def test_every_digit_occurs() -> None:
    seen = Counter("".join(key_format.generate()[5:47] for _ in range(400)))
    assert set(seen) == set(BASE62)


@given(place=st.integers(4, 52), digit=st.sampled_from(BASE62))
def test_one_mistyped_character_is_detected(place: int, digit: str) -> None:
    raw = key_format.generate()
    typo = raw[:place] + digit + raw[place + 1 :]
    assert key_format.is_well_formed(typo) == (typo == raw)


@given(st.text(max_size=80))
def test_nothing_else_is_a_key(text: str) -> None:
    assert not key_format.is_well_formed(text)


@pytest.mark.parametrize(
    "change", [str.upper, lambda raw: raw + "\n", lambda raw: " " + raw, lambda raw: raw[:-1]]
)
def test_a_key_is_compared_exactly(change: object) -> None:
    assert callable(change)
    assert not key_format.is_well_formed(change(key_format.generate()))


def test_the_hash_depends_on_key_and_secret() -> None:
    raw, other = key_format.generate(), key_format.generate()
    assert key_format.keyed_hash(raw, SECRET) == key_format.keyed_hash(raw, SECRET)
    given = ((raw, SECRET), (other, SECRET), (raw, SECRET + "x"))
    assert len({key_format.keyed_hash(key, secret) for key, secret in given}) == 3
    assert len(key_format.keyed_hash(raw, SECRET * 10)) == 32


def test_the_hint_reveals_little() -> None:
    raw = key_format.generate()
    assert raw.startswith(key_format.hint(raw))
    assert len(key_format.hint(raw)) == 8
