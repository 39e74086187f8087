"""The state of a match in the elements that the feed and the facade share."""

from app.domain.ids import competitor_urn
from app.domain.match import MapPlay, MatchSummary, Status, Team
from app.wire.generated import common

_TEAM: dict[Team, common.Team] = {"home": common.Team.HOME, "away": common.Team.AWAY}
_PLAY = {
    "upcoming": common.StatusCode.NOT_STARTED,
    "live": common.StatusCode.LIVE,
    "finished": common.StatusCode.CLOSED,
}


def winner_id(head: MatchSummary, home_id: int | None, away_id: int | None) -> str | None:
    """The winner's URN once the match is closed, if the winner is a known competitor; else None. The ids are
    the numbers of both teams, None for one that is not in the reference data."""
    if head.status is not Status.FINISHED or head.winner is None:
        return None
    number = home_id if head.winner == "home" else away_id
    return None if number is None else competitor_urn(number)


def period_scores(head: MatchSummary) -> common.PeriodScores | None:
    """One row a map, None while no map is known."""
    if not head.maps:
        return None
    return common.PeriodScores(period_score=tuple([_period_score(play) for play in head.maps]))


def _period_score(play: MapPlay) -> common.PeriodScore:
    begun = play.status != "upcoming"
    return common.PeriodScore(
        type=common.PeriodType.MAP,
        number=play.number,
        match_status_code=_PLAY[play.status],
        home_score=int(play.winner == "home"),
        away_score=int(play.winner == "away"),
        home_won_rounds=play.home_score if begun else None,
        away_won_rounds=play.away_score if begun else None,
    )


def scoreboard(head: MatchSummary) -> common.Scoreboard | None:
    """The map being played, None while none is."""
    play = next((play for play in head.maps if play.status == "live"), None)
    if head.status is not Status.LIVE or play is None:
        return None
    counter_terrorist: dict[str | None, Team] = {"CT": "home", "T": "away"}
    team = counter_terrorist.get(play.home_side)
    return common.Scoreboard(
        current_ct_team=_TEAM[team] if team else None,
        home_won_rounds=play.home_score,
        away_won_rounds=play.away_score,
        current_round=head.round,
    )
