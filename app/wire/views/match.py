"""A match as JSON, each field group as far as the key's scopes open it."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from app.domain.entrants import TeamLogos
from app.domain.ids import match_urn
from app.domain.loadout import Loadout
from app.domain.market import Market
from app.domain.match import MapPlay, Match, MatchPlayer, Round, Side, TimelineEvent, other_side
from app.domain.match_info import VideoStream
from app.domain.sides import team_of
from app.domain.suspension_reasons import match_reason_code
from app.wire.fields import Group, Groups
from app.wire.text import TeamName, iso_time, team_name, web_url
from app.wire.views.history import EventView, PlayerView, RoundView, event_view, player_stats, round_view
from app.wire.views.offers import MarketView, market_view


class MapView(msgspec.Struct, frozen=True):
    """One map of the series; scores are rounds won, `side_a` is the side that team_a plays now."""

    number: int
    name: str
    status: str
    score_a: int
    score_b: int
    winner: TeamName | None
    side_a: Side | None
    picked_by: TeamName | None
    started_at: str | None
    finished_at: str | None


class VodAnchorView(msgspec.Struct, frozen=True, kw_only=True):
    """`offset_seconds` after its beginning, the recording shows what happened at `time`."""

    time: str | None
    offset_seconds: float


class StreamView(msgspec.Struct, frozen=True, kw_only=True):
    """Where the match can be watched; `language` is a two-letter code. What happened after an anchor, up to
    the next one, is to be seen as many seconds after it. Without anchors it is unknown where."""

    url: str
    language: str | None
    name: str | None
    vod_anchors: tuple[VodAnchorView, ...]


class LoadoutView(msgspec.Struct, frozen=True):
    """A player in the round being played. `money` is null until the log contains it; `weapons` are named as
    the game spells them, knives left out."""

    name: str
    team: TeamName | None
    side: Side
    alive: bool
    hp: int
    armour: int
    helmet: bool
    defuse_kit: bool
    money: int | None
    weapons: tuple[str, ...]


class ScoreboardView(msgspec.Struct, frozen=True):
    """The round being played; `phase` is freeze, live or over. `started_at` is null until it is live."""

    map: int
    map_name: str
    round: int
    phase: str
    started_at: str | None
    score_a: int
    score_b: int
    side_a: Side | None
    side_b: Side | None
    alive_a: int
    alive_b: int
    bomb_planted: bool
    players: tuple[LoadoutView, ...] = ()


class MatchView(msgspec.Struct, frozen=True, kw_only=True):
    """The match resource. `score_a`, `score_b` are maps won; `urn` is the match's id in the feed. Logos are
    those of the teams, null where no address is known."""

    id: str | UnsetType = UNSET
    urn: str | UnsetType = UNSET
    team_a: str | UnsetType = UNSET
    team_b: str | UnsetType = UNSET
    team_a_logo: str | None | UnsetType = UNSET
    team_b_logo: str | None | UnsetType = UNSET
    event: str | UnsetType = UNSET
    bo_type: str | UnsetType = UNSET
    status: str | UnsetType = UNSET
    scheduled_at: str | None | UnsetType = UNSET
    score_a: int | UnsetType = UNSET
    score_b: int | UnsetType = UNSET
    map_name: str | None | UnsetType = UNSET
    started_at: str | None | UnsetType = UNSET
    finished_at: str | None | UnsetType = UNSET
    winner: TeamName | None | UnsetType = UNSET
    maps: tuple[MapView, ...] | UnsetType = UNSET
    rounds: tuple[RoundView, ...] | UnsetType = UNSET
    events: tuple[EventView, ...] | UnsetType = UNSET
    streams: tuple[StreamView, ...] | UnsetType = UNSET
    demo_url: str | None | UnsetType = UNSET
    player_stats: tuple[PlayerView, ...] | UnsetType = UNSET
    markets: tuple[MarketView, ...] | UnsetType = UNSET
    scoreboard: ScoreboardView | None | UnsetType = UNSET
    external_match_id: str | None | UnsetType = UNSET
    data_delay_seconds: int | UnsetType = UNSET
    suspended: bool | UnsetType = UNSET
    suspended_reason: str | None | UnsetType = UNSET
    suspended_reason_code: str | None | UnsetType = UNSET
    booking_status: str | UnsetType = UNSET
    source_url: str | None | UnsetType = UNSET


class SummaryView(msgspec.Struct, frozen=True, kw_only=True):
    """A match in short: its result, or its present score. Scores are as in the match resource."""

    id: str
    urn: str
    team_a: str
    team_b: str
    event: str
    bo_type: str
    status: str
    scheduled_at: str | None
    started_at: str | None
    finished_at: str | None
    score_a: int
    score_b: int
    winner: TeamName | None
    maps: tuple[MapView, ...]


class MatchParts(msgspec.Struct, frozen=True):
    """A match and its parts, as far as they were read; `logos` None: they were not."""

    match: Match
    rounds: Sequence[Round] = ()
    events: Sequence[TimelineEvent] = ()
    markets: Sequence[Market] = ()
    booked: bool = True
    logos: TeamLogos | None = None


def basic_view(match: Match, logos: TeamLogos | None = None) -> MatchView:
    """The shape of list rows; without `logos` it has none."""
    return MatchView(**_basic(MatchParts(match, logos=logos)))


def match_view(parts: MatchParts, groups: Groups) -> MatchView:
    """The single resource, with the fields of `groups`."""
    fields: dict[str, Any] = {}
    for group, build in _BUILDERS.items():
        if group in groups:
            fields |= build(parts)
    if Group.DETAIL in groups:
        fields["events"] = _events(parts, internal=Group.INTERNALS in groups)
    return MatchView(**fields)


def summary_view(match: Match) -> SummaryView:
    return SummaryView(**_outline(match), **_read(MatchParts(match)))


def _basic(parts: MatchParts) -> dict[str, Any]:
    play, logos = parts.match.map, parts.logos
    fields = _outline(parts.match) | {"map_name": (play.name or None) if play else None}
    if logos is not None:
        fields["team_a_logo"] = web_url(logos.home)
        fields["team_b_logo"] = web_url(logos.away)
    return fields


def _outline(match: Match) -> dict[str, Any]:
    return {
        "id": str(match.id),
        "urn": match_urn(match.number),
        "team_a": match.home,
        "team_b": match.away,
        "event": match.event,
        "bo_type": f"bo{match.best_of}",
        "status": match.status.value,
        "scheduled_at": iso_time(match.scheduled_at),
        "score_a": match.score_home,
        "score_b": match.score_away,
    }


def _read(parts: MatchParts) -> dict[str, Any]:
    match = parts.match
    return {
        "started_at": iso_time(match.started_at),
        "finished_at": iso_time(match.finished_at),
        "winner": team_name(match.winner),
        "maps": tuple(map(map_view, match.maps)),
    }


def _detail(parts: MatchParts) -> dict[str, Any]:
    return {
        "rounds": tuple(round_view(played) for played in parts.rounds if not played.void),
        "streams": tuple(map(stream_view, parts.match.info.streams)),
        "demo_url": parts.match.info.demo_url or None,
        "player_stats": player_stats(parts.events, parts.match.other_deaths),
    }


def _events(parts: MatchParts, *, internal: bool) -> tuple[EventView, ...]:
    streams = parts.match.info.streams
    return tuple(event_view(one, streams, internal=internal) for one in parts.events if not one.void)


def _markets(parts: MatchParts) -> dict[str, Any]:
    return {"markets": tuple(map(market_view, parts.markets))}


def _internals(parts: MatchParts) -> dict[str, Any]:
    reason = parts.match.suspended
    return {
        "external_match_id": parts.match.info.external_id or None,
        "data_delay_seconds": parts.match.info.data_delay_seconds,
        "suspended": bool(reason),
        "suspended_reason": reason or None,
        "suspended_reason_code": match_reason_code(parts.match),
        "booking_status": "booked" if parts.booked else "unbooked",
        "source_url": parts.match.info.source_url or None,
    }


def stream_view(stream: VideoStream) -> StreamView:
    anchors = tuple(
        VodAnchorView(time=iso_time(one.at), offset_seconds=one.offset_seconds) for one in stream.vod_anchors
    )
    return StreamView(
        url=stream.url, language=stream.language or None, name=stream.name or None, vod_anchors=anchors
    )


def map_view(play: MapPlay) -> MapView:
    return MapView(
        number=play.number,
        name=play.name,
        status=play.status,
        score_a=play.home_score,
        score_b=play.away_score,
        winner=team_name(play.winner),
        side_a=play.home_side,
        picked_by=team_name(play.picked_by),
        started_at=iso_time(play.started_at),
        finished_at=iso_time(play.finished_at),
    )


def scoreboard_view(match: Match) -> ScoreboardView | None:
    """The round being played, or None while none is."""
    play, current = match.map, match.current
    if play is None or current is None:
        return None
    side = play.home_side
    return ScoreboardView(
        map=play.number,
        map_name=play.name,
        round=current.number,
        phase=current.phase,
        started_at=iso_time(current.started_at),
        score_a=play.home_score,
        score_b=play.away_score,
        side_a=side,
        side_b=other_side(side) if side else None,
        alive_a=current.alive_home,
        alive_b=current.alive_away,
        bomb_planted=any(event.type == "bomb_planted" for event in current.events),
        players=tuple(
            loadout_view(match, row) for row in sorted(match.loadouts, key=lambda row: (row.side, row.name))
        ),
    )


def loadout_view(match: Match, row: Loadout) -> LoadoutView:
    return LoadoutView(
        name=row.name,
        team=team_name(team_of(match, MatchPlayer(row.account, row.name), row.side)),
        side=row.side,
        alive=row.health > 0,
        hp=row.health,
        armour=row.armour,
        helmet=row.helmet,
        defuse_kit=row.kit,
        money=row.money,
        weapons=row.weapons,
    )


_BUILDERS = {
    Group.BASIC: _basic,
    Group.READ: _read,
    Group.DETAIL: _detail,
    Group.MARKETS: _markets,
    Group.SCOREBOARD: lambda parts: {"scoreboard": scoreboard_view(parts.match)},
    Group.INTERNALS: _internals,
}
