"""Statistics of finished matches: a row per team or player and map."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec
from piccolo.query import Delete, Insert, Select
from piccolo.querystring import QueryString

from app.domain.analytics import PlayerOnMap, PlayerTally, TeamLine, TeamOnMap
from app.store.entrants import folded
from app.store.prepared import prepared, reading_rows
from app.store.sql import any_of, columns_of
from app.store.statements import reads, writes
from app.store.tables.match import PlayerMap, TeamMap
from app.store.transaction import Row, Tx

EVER = 2**62  #: later than anything
_LINE = (TeamMap.match_id, TeamMap.map_name, TeamMap.finished_at, TeamMap.body)
_encode = msgspec.json.Encoder().encode
_line = msgspec.json.Decoder(TeamLine).decode
_tally = msgspec.json.Decoder(PlayerTally).decode


class MapLine(msgspec.Struct, frozen=True):
    """A team's counts on one map of a match that finished at `finished_at` (ms)."""

    match_id: UUID
    map_name: str
    finished_at: int
    line: TeamLine


class MapTally(msgspec.Struct, frozen=True):
    """A player's counts on one map; `name` is the player's name in that match."""

    match_id: UUID
    account: int
    name: str
    map_name: str
    finished_at: int
    tally: PlayerTally


def _map_line(row: Row) -> MapLine:
    return MapLine(row["match_id"], row["map_name"], row["finished_at"], _line(row["body"]))


async def replace(
    tx: Tx, match_id: UUID, finished_at: int, teams: Sequence[TeamOnMap], players: Sequence[PlayerOnMap]
) -> None:
    """Replace the match's rows by these."""
    for table in (TeamMap, PlayerMap):
        await tx.change(_delete(match_id, table=table))
    for one in teams:
        place = (match_id, one.map, one.team, folded(one.name), one.team_id, one.map_name, finished_at)
        await tx.change(_add_team(*place, _encode(one.line)))
    rows = [
        (
            *(one.map, one.player.account, one.player.name, folded(one.team_name), one.map_name),
            _encode(one.tally),
        )
        for one in players
    ]
    if rows:
        await tx.execute(writes.ADD_PLAYER_MAPS, match_id, finished_at, *columns_of(rows))


async def of_team(tx: Tx, team_id: int, *, since: int = 0, until: int = EVER, limit: int) -> list[MapLine]:
    """The newest `limit` maps of a team, of matches that finished in this period (ms), `until` excluded."""
    rows = await tx.run(_of_team(team_id, since, until, limit=limit))
    return [_map_line(row) for row in rows]


@reading_rows(_map_line)
def of_matches(team_id: int, match_ids: Sequence[UUID], /) -> Select[Any]:
    """A team's counts on the maps of these matches."""
    team = QueryString("{} = {}::bigint", TeamMap.team_id, team_id)
    return TeamMap.select(*_LINE).where(any_of(TeamMap.match_id, match_ids), team)


async def of_maps(
    tx: Tx, names: Sequence[str], *, since: int = 0, until: int = EVER, limit: int
) -> list[MapLine]:
    """The newest `limit` lines of each of these maps, two per match in which it was played."""
    rows = await tx.fetch(reads.MAPS, names, since, until, limit)
    return [_map_line(row) for row in rows]


async def of_players(
    tx: Tx, accounts: Sequence[int], *, since: int = 0, until: int = EVER, limit: int
) -> list[MapTally]:
    """The newest `limit` maps of each of these players, for any team."""
    known = [account for account in accounts if account]
    rows = await tx.fetch(reads.MAPS_OF_PLAYERS, known, since, until, limit)
    return [_map_tally(row) for row in rows]


def _map_tally(row: Row) -> MapTally:
    return MapTally(
        row["match_id"],
        row["account"],
        row["name"],
        row["map_name"],
        row["finished_at"],
        _tally(row["body"]),
    )


@prepared
def _delete(match_id: UUID, *, table: type[TeamMap | PlayerMap]) -> Delete:
    return table.delete().where(table.match_id == match_id)


@prepared
def _add_team(*values: object) -> Insert[Any]:
    names = ("match_id", "map", "slot", "team", "team_id", "map_name", "finished_at", "body")
    row: dict[str, Any] = dict(zip(names, values, strict=True))
    return TeamMap.insert(TeamMap(**row))


@prepared
def _of_team(team_id: int, since: int, until: int, *, limit: int) -> Select[Any]:
    team = QueryString("{} = {}::bigint", TeamMap.team_id, team_id)  # a client's number may be larger
    query = TeamMap.select(*_LINE).where(team, TeamMap.finished_at >= since, TeamMap.finished_at < until)
    query = query.order_by(TeamMap.finished_at, ascending=False).order_by(TeamMap.match_id)
    return query.order_by(TeamMap.map, ascending=False).limit(limit)
