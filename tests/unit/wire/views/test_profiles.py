"""What a team does when maps are chosen."""

from uuid import UUID

from app.domain.match import Match
from app.domain.match_info import MatchInfo, Veto
from app.wire.views.profiles import veto_rates


def test_vetoes_count_for_the_team_that_made_them() -> None:
    steps = (
        Veto("ban", "de_nuke", "home"),
        Veto("ban", "de_dust2", "away"),
        Veto("pick", "de_mirage", "away"),
        Veto("decider", "de_inferno"),
    )
    vetoed = Match(UUID(int=1), 1, "A", "B", "Cup", home_id=1, away_id=2, info=MatchInfo(vetoes=steps))
    back = Match(UUID(int=2), 2, "B", "A", "Cup", home_id=2, away_id=1, info=MatchInfo(vetoes=steps[:1]))
    silent = Match(UUID(int=3), 3, "A", "B", "Cup", home_id=1, away_id=2)
    seen = veto_rates(2, [vetoed, back, silent])
    assert seen.sample_matches == 2
    assert [(one.map_name, one.picks, one.bans, one.pick_pct, one.ban_pct) for one in seen.maps] == [
        ("de_dust2", 0, 1, 0.0, 0.5),
        ("de_mirage", 1, 0, 0.5, 0.0),
        ("de_nuke", 0, 1, 0.0, 0.5),
    ]
    assert veto_rates(2, [silent]).maps == ()
