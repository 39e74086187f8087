from piccolo.columns import JSON, UUID, BigInt, Boolean, Integer, SmallInt, Text
from piccolo.table import Table

from app.store.tables.dialect import DIALECT


class Match(Table, tablename="match", db=DIALECT):
    """One row a match: `state` is the whole `domain.match.Match`, the columns are what queries ask for.

    `later` holds the fields of the state that version 0.1.0 does not know, and outranks `state`, which a
    process of that version writes without them. `last_stamp` and `last_seq` are written by `changes.append`
    alone and outrank those in `state`, and so is `closed_at`, the stamp at which the feed said that the match
    is over. `place` and `listed` are made by the database of the others.
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
    closed_at = BigInt(null=True)
    state = JSON()
    later = JSON()
    best_of = SmallInt()
    score_home = SmallInt()
    score_away = SmallInt()
    map_name = Text()
    place = BigInt()
    listed = Boolean()


class MatchCount(Table, tablename="match_count", db=DIALECT):
    """How many listed matches are in each state: the sum over its shards, kept by the database."""

    status = Text(primary_key=True)
    shard = SmallInt()
    matches = BigInt()
