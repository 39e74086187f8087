"""The signed ledger: a leaf for each entry of the settlement ledger, and signed heads over the leaves.

`writer` follows the settlement ledger in the feed process; `keys` makes, encrypts and rotates the keys that
sign. `prices` computes the digest of a market's price history. The bytes are those of `domain.ledger_tree`,
and `docs/ledger.md` explains them to tenants.

Invariants:
- the order of leaves is that of the settlement ledger, which is the order of commits, without a gap;
- a leaf or a head is never changed, and the last head of a day covers all of its leaves;
- a transaction that settles waits for nothing here;
- what is not signed waits: without a key leaves are written, and their day ends when a head can be signed.
"""
