"""Generated from `schemas/common.xsd` by `python -m codegen`: do not edit."""

from enum import IntEnum, StrEnum

import msgspec


class PeriodType(StrEnum):
    """What a period of a match is."""

    #: One map of the series.
    MAP = "map"


PERIOD_TYPE_TEXT = {PeriodType.MAP: "map"}


class StatusCode(IntEnum):
    """Where a match is in its life. The same codes say where one of its maps is."""

    #: Play has not begun.
    NOT_STARTED = 0
    #: Being played.
    LIVE = 1
    #: Finished, the result stands.
    CLOSED = 4
    #: Will not be played (to the end).
    CANCELLED = 5


STATUS_CODE_TEXT = {
    StatusCode.NOT_STARTED: "0",
    StatusCode.LIVE: "1",
    StatusCode.CLOSED: "4",
    StatusCode.CANCELLED: "5",
}


class Team(IntEnum):
    """Which of the two teams, by its place in the match."""

    #: The team listed first.
    HOME = 1
    #: The team listed second.
    AWAY = 2


TEAM_TEXT = {Team.HOME: "1", Team.AWAY: "2"}


class PeriodScore(msgspec.Struct, frozen=True, kw_only=True):
    """The score of one map of the series.

    Attributes:
        type: The kind of period.
        number: Which map of the series, counted from 1.
        match_status_code: Whether this map is still to come, being played or over: the one sure sign of the
            current map.
        home_score: 1 when home won this map, else 0.
        away_score: 1 when away won this map, else 0.
        home_won_rounds: Rounds won by home on this map; left out until the map has begun.
        away_won_rounds: Rounds won by away on this map; left out until the map has begun.
    """

    type: PeriodType
    number: int
    match_status_code: StatusCode
    home_score: int
    away_score: int
    home_won_rounds: int | None = None
    away_won_rounds: int | None = None


class Scoreboard(msgspec.Struct, frozen=True, kw_only=True):
    """The map being played.

    Attributes:
        current_ct_team: The team that plays the counter-terrorist side now; left out until the server says.
        home_won_rounds: Rounds won by home on the current map.
        away_won_rounds: Rounds won by away on the current map.
        current_round: The round being played, counted from 1 on each map; left out between rounds.
    """

    current_ct_team: Team | None = None
    home_won_rounds: int
    away_won_rounds: int
    current_round: int | None = None


def render_scoreboard(node: Scoreboard) -> str:
    """The element `<scoreboard>`."""
    x_current_ct_team = (
        "" if node.current_ct_team is None else f' current_ct_team="{TEAM_TEXT[node.current_ct_team]}"'
    )
    x_current_round = "" if node.current_round is None else f' current_round="{node.current_round}"'
    return (
        f"<scoreboard"
        f"{x_current_ct_team}"
        f' home_won_rounds="{node.home_won_rounds}"'
        f' away_won_rounds="{node.away_won_rounds}"'
        f"{x_current_round}"
        "/>"
    )


class PeriodScores(msgspec.Struct, frozen=True, kw_only=True):
    """The maps of the series in the order of play.

    Attributes:
        period_score: One map.
    """

    period_score: tuple[PeriodScore, ...] = ()


def render_period_scores(node: PeriodScores) -> str:
    """The element `<period_scores>`."""
    x_period_score = ""
    for leaf in node.period_score:
        leaf_home_won_rounds = (
            "" if leaf.home_won_rounds is None else f' home_won_rounds="{leaf.home_won_rounds}"'
        )
        leaf_away_won_rounds = (
            "" if leaf.away_won_rounds is None else f' away_won_rounds="{leaf.away_won_rounds}"'
        )
        x_period_score += (
            "<period_score"
            f' type="{PERIOD_TYPE_TEXT[leaf.type]}"'
            f' number="{leaf.number}"'
            f' match_status_code="{STATUS_CODE_TEXT[leaf.match_status_code]}"'
            f' home_score="{leaf.home_score}"'
            f' away_score="{leaf.away_score}"'
            f"{leaf_home_won_rounds}"
            f"{leaf_away_won_rounds}"
            "/>"
        )
    content = f"{x_period_score}"
    end = f">{content}</period_scores>" if content else "/>"
    return f"<period_scores{end}"
