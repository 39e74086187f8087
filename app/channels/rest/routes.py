"""Every REST route, as a plain list."""

from app.channels.rest import matches, meta, operator_tenants, recovery, schemas

ROUTES = (
    *meta.HANDLERS,
    *schemas.HANDLERS,
    *matches.HANDLERS,
    *recovery.HANDLERS,
    *operator_tenants.HANDLERS,
)
