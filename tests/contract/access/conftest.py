"""The application, keys of every kind, and one match in each state that matters."""

import msgspec
import pytest

from app.commands import creation
from app.commands.creation import NewMatch
from app.domain.match import Match, Status
from app.ingest.config import IngestConfig
from app.kit.clock import system_clock
from app.store import matches
from app.store.connections import Store

CONFIG = IngestConfig(fresh_millis=10_000, silence_millis=30_000)


@pytest.fixture
async def upcoming(store: Store) -> Match:
    new_match = NewMatch(
        allow_unrated=True,
        home="Amber Foxes",
        away="Blue Herons",
        event="Test Cup",
        best_of=3,
        scheduled_at=1,
    )
    return await creation.create_match(store, new_match, system_clock(), CONFIG.pricing)


@pytest.fixture
async def finished(store: Store) -> Match:
    """A match that was played and is over."""
    new_match = NewMatch(
        allow_unrated=True, home="Crimson Owls", away="Dusk Otters", event="Test Cup", scheduled_at=1
    )
    match = await creation.create_match(store, new_match, system_clock(), CONFIG.pricing)
    over = msgspec.structs.replace(
        match, status=Status.FINISHED, score_home=1, started_at=1, finished_at=2, winner="home"
    )
    async with store.transaction() as tx:
        await tx.write([matches.save_statement(over)])
    return over
