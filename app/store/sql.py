"""Fragments of SQL that several modules share."""

from app.domain.market import OPEN

NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"  #: the database's clock, Unix ms
#: The codes of open markets; a literal, not a parameter, so that the planner uses the partial index of open
#: markets.
OPEN_MARKETS = f"({', '.join(str(int(code)) for code in OPEN)})"


def booked(tenant: str) -> str:
    """The condition, on a match called `m`, that the tenant has booked it; `tenant` is a parameter (`$1`)."""
    return f"NOT EXISTS (SELECT FROM unbooked u WHERE u.tenant_id = {tenant} AND u.match_id = m.id)"
