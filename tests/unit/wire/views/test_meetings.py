"""Two teams' meetings, from either side."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from app.domain.analytics import TeamLine
from app.domain.entrants import Competitor
from app.domain.match import Match, Status
from app.wire.views.meetings import head_to_head_view

A, B = Competitor(1, "Copper Owls"), Competitor(2, "Dune Larks")


@st.composite
def meetings(draw: st.DrawFn) -> Match:
    home, away = draw(st.permutations([A, B]))
    scores = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    winner = None if scores[0] == scores[1] else "home" if scores[0] > scores[1] else "away"
    match = Match(UUID(int=1), 1, home.name, away.name, "Cup", home_id=home.id, away_id=away.id)
    return replace(match, status=Status.FINISHED, score_home=scores[0], score_away=scores[1], winner=winner)


lines = st.lists(st.builds(TeamLine, *[st.integers(0, 9)] * len(TeamLine.__struct_fields__)), max_size=4)


@given(st.lists(meetings()), lines, lines)
def test_what_one_won_the_other_lost(met: list[Match], ours: list[TeamLine], theirs: list[TeamLine]) -> None:
    one = head_to_head_view(A, B, "all", met, (ours, theirs), shown=5)
    other = head_to_head_view(B, A, "all", met, (theirs, ours), shown=5)
    a, b = one.summary, other.summary
    assert (a.team_wins, a.opponent_wins, a.draws) == (b.opponent_wins, b.team_wins, b.draws)
    assert (a.team_map_wins, a.opponent_map_wins) == (b.opponent_map_wins, b.team_map_wins)
    assert a.team_wins + a.opponent_wins + a.draws == a.total_matches == len(met)
    assert one.matches == other.matches and len(one.matches) == min(5, len(met))
    if one.aggregated and other.aggregated:
        assert one.aggregated.team_a_first_kills == other.aggregated.team_b_first_kills
        assert one.aggregated.team_b_headshot_pct == other.aggregated.team_a_headshot_pct
