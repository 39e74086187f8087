"""The signed ledger."""

from piccolo.columns import BigInt, Boolean, Bytea, Integer, SmallInt, Text
from piccolo.table import Table

from app.store.tables.dialect import DIALECT, Json


class LedgerLeaf(Table, tablename="ledger_leaf", db=DIALECT):
    """`domain.ledger_tree.StoredLeaf`, one column per field. Never updated, and never deleted: without its
    entry in the settlement ledger a leaf is a hash."""

    entry_id = BigInt(primary_key=True)
    day = Text()
    index = Integer()
    hash = Bytea()
    salt = Bytea()
    price_salt = Bytea()
    price_count = Integer()
    price_first_seq = BigInt()
    price_digest = Bytea()


class LedgerHead(Table, tablename="ledger_head", db=DIALECT):
    """A signed head: `body` has the bytes that were signed, `signatures` a list of
    `domain.ledger_tree.Signature`. Never updated."""

    number = BigInt(primary_key=True)
    body = Bytea()
    signatures = Json()


class LedgerKey(Table, tablename="ledger_key", db=DIALECT):
    """A key that signs heads, or did until `retired_at` (Unix ms). `private_key` is encrypted, and NULL once
    the key is retired."""

    id = Text(primary_key=True)
    public_key = Bytea()
    private_key = Bytea(null=True, default=None)
    created_at = BigInt()
    retired_at = BigInt(null=True, default=None)


class LedgerState(Table, tablename="ledger_state", db=DIALECT):
    """One row, which is locked by the process that writes leaves or heads: `entry_id` is the ledger entry up
    to which there are leaves, `restored` whether a restore or a fail-over waits for a head that says so."""

    id = SmallInt(primary_key=True)
    entry_id = BigInt()
    restored = Boolean(default=False)
