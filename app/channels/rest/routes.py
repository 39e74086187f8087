"""Every REST route, as a plain list."""

from app.channels.rest import matches, meta, schemas

ROUTES = (*meta.HANDLERS, *schemas.HANDLERS, *matches.HANDLERS)
