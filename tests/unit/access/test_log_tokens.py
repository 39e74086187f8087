"""A log token opens one match's sink and nothing else."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.access import log_tokens
from app.kit.errors import Forbidden

SECRET = "a-secret-of-at-least-thirty-two-characters"
MATCH = UUID(int=7)
NUMBERS = st.integers(min_value=1, max_value=10**17)


@given(st.uuids(), NUMBERS)
def test_a_token_contains_its_number(match_id: UUID, number: int) -> None:
    assert log_tokens.check(SECRET, match_id, log_tokens.issue(SECRET, match_id, number)) == number


@given(st.uuids(), NUMBERS)
def test_a_token_is_for_one_match(match_id: UUID, number: int) -> None:
    other = UUID(int=(match_id.int + 1) % 2**128)
    with pytest.raises(Forbidden):
        log_tokens.check(SECRET, other, log_tokens.issue(SECRET, match_id, number))


def test_another_number_or_secret_does_not_pass() -> None:
    number, signature = log_tokens.issue(SECRET, MATCH, 12).split("-")
    for forged in (f"13-{signature}", f"0{number}-{signature}", f"{number}-{signature[:-1]}0x"):
        with pytest.raises(Forbidden):
            log_tokens.check(SECRET, MATCH, forged)
    with pytest.raises(Forbidden):
        log_tokens.check(SECRET + "!", MATCH, f"{number}-{signature}")


@given(st.text(max_size=60))
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(Forbidden):
        log_tokens.check(SECRET, MATCH, text)
