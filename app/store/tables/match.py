from piccolo.columns import JSON, UUID, BigInt, Integer, Text
from piccolo.table import Table

from app.store.tables.dialect import DIALECT


class Match(Table, tablename="match", db=DIALECT):
    """One row a match: `state` is the whole `domain.match.Match`, the columns are what queries ask for.

    `last_stamp` and `last_seq` are written by `changes.append` alone and outrank those in `state`.
    """

    id = UUID(primary_key=True)
    number = BigInt(unique=True)
    status = Text()
    home = Text()
    away = Text()
    event = Text()
    home_id = Integer(null=True)
    away_id = Integer(null=True)
    tournament_id = Integer(null=True)
    scheduled_at = BigInt(null=True)
    started_at = BigInt(null=True)
    finished_at = BigInt(null=True)
    suspended = Text()
    last_fact_at = BigInt()
    last_stamp = BigInt()
    last_seq = BigInt()
    state = JSON()
