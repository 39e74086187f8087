import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.amqp import routing


@given(st.sampled_from(sorted(routing.MATCH_MESSAGES)), st.integers(1, 10**18))
def test_a_live_key_has_eight_filled_sections(message: str, number: int) -> None:
    sections = routing.live(message, number).split(".")
    assert sections == ["hi", "-", "live", message, "2", "od:match", str(number), "-"]


def test_alive_has_eight_sections_and_names_no_event() -> None:
    assert routing.ALIVE.split(".") == ["-", "-", "-", "alive", "-", "-", "-", "-"]


@pytest.mark.parametrize("message", ["alive", "snapshot_complete", "", "sport_event_status"])
def test_what_is_not_about_a_match_has_no_live_key(message: str) -> None:
    with pytest.raises(ValueError, match="not a message about a match"):
        routing.live(message, 7)
