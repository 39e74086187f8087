"""Rounds, timeline events and what players did, as JSON."""

from collections.abc import Iterable, Sequence

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from app.domain.analytics import tallies
from app.domain.map_play import NO_DETAILS
from app.domain.match import MatchPlayer, OtherDeath, Round, Side, TimelineEvent
from app.domain.match_info import VideoStream, vod_position
from app.wire.text import TeamName, iso_time, team_name


class RoundView(msgspec.Struct, frozen=True, kw_only=True):
    """A finished round that counts. Scores are rounds won after it on this map; `bomb_site` only when
    the bomb was planted. `equipment_a` and `equipment_b` are what each team carried when play began, in
    dollars; absent where the log did not show it. Settlements name its `id` in `rests_on`."""

    id: int
    map: int
    round: int
    winner: TeamName | None
    winning_side: Side
    win_reason: str
    score_a: int
    score_b: int
    bomb_site: str | UnsetType = UNSET
    equipment_a: int | UnsetType = UNSET
    equipment_b: int | UnsetType = UNSET
    started_at: str | None
    ended_at: str | None


class EventMeta(msgspec.Struct, frozen=True, kw_only=True):
    """What the log says of an event beyond its other fields, as far as it does: Steam account numbers, where
    both players of a kill stood (x, y, z), further words about the kill as the log spells them, and
    `flash_assist` where the assister had blinded the victim."""

    actor_account: int | UnsetType = UNSET
    target_account: int | UnsetType = UNSET
    assister_account: int | UnsetType = UNSET
    actor_position: tuple[int, ...] | UnsetType = UNSET
    target_position: tuple[int, ...] | UnsetType = UNSET
    flags: tuple[str, ...] | UnsetType = UNSET
    flash_assist: bool | UnsetType = UNSET


class EventView(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Something that happened in a round; fields that an event of its type has not are absent. `late`:
    it came after the round was decided, and decides nothing. Where an anchor of the match's `streams` shows
    it, the event is to be seen in the one of index `vod_stream` (from 0), `vod_offset_seconds` after its
    beginning. `meta` is for keys that see internals."""

    id: int
    type: str
    map: int
    round: int
    actor: str | UnsetType = UNSET
    actor_team: TeamName | None | UnsetType = UNSET
    side: Side | UnsetType = UNSET
    target: str | UnsetType = UNSET
    target_team: TeamName | None | UnsetType = UNSET
    victim_side: Side | UnsetType = UNSET
    assister: str | UnsetType = UNSET
    weapon: str | UnsetType = UNSET
    headshot: bool | UnsetType = UNSET
    penetrated: bool | UnsetType = UNSET
    bomb_site: str | UnsetType = UNSET
    late: bool | UnsetType = UNSET
    time: str | None
    time_offset_seconds: float
    vod_stream: int | UnsetType = UNSET
    vod_offset_seconds: float | UnsetType = UNSET
    meta: EventMeta | UnsetType = UNSET


class PlayerView(msgspec.Struct, frozen=True):
    """What a player did in the rounds that count; kills of team mates are not kills."""

    name: str
    team: TeamName
    kills: int
    deaths: int
    assists: int
    headshots: int


def round_view(played: Round) -> RoundView:
    home, away = played.worth
    return RoundView(
        id=played.id,
        map=played.map,
        round=played.number,
        winner=team_name(played.winner),
        winning_side=played.winning_side,
        win_reason=played.win_reason,
        score_a=played.home_score,
        score_b=played.away_score,
        bomb_site=played.bomb_site or UNSET,
        equipment_a=UNSET if home is None else home,
        equipment_b=UNSET if away is None else away,
        started_at=iso_time(played.started_at),
        ended_at=iso_time(played.ended_at),
    )


def event_view(
    event: TimelineEvent, streams: Sequence[VideoStream] = (), *, internal: bool = False
) -> EventView:
    """An event of the match that has these streams; `internal`: for a key that sees internals."""
    killed, actor, target = event.type == "kill", event.actor, event.target
    view = EventView(
        id=event.id,
        type=event.type,
        map=event.map,
        round=event.round,
        actor=actor.name if actor else UNSET,
        actor_team=team_name(event.actor_team) if actor else UNSET,
        side=event.side or UNSET,
        target=target.name if target else UNSET,
        target_team=team_name(event.target_team) if target else UNSET,
        victim_side=event.target_side or UNSET,
        weapon=event.weapon or UNSET,
        headshot=event.headshot if killed else UNSET,
        penetrated=event.penetrated if killed else UNSET,
        time=iso_time(event.at),
        time_offset_seconds=event.offset_ms / 1000,
    )
    more = _more(event, streams, internal)
    return replace(view, **more) if more else view


def _more(event: TimelineEvent, streams: Sequence[VideoStream], internal: bool) -> dict[str, object]:
    """The fields that few events have. A match has hundreds of events, and a call with more than 15 keyword
    arguments takes three times as long: CPython 3.11 passes them in a dictionary."""
    found: dict[str, object] = {}
    if event.assister:
        found["assister"] = event.assister.name
    if event.site:
        found["bomb_site"] = event.site
    if event.late:
        found["late"] = True
    if streams and (seen := vod_position(streams, event.at)):
        found |= {"vod_stream": seen.stream, "vod_offset_seconds": seen.offset_seconds}
    if internal:
        found["meta"] = _meta(event)
    return found


def _meta(event: TimelineEvent) -> EventMeta:
    details = event.details or NO_DETAILS
    return EventMeta(
        actor_account=_account(event.actor),
        target_account=_account(event.target),
        assister_account=_account(event.assister),
        actor_position=details.actor_position or UNSET,
        target_position=details.target_position or UNSET,
        flags=details.flags or UNSET,
        flash_assist=details.flash_assist or UNSET,
    )


def player_stats(events: Iterable[TimelineEvent], deaths: Iterable[OtherDeath]) -> tuple[PlayerView, ...]:
    """Every player seen in a kill or a death, by team, then most kills."""
    standing = [event for event in events if not event.void]
    rows = [
        PlayerView(
            player.name,
            team_name(team) or "team_a",
            tally.kills,
            tally.deaths,
            tally.assists,
            tally.headshots,
        )
        for player, team, tally in tallies(0, standing, deaths)
    ]
    return tuple(sorted(rows, key=lambda row: (row.team, -row.kills, row.name)))


def _account(player: MatchPlayer | None) -> int | UnsetType:
    return (player.account if player else 0) or UNSET
