"""Every route of the facade: a handler in one of these modules is one."""

from app.channels.facade import catalogue, custom_bet, entrants, matches, probabilities, recovery, replay
from app.http.handlers import handlers_of

ROUTES = handlers_of(catalogue, custom_bet, entrants, matches, probabilities, recovery, replay)
