"""Every route of the facade, as a plain list."""

from app.channels.facade import catalogue, entrants, events, icon, identity, recovery, schedules

ROUTES = (
    *identity.HANDLERS,
    *catalogue.HANDLERS,
    *entrants.HANDLERS,
    *events.HANDLERS,
    *schedules.HANDLERS,
    *recovery.HANDLERS,
    *icon.HANDLERS,
)
