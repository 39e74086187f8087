"""When the figures of a day are stored, what they are of, and how long they are stored."""

from datetime import UTC, datetime

import pytest

from app.domain.service_status import Incident, IncidentKind, IncidentUpdate, Part, PartState
from app.status.days import record_complete
from app.store import incidents, restoration, status_days
from app.store.connections import Store
from app.store.status_days import DayFigures

DAY, HOUR = 86_400_000, 3_600_000
BEGIN = int(datetime(2033, 5, 18, tzinfo=UTC).timestamp() * 1000)


async def observe(store: Store, *moments: int) -> None:
    async with store.transaction() as tx:
        for at in moments:
            await incidents.observe(tx, at)


async def stored(store: Store) -> list[DayFigures]:
    async with store.autocommit() as tx:
        return await status_days.days(tx, limit=400)


async def test_nothing_is_stored_of_a_service_that_nobody_has_observed(store: Store) -> None:
    assert await record_complete(store, BEGIN + 5 * DAY) == 0


async def test_a_day_waits_for_an_observation_after_it(store: Store) -> None:
    """Until then an incident that goes beyond its end may not be written yet."""
    await observe(store, BEGIN, BEGIN + 12 * HOUR)
    assert await record_complete(store, BEGIN + 2 * DAY) == 0
    await observe(store, BEGIN + DAY + HOUR)
    assert await record_complete(store, BEGIN + DAY + HOUR) == 1
    assert [each.day for each in await stored(store)] == ["2033-05-18"]


async def test_the_first_day_counts_from_the_first_observation(store: Store) -> None:
    await observe(store, BEGIN + 23 * HOUR, BEGIN + DAY + HOUR)
    await record_complete(store, BEGIN + DAY + HOUR)
    [first] = await stored(store)
    assert first.observed_seconds == 3_600 and first.availability(Part.REST) == 1


async def test_days_that_were_missed_are_made_up_for(store: Store) -> None:
    await observe(store, BEGIN, BEGIN + 4 * DAY)
    assert await record_complete(store, BEGIN + 4 * DAY) == 3
    await observe(store, BEGIN + 20 * DAY)
    assert await record_complete(store, BEGIN + 20 * DAY) == 6
    assert await record_complete(store, BEGIN + 20 * DAY) == 0


async def test_an_incident_counts_on_each_of_its_days(store: Store) -> None:
    began, ended = BEGIN + 18 * HOUR, BEGIN + DAY + 6 * HOUR
    update = IncidentUpdate(began, "down", PartState.DOWN)
    await observe(store, BEGIN, BEGIN + 2 * DAY + HOUR)
    async with store.transaction() as tx:
        await incidents.add(tx, Incident(0, IncidentKind.INGEST, began, ended, (update,)))
    await record_complete(store, BEGIN + 2 * DAY + HOUR)
    for day in await stored(store):
        assert day.availability(Part.PRICES) == pytest.approx(0.75)
        assert day.availability(Part.FEED) == 1


async def test_figures_are_stored_for_a_year(store: Store) -> None:
    for at in (BEGIN + DAY + HOUR, BEGIN + 366 * DAY + HOUR, BEGIN + 368 * DAY + HOUR):
        await observe(store, BEGIN, at)
        await record_complete(store, at)
        oldest = (await stored(store))[-1].day
        assert oldest == "2033-05-18" if at < BEGIN + 368 * DAY else "2034-05-14"


async def test_after_a_restore_no_outage_is_invented(store: Store) -> None:
    """The backup's last observation says nothing of when the service ended."""
    await observe(store, BEGIN)
    async with store.transaction() as tx:
        await restoration.end_past(tx, BEGIN + HOUR, 0)
        assert await incidents.observed_at(tx) == BEGIN + HOUR
