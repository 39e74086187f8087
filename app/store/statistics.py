"""Statistics of finished matches: a row per team or player and map."""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from app.domain.analytics import PlayerOnMap, PlayerTally, TeamLine, TeamOnMap
from app.store.entrants import folded
from app.store.transaction import Row, Tx

EVER = 2**62  #: later than anything
_LINE = "match_id, map_name, finished_at, body"
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


async def replace(
    tx: Tx, match_id: UUID, finished_at: int, teams: Sequence[TeamOnMap], players: Sequence[PlayerOnMap]
) -> None:
    """Replace the match's rows by these."""
    for table in ("team_map", "player_map"):
        await tx.execute(f"DELETE FROM {table} WHERE match_id = $1", match_id)
    for one in teams:
        await tx.execute(
            """
            INSERT INTO team_map (match_id, map, slot, team, team_id, map_name, finished_at, body)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            """,
            *(match_id, one.map, one.team, folded(one.name), one.team_id, one.map_name, finished_at),
            _encode(one.line),
        )
    columns = [
        (
            *(one.map, one.player.account, one.player.name, folded(one.team_name), one.map_name),
            _encode(one.tally),
        )
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


async def of_team(tx: Tx, team_id: int, *, since: int = 0, until: int = EVER, limit: int) -> list[MapLine]:
    """The newest `limit` maps of a team, of matches that finished in this period (ms), `until` excluded."""
    rows = await tx.fetch(
        f"""
        SELECT {_LINE} FROM team_map WHERE team_id = $1::bigint AND finished_at >= $2 AND finished_at < $3
        ORDER BY finished_at DESC, match_id, map DESC LIMIT $4
        """,
        *(team_id, since, until, limit),
    )
    return [_map_line(row) for row in rows]


async def of_matches(tx: Tx, team_id: int, match_ids: Sequence[UUID]) -> list[MapLine]:
    """A team's counts on the maps of these matches."""
    rows = await tx.fetch(
        f"SELECT {_LINE} FROM team_map WHERE match_id = ANY($1) AND team_id = $2::bigint", match_ids, team_id
    )
    return [_map_line(row) for row in rows]


async def of_maps(
    tx: Tx, names: Sequence[str], *, since: int = 0, until: int = EVER, limit: int
) -> list[MapLine]:
    """The newest `limit` lines of each of these maps, two per match in which it was played."""
    rows = await tx.fetch(
        f"""
        SELECT {_LINE} FROM unnest($1::text[]) AS wanted (name), LATERAL (
            SELECT * FROM team_map WHERE map_name = wanted.name AND finished_at >= $2 AND finished_at < $3
            ORDER BY finished_at DESC, match_id, map LIMIT $4
        ) AS newest
        """,
        *(names, since, until, limit),
    )
    return [_map_line(row) for row in rows]


async def of_players(
    tx: Tx, accounts: Sequence[int], *, since: int = 0, until: int = EVER, limit: int
) -> list[MapTally]:
    """The newest `limit` maps of each of these players, for any team."""
    rows = await tx.fetch(
        """
        SELECT newest.* FROM unnest($1::bigint[]) AS wanted (account), LATERAL (
            SELECT match_id, account, name, map_name, finished_at, body FROM player_map
            WHERE account = wanted.account AND finished_at >= $2 AND finished_at < $3
            ORDER BY finished_at DESC, match_id, map DESC LIMIT $4
        ) AS newest
        """,
        *([account for account in accounts if account], since, until, limit),
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
