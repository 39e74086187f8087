"""Combinations, and the states that they were priced by."""

from piccolo.columns import UUID, Array, BigInt, Bytea, DoublePrecision, Numeric, Text
from piccolo.table import Table

from app.store.tables.dialect import DIALECT, Json


class Combination(Table, tablename="combination", db=DIALECT):
    """`domain.combination.Combination`, one column per field. `match_ids` are those of its `matches`."""

    id = UUID(primary_key=True)
    tenant_id = UUID()
    created_at = BigInt()
    odds = Numeric()
    probability = DoublePrecision()
    legs = Json()
    matches = Json()
    match_ids = Array(base_column=UUID())
    request_id = Text(null=True, default=None)
    remade = Json(null=True, default=None)


class PricedState(Table, tablename="priced_state", db=DIALECT):
    """What combinations of one match were priced by: `store.combinations.PricedState`, as JSON and compressed
    (zlib), under the digest of the JSON. The key is (match_id, digest)."""

    match_id = UUID(primary_key=True)
    digest = Bytea()
    body = Bytea()
