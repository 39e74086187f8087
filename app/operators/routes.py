"""Every route of the operators' API but the log sink, as a plain list."""

from app.operators import alerts, feed, keys, matches, metrics, tenants

ROUTES = (
    *matches.HANDLERS,
    *alerts.HANDLERS,
    *tenants.HANDLERS,
    *keys.HANDLERS,
    *feed.HANDLERS,
    *metrics.HANDLERS,
)
