"""How entrants are named, and what is known about them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.entrants import OWN, Tournament
from app.domain.ids import competitor_urn, entrant_number, player_urn, tournament_urn
from app.domain.window import begin


@given(st.integers(1, 10**18 - 1))
def test_a_number_is_found_in_every_form(number: int) -> None:
    assert entrant_number(str(number), "player") == number
    assert entrant_number(player_urn(number), "player") == number
    assert entrant_number(competitor_urn(number), "player", "competitor") == number
    assert entrant_number(f"Old-Feed_2:player:{number}", "player") == number
    assert entrant_number(tournament_urn(number), "player") is None


@pytest.mark.parametrize(
    "text", ["", "0", "-1", "01", "1 ", "1\n", "٣", "mf:player:", "player:1", "a:b:c:1", "9" * 19]
)
def test_nothing_else_is_a_number(text: str) -> None:
    assert entrant_number(text, "player") is None


def test_what_nobody_told_us_is_not_known() -> None:
    assert Tournament(1, "Cup").on_lan is False
    assert Tournament(OWN + 1, "Cup").on_lan is None
    assert Tournament(OWN + 1, "Cup", is_lan=True).on_lan is True


def test_windows_begin_the_earlier_the_longer_they_are() -> None:
    now = 1_800_000_000_000
    begins = [begin(window, now) for window in ("1month", "3months", "6months", "12months", "all")]
    assert begins == sorted(begins, reverse=True) and begins[0] == now - 30 * 86_400_000 and begins[-1] == 0
