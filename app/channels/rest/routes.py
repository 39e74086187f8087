"""Every REST route, as a plain list."""

from app.channels.rest import (
    asyncapi,
    descriptions,
    maps,
    matches,
    meta,
    openapi,
    players,
    prematch,
    recovery,
    schemas,
    search,
    selfcheck,
    settlements,
    soccer,
    teams,
    tournaments,
)
from app.channels.rest.console import routes as console

ROUTES = (
    *meta.HANDLERS,
    *schemas.HANDLERS,
    *openapi.HANDLERS,
    *asyncapi.HANDLERS,
    *console.HANDLERS,
    *matches.HANDLERS,
    *prematch.HANDLERS,
    *settlements.HANDLERS,
    *descriptions.HANDLERS,
    *tournaments.HANDLERS,
    *teams.HANDLERS,
    *players.HANDLERS,
    *maps.HANDLERS,
    *search.HANDLERS,
    *soccer.HANDLERS,
    *recovery.HANDLERS,
    *selfcheck.HANDLERS,
)
