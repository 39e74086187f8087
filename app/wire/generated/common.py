"""Generated from `schemas/common.xsd` by `python -m codegen`: do not edit."""

from enum import IntEnum, StrEnum

import msgspec

from app.wire.text import escaped


class MarketStatus(IntEnum):
    """What may be done with a market. No other status is ever sent."""

    #: Bets may be taken at the odds shown.
    ACTIVE = 1
    #: Not on offer, neither settled nor void.
    INACTIVE = 0
    #: Stop taking bets at once; it may come back.
    SUSPENDED = -1
    #: Decided; a bet_settlement tells the result.
    SETTLED = -3
    #: Void; a bet_cancel tells why.
    CANCELLED = -4


MARKET_STATUS_TEXT = {
    MarketStatus.ACTIVE: "1",
    MarketStatus.INACTIVE: "0",
    MarketStatus.SUSPENDED: "-1",
    MarketStatus.SETTLED: "-3",
    MarketStatus.CANCELLED: "-4",
}


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


class EventStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a match.

    Attributes:
        status: Where the match is in its life.
        match_status: The same, as an id of the match status dictionary.
        home_score: Maps won by home.
        away_score: Maps won by away.
        winner_id: The competitor that won; sent once the match is closed.
        scoreboard_available: Whether a scoreboard follows.
        period_scores: The score by map.
        scoreboard: The map being played, while one is.
    """

    status: StatusCode
    match_status: StatusCode
    home_score: int
    away_score: int
    winner_id: str | None = None
    scoreboard_available: bool | None = None
    period_scores: PeriodScores | None = None
    scoreboard: Scoreboard | None = None


def render_event_status(node: EventStatus) -> str:
    """The element `<sport_event_status>`."""
    x_winner_id = "" if node.winner_id is None else f' winner_id="{escaped[node.winner_id]}"'
    x_scoreboard_available = (
        ""
        if node.scoreboard_available is None
        else f' scoreboard_available="{"1" if node.scoreboard_available else "0"}"'
    )
    x_period_scores = "" if node.period_scores is None else render_period_scores(node.period_scores)
    x_scoreboard = "" if node.scoreboard is None else render_scoreboard(node.scoreboard)
    content = f"{x_period_scores}{x_scoreboard}"
    end = f">{content}</sport_event_status>" if content else "/>"
    return (
        f"<sport_event_status"
        f' status="{STATUS_CODE_TEXT[node.status]}"'
        f' match_status="{STATUS_CODE_TEXT[node.match_status]}"'
        f' home_score="{node.home_score}"'
        f' away_score="{node.away_score}"'
        f"{x_winner_id}"
        f"{x_scoreboard_available}"
        f"{end}"
    )
