from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.access import api_keys

SECRET = "a-secret-of-at-least-thirty-two-characters"
BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def test_a_key_is_well_formed_and_never_the_same() -> None:
    made = {api_keys.new_key() for _ in range(200)}
    assert len(made) == 200
    assert all(api_keys.is_key(raw) and raw.startswith("mfk_") and len(raw) == 53 for raw in made)


def test_every_digit_occurs() -> None:
    seen = Counter("".join(api_keys.new_key()[5:47] for _ in range(400)))
    assert set(seen) == set(BASE62)


@given(place=st.integers(4, 52), digit=st.sampled_from(BASE62))
def test_one_mistyped_character_is_detected(place: int, digit: str) -> None:
    raw = api_keys.new_key()
    typo = raw[:place] + digit + raw[place + 1 :]
    assert api_keys.is_key(typo) == (typo == raw)


@given(st.text(max_size=80))
def test_nothing_else_is_a_key(text: str) -> None:
    assert not api_keys.is_key(text)


@pytest.mark.parametrize(
    "change", [str.upper, lambda raw: raw + "\n", lambda raw: " " + raw, lambda raw: raw[:-1]]
)
def test_a_key_is_compared_exactly(change: object) -> None:
    assert callable(change)
    assert not api_keys.is_key(change(api_keys.new_key()))


def test_the_hash_depends_on_key_and_secret() -> None:
    raw, other = api_keys.new_key(), api_keys.new_key()
    assert api_keys.key_hash(raw, SECRET) == api_keys.key_hash(raw, SECRET)
    given = ((raw, SECRET), (other, SECRET), (raw, SECRET + "x"))
    assert len({api_keys.key_hash(key, secret) for key, secret in given}) == 3
    assert len(api_keys.key_hash(raw, SECRET * 10)) == 32


def test_the_hint_reveals_little() -> None:
    raw = api_keys.new_key()
    assert raw.startswith(api_keys.hint(raw))
    assert len(api_keys.hint(raw)) == 8
