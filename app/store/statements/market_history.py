"""The next page of what happened to markets of one match, in the change log.

The rows of the match are scanned by the log's index on (match, seq), which has nothing about markets. The
scan is a subquery with a limit of its own: it ends after so many rows, whatever is looked for, and before
that as soon as the page is full.

The bounds are pairs, as the index is: with a condition on each column PostgreSQL reads the rows of other
matches, too, where one match has a large part of the log.
"""

_SCANNED = f"""
FROM change WHERE (match_id, seq) > ($1, $2) AND (match_id, seq) < ($1, {2**63 - 1}) ORDER BY match_id, seq
"""


def _page(named: str) -> str:
    """The match is $1; the page begins after the seq $2. At most $3 rows are scanned, and $4 returned. $5 is
    what the keys of changes for all are or begin with, $6 the same of those for the tenant alone."""
    return f"""
SELECT seq, at, entity, frame, body FROM (
    SELECT match_id, seq, at, entity, key, frame, body {_SCANNED} LIMIT $3
) AS scanned
WHERE entity IN ('market', 'settlement') AND {named.format("$5::text")}
    OR entity = 'tenant_market' AND {named.format("$6::text")}
ORDER BY match_id, seq LIMIT $4
"""


#: Of one market: a scan that ends by itself is a query within a query.
OF_MARKET = _page("key = {}")
#: The same of markets whose names begin in the same way.
OF_MARKETS = _page("starts_with(key, {})")
#: The seq of the last one of $3 scanned rows; none if there are fewer.
LAST_SCANNED = f"SELECT seq {_SCANNED} OFFSET $3::int - 1 LIMIT 1"
