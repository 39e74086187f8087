"""Matches, their markets, and what happened in them."""

from piccolo.columns import UUID, BigInt, Boolean, Bytea, DoublePrecision, Integer, Numeric, SmallInt, Text
from piccolo.table import Table

from app.store.tables.dialect import DIALECT, Computed, ComputedBoolean, Json


class Match(Table, tablename="match", db=DIALECT):
    """One row per match: `state` is the whole `domain.match.Match`, the columns are those that queries use.

    `last_stamp` and `last_seq` take precedence over those in `state`: `changes.append` writes both, and
    `recovery_queries.assign_timestamps` the first.
    `closed_at`, which only `changes.append` writes, is the timestamp at which the feed published that the
    match is over.
    `reprice_at` is when (Unix ms) its prices may next change because time passes, NULL if not before
    something happens. `reference_state` has the fields of the state that version 0.2.0 does not know, and
    takes precedence over `state`. `references_due_at` is when (Unix ms) reference prices must be looked at
    again before play. The database computes `sort_time` (Unix ms), by which lists are sorted, and `in_lists`
    from the other columns.
    """

    id = UUID(primary_key=True)
    number = BigInt(unique=True)
    status = Text()
    home = Text()
    away = Text()
    event = Text()
    home_id = Integer(null=True, default=None)
    away_id = Integer(null=True, default=None)
    tournament_id = Integer(null=True, default=None)
    scheduled_at = BigInt(null=True, default=None)
    started_at = BigInt(null=True, default=None)
    finished_at = BigInt(null=True, default=None)
    suspended = Text()
    last_arrived_at = BigInt()
    last_stamp = BigInt()
    last_seq = BigInt()
    closed_at = BigInt(null=True, default=None)
    reprice_at = BigInt(null=True, default=None)
    state = Json()
    best_of = SmallInt(default=1)
    score_home = SmallInt()
    score_away = SmallInt()
    map_name = Text()
    reference_state = Json(null=True, default=None)
    references_due_at = BigInt(null=True, default=None)
    sort_time = Computed()
    in_lists = ComputedBoolean()


class ReferencePrice(Table, tablename="reference_price", db=DIALECT):
    """`store.reference_prices.ReferencePrice`, one column per field. Never updated; the key is (match_id,
    source, type_id, specifiers, at)."""

    match_id = UUID(primary_key=True)
    source = Text()
    type_id = Integer()
    specifiers = Text()
    at = BigInt()
    odds = DoublePrecision()
    received_at = BigInt()
    received_by = Text()


class PrematchPrice(Table, tablename="prematch_price", db=DIALECT):
    """`store.prematch_prices.PrematchPrice`, one column per field; the key is (match_id, type_id, specifiers,
    at)."""

    match_id = UUID(primary_key=True)
    type_id = Integer()
    specifiers = Text()
    at = BigInt()
    probability = DoublePrecision()
    own = DoublePrecision(null=True, default=None)
    odds = DoublePrecision(null=True, default=None)


class MatchCount(Table, tablename="match_count", db=DIALECT):
    """How many listed matches are in each state: the sum over its shards, maintained by triggers."""

    status = Text(primary_key=True)
    shard = SmallInt()
    matches = BigInt()


class MatchReference(Table, tablename="match_reference", db=DIALECT):
    """An operator's own id of a match; `request` is the JSON by which it was bound."""

    reference = Text(primary_key=True)
    match_id = UUID()
    request = Json()


class Market(Table, tablename="market", db=DIALECT):
    """`domain.market.Market`, one column per field; the key is (match_id, type_id, specifiers)."""

    match_id = UUID(primary_key=True)
    type_id = Integer()
    specifiers = Text()
    status = SmallInt()
    odds = Numeric()
    probability = DoublePrecision()
    group = Text()
    reason = Text()
    result = Text(null=True, default=None)
    void_reason_id = Integer(null=True, default=None)
    rests_on = Text()
    settled_by = Text()
    opened_at = BigInt()
    priced_at = BigInt()
    offered_until = BigInt()
    first_opened_at = BigInt()
    phase = Text(default="before_play")
    group_size = SmallInt(default=2)
    margin_factor = DoublePrecision(default=1.0)
    favourite = Boolean(default=False)


class Round(Table, tablename="round", db=DIALECT):
    """A finished round; `id` is its history id within the match."""

    match_id = UUID(primary_key=True)
    id = Integer()
    map = SmallInt()
    number = SmallInt()
    void = Boolean()
    body = Json()


class TimelineEvent(Table, tablename="timeline_event", db=DIALECT):
    """A kill or bomb event; `id` is its history id within the match."""

    match_id = UUID(primary_key=True)
    id = Integer()
    map = SmallInt()
    round = SmallInt()
    void = Boolean()
    body = Json()


class LedgerEntry(Table, tablename="ledger_entry", db=DIALECT):
    """A settlement ledger entry; `id` is the change log's number. Never updated."""

    id = BigInt(primary_key=True)
    match_id = UUID()
    type_id = Integer()
    specifiers = Text()
    at = BigInt()
    body = Json()


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


class MatchInput(Table, tablename="match_input", db=DIALECT):
    """What one transaction on a match was given: `commands.match_inputs`, compressed. The database numbers
    them; as the match is locked, in the order of the transactions. The key is (match_id, id). Never
    updated."""

    match_id = UUID(primary_key=True)
    id = Computed()
    body = Bytea()


class Coefficients(Table, tablename="coefficients", db=DIALECT):
    """A version of the numbers that prices rest on (`trading.coefficients`): its JSON and the hash of that,
    and when (Unix ms) a match was first priced by it. Never updated."""

    sha256 = Text(primary_key=True)
    at = BigInt()
    body = Bytea()
