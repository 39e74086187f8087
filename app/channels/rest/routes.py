"""Every REST route, as a plain list."""

from app.channels.rest import (
    descriptions,
    documents,
    maps,
    matches,
    meta,
    players,
    prematch,
    pushed,
    recovery,
    schemas,
    search,
    selfcheck,
    settlements,
    soccer,
    teams,
    tournaments,
)

ROUTES = (
    *meta.HANDLERS,
    *schemas.HANDLERS,
    *documents.HANDLERS,
    *pushed.HANDLERS,
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
