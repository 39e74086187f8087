"""Matches as operators create them."""

from typing import Any

from app.commands import creation
from app.commands.command_service import CommandService
from app.commands.creation import NewMatch
from app.commands.execution import Sender
from app.commands.match_commands import Command
from app.domain.match import Match
from app.ingest.log_update import IngestConfig
from app.store.connections import Store
from tests.support import logs


async def create_match(store: Store, now: int, **fields: Any) -> Match:
    """A match with these fields; unless they say otherwise, between the teams of `logs`, without ratings."""
    defaults = {"home": logs.HOME, "away": logs.AWAY, "event": "Test Cup", "allow_unrated": True}
    return await creation.create_match(store, NewMatch(**defaults | fields), now, IngestConfig().pricing)


async def execute(store: Store, match: Match, command: Command, now: int, *, by: str = "tester") -> Match:
    """The match after an operator's command."""
    service = CommandService(store, IngestConfig().pricing)
    return await service.execute(str(match.id), command, Sender(by, by), now)
