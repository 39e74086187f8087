"""Every REST route: a handler in one of these modules is one."""

from app.channels.rest import (
    asyncapi,
    combinations,
    descriptions,
    documents,
    files,
    listing,
    maps,
    matches,
    meta,
    players,
    prematch,
    prices,
    probabilities,
    recovery,
    search,
    soccer,
    stakes,
    teams,
    tournaments,
)
from app.channels.rest.console import routes as console
from app.http.handlers import handlers_of

ROUTES = handlers_of(
    asyncapi,
    combinations,
    console,
    descriptions,
    documents,
    files,
    listing,
    maps,
    matches,
    meta,
    players,
    prematch,
    probabilities,
    prices,
    recovery,
    search,
    soccer,
    stakes,
    teams,
    tournaments,
)
