"""Every route of the operators' API but the log sink, as a plain list."""

from app.operations.api import (
    alerts,
    consents,
    feed,
    keys,
    market_types,
    match_trading,
    matches,
    metrics,
    ratings,
    tenants,
)

ROUTES = (
    *matches.HANDLERS,
    *match_trading.HANDLERS,
    *consents.HANDLERS,
    *ratings.HANDLERS,
    *alerts.HANDLERS,
    *tenants.HANDLERS,
    *market_types.HANDLERS,
    *keys.HANDLERS,
    *feed.HANDLERS,
    *metrics.HANDLERS,
)
