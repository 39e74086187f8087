"""Every REST route, as a plain list."""

from app.channels.rest import matches, meta, operator_tenants, schemas

ROUTES = (*meta.HANDLERS, *schemas.HANDLERS, *matches.HANDLERS, *operator_tenants.HANDLERS)
