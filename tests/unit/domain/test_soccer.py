"""Standings are the sum of results."""

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from app.domain.soccer import COUNTED, Goals, SoccerMatch, SoccerStatus, standings

_TEAMS = (1, 2, 3, 4)
_STATUSES: tuple[SoccerStatus, ...] = (*COUNTED, "scheduled", "abandoned", "removed")
_goals = st.builds(Goals, st.integers(0, 3), st.integers(0, 3))
_results = st.tuples(st.sampled_from(_STATUSES), _goals, st.sampled_from(("", "A")))


@st.composite
def seasons(draw: st.DrawFn) -> list[SoccerMatch]:
    pairs = draw(st.lists(st.sampled_from([*permutations(_TEAMS, 2)]), unique=True))
    return [_match(number, pair, *draw(_results)) for number, pair in enumerate(pairs, start=1)]


def _match(
    number: int, pair: tuple[int, int], status: SoccerStatus, score: Goals, group: str = ""
) -> SoccerMatch:
    home, away = pair
    return SoccerMatch(
        id=number,
        tournament_id=1,
        season="2030/31",
        round="Matchday 1",
        group=group,
        home_id=home,
        away_id=away,
        status=status,
        full_time=score,
    )


@given(seasons())
def test_a_table_adds_up(matches: list[SoccerMatch]) -> None:
    counted = [match for match in matches if match.status in COUNTED and match.full_time]
    rows = standings(matches)
    drawn = sum(match.full_time.home == match.full_time.away for match in counted if match.full_time)
    assert sum(row.played for row in rows) == 2 * len(counted)
    assert sum(row.points for row in rows) == 3 * (len(counted) - drawn) + 2 * drawn
    assert sum(row.goals_for for row in rows) == sum(row.goals_against for row in rows)
    assert sum(row.goals_for for row in rows) == sum(sum(match.full_time or ()) for match in counted)
    listed = {(m.group, team) for m in matches if m.status != "removed" for team in (m.home_id, m.away_id)}
    assert {(row.group, row.team_id) for row in rows} == listed and len(rows) == len(listed)


@given(seasons())
def test_a_rank_is_one_more_than_the_teams_ahead(matches: list[SoccerMatch]) -> None:
    rows = standings(matches)
    for row in rows:
        mates = [other for other in rows if other.group == row.group]
        assert row.rank == 1 + sum(other.order > row.order for other in mates)
    assert standings(matches[::-1]) == rows


def test_what_is_level_shares_a_rank_and_the_next_one_is_left_out() -> None:
    level = [_match(1, (1, 2), "finished", Goals(1, 1)), _match(2, (3, 4), "finished", Goals(2, 2))]
    rows = standings([*level, _match(3, (1, 3), "postponed", Goals(0, 0))])
    assert [(row.rank, row.team_id) for row in rows] == [(1, 3), (1, 4), (3, 1), (3, 2)]


def test_a_matchday_is_the_number_of_a_leagues_round() -> None:
    match = _match(1, (1, 2), "scheduled", Goals(0, 0))
    named = {"Matchday 7": 7, "Matchday 38": 38, "Quarter-finals": None, "Matchday": None, "": None}
    for name, number in named.items():
        assert replace(match, round=name).matchday == number
