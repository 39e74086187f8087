"""Every REST route, as a plain list."""

from app.channels.rest import matches, meta

ROUTES = (*meta.HANDLERS, *matches.HANDLERS)
