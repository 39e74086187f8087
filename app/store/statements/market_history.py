"""A page of what happened to markets of one match, in the change log.

The rows of the match are scanned by the log's index on (match, seq), which has nothing about markets. The
scan is a subquery with a limit of its own: it ends after so many rows, whatever is looked for, and before
that as soon as the page is full.
"""

_EXACTLY, _BEGINNING = "key = {}", "starts_with(key, {})"


def _page(named: str, order: str) -> str:
    """The match is $1, the bounds of the seqs $2 and $3, both excluded; at most $4 rows are scanned, and $5
    returned. $6 is what the keys of changes for all are or begin with, $7 the same of those for the tenant
    alone."""
    return f"""
SELECT seq, at, entity, frame, body FROM (
    SELECT seq, at, entity, key, frame, body FROM change
    WHERE match_id = $1 AND seq > $2 AND seq < $3 ORDER BY seq {order} LIMIT $4
) AS scanned
WHERE entity IN ('market', 'settlement') AND {named.format("$6::text")}
    OR entity = 'tenant_market' AND {named.format("$7::text")}
ORDER BY seq {order} LIMIT $5
"""


#: Of one market, newest first.
NEWEST_OF_MARKET = _page(_EXACTLY, "DESC")
#: Of one market, oldest first.
OF_MARKET = _page(_EXACTLY, "")
#: Of markets whose names begin in the same way, oldest first.
OF_MARKETS = _page(_BEGINNING, "")
#: The seq of the row of the match $1 after $2 that is the last of $3 rows; none if there are fewer.
LAST_SCANNED = "SELECT seq FROM change WHERE match_id = $1 AND seq > $2 ORDER BY seq OFFSET $3 - 1 LIMIT 1"
