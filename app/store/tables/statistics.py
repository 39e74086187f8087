from piccolo.columns import UUID, BigInt, Integer, SmallInt, Text
from piccolo.table import Table

from app.store.tables.columns import Json
from app.store.tables.dialect import DIALECT


class TeamMap(Table, tablename="team_map", db=DIALECT):
    """A team's counts on one map of a finished match; the key is (match_id, map, slot)."""

    match_id = UUID(primary_key=True)
    map = SmallInt()
    slot = Text()
    team = Text()
    team_id = Integer(null=True, default=None)
    map_name = Text()
    finished_at = BigInt()
    body = Json()


class PlayerMap(Table, tablename="player_map", db=DIALECT):
    """A player's counts on one map of a finished match; the key is (match_id, map, account, name)."""

    match_id = UUID(primary_key=True)
    map = SmallInt()
    account = BigInt()
    name = Text()
    team = Text()
    map_name = Text()
    finished_at = BigInt()
    body = Json()
