"""The application, keys of every kind, and one match in each state that matters."""

import msgspec
import pytest

from app.domain.match import Match, Status
from app.kit.clock import system_clock
from app.store import matches
from app.store.connections import Store
from tests.support.matches import create_match


@pytest.fixture
async def upcoming(store: Store) -> Match:
    teams = {"home": "Amber Foxes", "away": "Blue Herons"}
    return await create_match(store, system_clock(), **teams, best_of=3, scheduled_at=1)


@pytest.fixture
async def finished(store: Store) -> Match:
    """A match that was played and is over."""
    teams = {"home": "Crimson Owls", "away": "Dusk Otters"}
    match = await create_match(store, system_clock(), **teams, scheduled_at=1)
    over = msgspec.structs.replace(
        match, status=Status.FINISHED, score_home=1, started_at=1, finished_at=2, winner="home"
    )
    async with store.transaction() as tx:
        await tx.write([matches.save_statement(over)])
    return over
