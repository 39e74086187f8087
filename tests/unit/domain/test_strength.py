"""A match whose teams have no strength is in doubt until they have one, or until an operator allows it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain import fixture, lifecycle, strength
from app.domain.doubts import public_reason
from app.domain.match import Match
from app.kit.errors import Conflict
from tests.unit.domain.play import new_match

strengths = st.sampled_from([0.0, 900.0, 1650.0])


def with_teams(home: float, away: float, *, allow_unrated: bool = False) -> Match:
    rated = {"home_strength": home, "away_strength": away, "allow_unrated": allow_unrated}
    return fixture.set_teams(new_match(), "Copper Owls", "Dune Larks", **rated)[0]


@given(strengths, strengths, st.booleans())
def test_in_doubt_exactly_while_a_team_has_no_strength_and_no_operator_allows_it(
    home: float, away: float, allowed: bool
) -> None:
    match = with_teams(home, away, allow_unrated=allowed)
    assert bool(match.suspended) is not (allowed or bool(home and away))


def test_the_reason_names_the_team_without_rating() -> None:
    reasons = [public_reason(with_teams(*given)) for given in ((0.0, 1600.0), (1600.0, 0.0), (0.0, 0.0))]
    assert reasons == [f"no rating of {teams}" for teams in ("team_a", "team_b", "team_a and team_b")]


def test_ratings_end_the_doubt_one_after_the_other() -> None:
    match, _ = strength.set_strengths(with_teams(0.0, 0.0), 1650.0, None, allow_unrated=False)
    assert match.suspended == "no rating of team_b"
    match, changes = strength.set_strengths(match, None, 1500.0, allow_unrated=False)
    assert (match.suspended, match.home_strength, match.away_strength) == ("", 1650.0, 1500.0)
    assert changes


def test_an_operators_suspension_and_the_doubt_end_each_by_itself() -> None:
    match, _ = lifecycle.suspend(with_teams(0.0, 0.0), "looked into")
    match, _ = lifecycle.unsuspend(match)
    assert match.suspended == "no rating of team_a and team_b"
    match, _ = lifecycle.suspend(match, "looked into")
    match, _ = strength.set_strengths(match, None, None, allow_unrated=True)
    assert match.suspended == "looked into"


def test_a_match_that_is_on_sale_stays_so_when_one_team_is_rated() -> None:
    match, _ = strength.set_strengths(new_match(), 1650.0, None, allow_unrated=False)
    assert not match.suspended


def test_what_is_over_is_not_rated() -> None:
    over, _ = lifecycle.award_match(new_match(), "home", 1)
    with pytest.raises(Conflict, match="is finished"):
        strength.set_strengths(over, 1650.0, 1600.0, allow_unrated=False)
