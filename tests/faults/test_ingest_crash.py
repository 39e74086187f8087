"""Ingest killed or stopped in the middle of play: no line is lost or counted twice, no price stays open."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from app.domain import doubts
from app.settings import Settings
from app.store.connections import Store
from tests.support import real_match
from tests.support.agreement import check_all
from tests.support.eventually import eventually
from tests.support.processes import started
from tests.support.queues import private_vhost
from tests.support.real_match import RealMatch
from tests.support.web import issuing, serving

DEAD_SECONDS = 3
MIDDLE = 'CT "4") (T "1")'  #: round 5 is over; play goes on with round 6


@pytest.fixture
async def quick(settings: Settings) -> AsyncIterator[Settings]:
    """Settings of a house that notices a dead ingest soon, and on a busy machine still offers something:
    batches that are applied seconds after they came are neither late nor the last before a silence."""
    quick = replace(
        settings, ingest_dead_seconds=DEAD_SECONDS, fresh_millis=600_000, silence_live_seconds=600
    )
    async with private_vhost(quick) as private:
        yield private


@asynccontextmanager
async def playing(settings: Settings, store: Store, log: str) -> AsyncIterator[RealMatch]:
    key = await issuing(store, settings.secret_key)(bundles=("cs2.operator",), rate_limit_rpm=60_000)
    async with serving(settings) as client:
        yield await real_match.create(client, key, log)


def offered(seen: Any) -> list[Any]:
    return [market for market in seen["markets"] if not market["suspended"]]


async def played_to_the_middle(match: RealMatch) -> None:
    await match.send(until=MIDDLE)
    await match.send(until='World triggered "Round_Start"')
    await eventually(
        match.get,
        lambda seen: (
            (board := seen["scoreboard"])
            and (board["round"], board["phase"]) == (6, "live")
            and offered(seen)
        ),
        seconds=40,
    )


@pytest.mark.parametrize("fault", ["kill", "pause"])
async def test_no_price_stays_open_and_play_goes_on(
    quick: Settings, store: Store, real_log: str, tmp_path: Path, fault: str
) -> None:
    async with (
        playing(quick, store, real_log) as match,
        started("feed", quick, tmp_path),
        started("ingest", quick, tmp_path) as ingest,
    ):
        await played_to_the_middle(match)
        if fault == "kill":
            await ingest.kill()
        else:
            ingest.pause()
        seen = await eventually(match.get, lambda seen: not offered(seen), seconds=DEAD_SECONDS + 5)
        assert seen["status"] == "live" and seen["suspended_reason"] == doubts.PROCESSING_STOPPED
        if fault == "pause":
            ingest.resume()
        async with started("ingest", quick, tmp_path):
            await match.send()
            await check_all(store, match, real_log)


@pytest.mark.long
async def test_a_price_that_time_changes_survives_a_kill(
    quick: Settings, store: Store, real_log: str, tmp_path: Path
) -> None:
    """No line comes after the kill: the next process finds when the price was due, late in a short round."""
    patient = replace(quick, ingest_dead_seconds=600, price_step=0.005)

    short_rounds = re.sub(r'("mp_roundtime(?:_defuse)?") "1\.92\d*"', r'\1 "0.75"', real_log)
    assert short_rounds != real_log

    def of_the_round(seen: Any) -> dict[str, float]:
        return {each["specifiers"]: each["odds"] for each in offered(seen) if each["id"] == 13}

    async with playing(patient, store, short_rounds) as match:
        async with started("ingest", patient, tmp_path) as ingest:
            await played_to_the_middle(match)
            await ingest.kill()
        assert (before := of_the_round(await match.get()))
        async with started("ingest", patient, tmp_path):
            await eventually(match.get, lambda seen: of_the_round(seen) != before, seconds=60)
