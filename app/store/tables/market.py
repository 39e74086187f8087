from piccolo.columns import UUID, BigInt, DoublePrecision, Integer, Numeric, SmallInt, Text
from piccolo.table import Table

from app.store.tables.dialect import DIALECT


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
