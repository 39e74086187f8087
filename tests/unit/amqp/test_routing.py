import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.amqp.envelope import ALIVE_KEY, LIVE_MESSAGES, live_key


@given(st.sampled_from(sorted(LIVE_MESSAGES)), st.integers(1, 10**18))
def test_a_live_key_has_eight_filled_sections(message: str, number: int) -> None:
    sections = live_key(message, number).split(".")
    assert sections == ["hi", "-", "live", message, "2", "od:match", str(number), "-"]


def test_alive_has_eight_sections_and_names_no_event() -> None:
    assert ALIVE_KEY.split(".") == ["-", "-", "-", "alive", "-", "-", "-", "-"]


@pytest.mark.parametrize("message", ["alive", "snapshot_complete", "", "sport_event_status"])
def test_what_is_not_about_a_match_has_no_live_key(message: str) -> None:
    with pytest.raises(ValueError, match="not a message about a match"):
        live_key(message, 7)
