"""Statements of the signed ledger."""

#: Many rows from arrays, and the state that says how far they reach.
ADD_LEAVES = """
WITH added AS (
    INSERT INTO ledger_leaf (entry_id, day, index, hash, salt, price_salt, price_count, price_first_seq,
        price_digest)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::int[], $4::bytea[], $5::bytea[], $6::bytea[],
        $7::int[], $8::bigint[], $9::bytea[])
)
UPDATE ledger_state SET entry_id = $10
"""
#: The hashes of the first leaves of a day, one after the other, as one value: a day may have a hundred
#: thousand.
HASHES = """
SELECT coalesce(string_agg(hash, '' ORDER BY index), '') FROM ledger_leaf WHERE day = $1 AND index < $2
"""
