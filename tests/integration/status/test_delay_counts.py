"""Delays that processes count, added up for a day."""

from typing import Any

import pytest

from app.amqp.delay_counts import DelayCounts
from app.domain.delays import no_counts, percentiles, total
from app.kit.errors import Unavailable
from app.store import status_days
from app.store.connections import Store
from tests.support.clocks import ManualClock


class AwayStore:
    """A database that does not answer."""

    def autocommit(self) -> None:
        raise Unavailable("away")


MIDNIGHT = 1_999_987_200_000  #: 2033-05-18
BEFORE, AFTER = "2033-05-17", "2033-05-18"


async def stored(store: Store, day: str) -> dict[str, int]:
    async with store.autocommit() as tx:
        found = await status_days.counts(tx, day)
    return {figure: percentiles(total(each)).count for figure, each in found.items()}


async def test_a_process_may_write_as_often_as_it_likes(store: Store) -> None:
    counts = DelayCounts(ManualClock(MIDNIGHT))
    for _ in range(3):
        counts.add(0.5, ("map_winner", "round_winner"))
        counts.add(0.5, ())
        await counts.write(store)
    await counts.write(store)
    families = {"results:map_winner": 3, "results:round_winner": 3}
    assert await stored(store, AFTER) == {"messages": 6, "results": 3} | families


async def test_what_could_not_be_written_is_written_later(store: Store) -> None:
    counts = DelayCounts(ManualClock(MIDNIGHT))
    counts.add(0.5, ())
    away: Any = AwayStore()
    with pytest.raises(Unavailable):
        await counts.write(away)
    counts.add(0.5, ("half",))
    await counts.write(store)
    await counts.write(away)  # there is nothing to write
    assert await stored(store, AFTER) == {"messages": 2, "results": 1, "results:half": 1}


async def test_processes_add_up(store: Store) -> None:
    for _ in range(2):
        counts = DelayCounts(ManualClock(MIDNIGHT))
        counts.add(0.5, ())
        await counts.write(store)
    assert await stored(store, AFTER) == {"messages": 2}


async def test_a_message_belongs_to_the_day_of_its_confirm(store: Store) -> None:
    clock = ManualClock(MIDNIGHT - 1)
    counts = DelayCounts(clock)
    counts.add(0.5, ())
    clock.now = MIDNIGHT
    counts.add(0.5, ())
    counts.add(0.5, ())
    await counts.write(store)
    assert (await stored(store, BEFORE), await stored(store, AFTER)) == ({"messages": 1}, {"messages": 2})


async def test_a_statement_that_is_executed_late_takes_nothing_back(store: Store) -> None:
    async with store.transaction() as tx:
        for count in (5, 3):
            await status_days.save_counts(tx, "one", {(AFTER, "messages"): [count, *no_counts()[1:]]})
    assert await stored(store, AFTER) == {"messages": 5}
