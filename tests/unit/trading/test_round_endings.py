"""How rounds end: the ways of a side sum to its chance, and the clock rules out what there is no time for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from app.trading.round_endings import endings, more_kills
from app.trading.round_model import ct_wins
from app.trading.round_state import RoundState, SideState
from tests.unit.trading.test_round_model import LEANS, side, states


@given(states(), LEANS)
def test_the_ways_of_a_side_sum_to_its_chance(state: RoundState, ct_logit: float) -> None:
    ct = ct_wins(state, ct_logit)
    found = endings(state, ct)
    assert all(-1e-12 <= chance <= 1 + 1e-12 for chance in found)
    assert found.defuse + found.time + found.ct_kills == pytest.approx(ct)
    assert found.defuse + found.time + found.bomb + found.kills == pytest.approx(1)
    assert found.planted <= 1


@given(states(("live",)), st.floats(0, 3.2), LEANS)
def test_without_time_to_plant_there_is_no_plant(state: RoundState, left: float, ct_logit: float) -> None:
    state = replace(state, seconds_left=left)
    assert endings(state, ct_wins(state, ct_logit)).planted == pytest.approx(0)
    over = replace(state, seconds_left=0.0)
    assert endings(over, ct_wins(over, ct_logit)).time == pytest.approx(1)


@given(states(("planted",)), LEANS)
def test_after_a_plant_ct_win_by_defusing_only(state: RoundState, ct_logit: float) -> None:
    found = endings(state, ct_wins(state, ct_logit))
    assert (found.time, found.ct_kills, found.t_kills) == (0, 0, 0)
    assert found.planted == pytest.approx(1)


@given(states(("live", "planted")), LEANS)
def test_nobody_is_killed_by_the_dead(state: RoundState, ct_logit: float) -> None:
    no_t = replace(state, t=SideState(alive=0))
    assert endings(no_t, ct_wins(no_t, ct_logit)).late_kills == pytest.approx(0)
    no_ct = replace(state, ct=SideState(alive=0))
    assert endings(no_ct, ct_wins(no_ct, ct_logit)).kills == pytest.approx(1)


def test_a_round_ends_as_the_snapshots_do_on_average() -> None:
    """Plants in .46 of rounds, CT on time in .04, by a defuse in .12; explosions in .18."""
    state = RoundState("freeze", side(5), side(5), number=6)
    found = endings(state, ct_wins(state, 0.0))
    assert found.planted == pytest.approx(0.47, abs=0.04)
    assert found.time == pytest.approx(0.045, abs=0.02)
    assert found.defuse == pytest.approx(0.12, abs=0.03)
    assert found.bomb == pytest.approx(0.19, abs=0.03)


@given(st.integers(1, 5), st.integers(1, 5), st.floats(-2, 2), st.sampled_from([-1, 0, 1]), st.floats(0, 115))
def test_less_time_means_fewer_kills(home: int, away: int, before: float, planter: int, left: float) -> None:
    def mean(seconds: float | None) -> float:
        chances = more_kills(home, away, before, planter, seconds)
        assert sum(chances) == pytest.approx(1)
        return sum(count * chance for count, chance in enumerate(chances))

    assert mean(0.0) == 0
    assert mean(left / 2) <= mean(left) + 1e-9
    assert mean(left) <= mean(None) + 1e-9
