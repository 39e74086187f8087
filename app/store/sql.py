"""Pieces of SQL that mean the same wherever they stand."""

from app.domain.market import OPEN

NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"  #: the database's clock, Unix ms
#: The codes of open markets; written out, not a parameter: the planner must see that the partial index of
#: open markets fits.
OPEN_MARKETS = f"({', '.join(str(int(code)) for code in OPEN)})"


def booked(tenant: str) -> str:
    """The condition, on a match called `m`, that the tenant takes it; `tenant` is a parameter (`$1`)."""
    return f"NOT EXISTS (SELECT FROM unbooked u WHERE u.tenant_id = {tenant} AND u.match_id = m.id)"
