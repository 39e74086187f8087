"""What finished matches say about teams, players and maps: a row a team or player and map."""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from app.domain.analytics import PlayerOnMap, PlayerTally, TeamLine, TeamOnMap
from app.store.entrants import folded
from app.store.transaction import Row, Tx

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
    """A player's counts on one map; `name` is the one that they played under."""

    match_id: UUID
    account: int
    name: str
    map_name: str
    finished_at: int
    tally: PlayerTally


async def replace(
    tx: Tx, match_id: UUID, finished_at: int, teams: Sequence[TeamOnMap], players: Sequence[PlayerOnMap]
) -> None:
    """Let these be the match's rows, whatever they were before."""
    for table in ("team_map", "player_map"):
        await tx.execute(f"DELETE FROM {table} WHERE match_id = $1", match_id)
    for one in teams:
        await tx.execute(
            """
            INSERT INTO team_map (match_id, map, slot, team, team_id, map_name, finished_at, body)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            """,
            *(match_id, one.map, one.slot, folded(one.team), one.team_id, one.map_name, finished_at),
            _encode(one.line),
        )
    columns = [
        (one.map, one.player.account, one.player.name, folded(one.team), one.map_name, _encode(one.tally))
        for one in players
    ]
    if columns:
        await tx.execute(
            """
            INSERT INTO player_map (match_id, finished_at, map, account, name, team, map_name, body)
            SELECT $1, $2, * FROM unnest($3::smallint[], $4::bigint[], $5::text[], $6::text[], $7::text[],
                $8::json[])
            """,
            match_id,
            finished_at,
            *(list(column) for column in zip(*columns, strict=True)),
        )


async def of_team(tx: Tx, team: str, team_id: int | None, *, since: int = 0, limit: int) -> list[MapLine]:
    """The newest `limit` maps of a team since `since` (ms): those under its number, and those under its
    name in matches that give no number."""
    rows = await tx.fetch(
        """
        SELECT match_id, map_name, finished_at, body FROM team_map
        WHERE (team_id = $1 OR (team_id IS NULL AND team = $2)) AND finished_at >= $3
        ORDER BY finished_at DESC, match_id, map DESC LIMIT $4
        """,
        team_id,
        folded(team),
        since,
        limit,
    )
    return [_map_line(row) for row in rows]


async def of_map(tx: Tx, map_name: str, *, since: int = 0, limit: int) -> list[MapLine]:
    """The newest `limit` lines of a map, two for each time it was played; "" for every map."""
    rows = await tx.fetch(
        """
        SELECT match_id, map_name, finished_at, body FROM team_map
        WHERE ($1 = '' OR map_name = $1) AND finished_at >= $2 ORDER BY finished_at DESC, match_id LIMIT $3
        """,
        map_name,
        since,
        limit,
    )
    return [_map_line(row) for row in rows]


async def of_player(tx: Tx, account: int, *, since: int = 0, limit: int) -> list[MapTally]:
    """The newest `limit` maps of a player."""
    rows = await tx.fetch(
        """
        SELECT match_id, account, name, map_name, finished_at, body FROM player_map
        WHERE account = $1 AND finished_at >= $2 ORDER BY finished_at DESC, match_id, map DESC LIMIT $3
        """,
        account,
        since,
        limit,
    )
    return [_map_tally(row) for row in rows]


async def of_roster(tx: Tx, team: str, *, since: int = 0, limit: int) -> list[MapTally]:
    """The newest `limit` tallies of those who played for a team of this name."""
    rows = await tx.fetch(
        """
        SELECT match_id, account, name, map_name, finished_at, body FROM player_map
        WHERE team = $1 AND finished_at >= $2 ORDER BY finished_at DESC, match_id, map DESC, name LIMIT $3
        """,
        folded(team),
        since,
        limit,
    )
    return [_map_tally(row) for row in rows]


def _map_line(row: Row) -> MapLine:
    return MapLine(row["match_id"], row["map_name"], row["finished_at"], _line(row["body"]))


def _map_tally(row: Row) -> MapTally:
    return MapTally(
        row["match_id"],
        row["account"],
        row["name"],
        row["map_name"],
        row["finished_at"],
        _tally(row["body"]),
    )
