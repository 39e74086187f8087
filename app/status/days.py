"""The figures of a day: computed once it is over, and for today as far as it is known.

Any feed process computes them; the first one stores them (`store.status_days.add`), and all compute the same,
because what they read no longer changes.
"""

import asyncio
from collections.abc import Sequence
from datetime import date, timedelta

from app.amqp.delay_counts import MESSAGES, OF_FAMILY, RESULTS
from app.domain.daily_files import DAY_MILLIS, begin_of, day_of, last_complete_day
from app.domain.delays import no_counts, percentiles, total
from app.domain.service_status import Part, down_millis
from app.kit.background import retry_while_unavailable
from app.kit.clock import Clock
from app.kit.logging import get_logger
from app.store import incidents, status_days
from app.store.connections import Store
from app.store.status_days import DayFigures
from app.store.transaction import Tx

RETAINED_DAYS = 366
_COUNTED_DAYS = 6  #: the days whose figures can be computed: recoveries are retained for a week
_MOST_INCIDENTS = 10_000
_EVERY_SECONDS = 60.0
log = get_logger(__name__)


async def figures(tx: Tx, day: date, first_at: int, now: int) -> DayFigures:
    """The figures of a day at `now`, of a service that was observed since `first_at` (both Unix ms)."""
    begin = max(begin_of(day), first_at)
    end = min(begin_of(day) + DAY_MILLIS, now)
    counted = await status_days.counts(tx, str(day))
    found = [*await incidents.opened(tx), *await incidents.ended_since(tx, begin, limit=_MOST_INCIDENTS)]
    down = {part: down_millis(found, part, begin, end) / 1000 for part in Part}
    sums = {figure: percentiles(total(each)) for figure, each in counted.items()}
    nothing = percentiles(no_counts())
    families = {
        name.removeprefix(OF_FAMILY): each for name, each in sums.items() if name.startswith(OF_FAMILY)
    }
    return DayFigures(
        day=str(day),
        observed_seconds=max(0, end - begin) / 1000,
        down_seconds={part: seconds for part, seconds in down.items() if seconds},
        messages=sums.get(MESSAGES, nothing),
        results=sums.get(RESULTS, nothing),
        results_by_family=dict(sorted(families.items())),
        recoveries=await status_days.recovery_times(tx, begin, end),
    )


async def so_far(tx: Tx, stored: Sequence[DayFigures], first_at: int, now: int) -> list[DayFigures]:
    """The figures of the days that are not over at `now`, newest first: today, and yesterday until its own
    are stored; `stored` are those that are, newest first."""
    today = day_of(now)
    yesterday = today - timedelta(days=1)
    missing = yesterday >= day_of(first_at) and not any(each.day == str(yesterday) for each in stored[:1])
    wanted = [today, yesterday] if missing else [today]
    return [await figures(tx, day, first_at, now) for day in wanted]


async def record_regularly(store: Store, clock: Clock) -> None:
    """Store the figures of days that are over, each minute, until cancelled."""
    while True:
        await retry_while_unavailable("storing the figures of a day", lambda: record_complete(store, clock()))
        await asyncio.sleep(_EVERY_SECONDS)


async def record_complete(store: Store, now: int) -> int:
    """Store the figures of the days that are complete at `now` (Unix ms) and have none yet, and delete what
    is too old; how many days were stored. Raises `Unavailable`.

    A day counts as complete only once a web process has observed the status after it: if none did for a
    while, the incident about that is written then."""
    async with store.transaction() as tx:
        first_at, observed_at = await incidents.observed_since(tx), await incidents.observed_at(tx)
        if first_at is None or observed_at is None:
            return 0
        last = last_complete_day(min(now, observed_at))
        first = max(last - timedelta(days=_COUNTED_DAYS - 1), day_of(first_at))
        known = set(await status_days.known_days(tx, str(first)))
        days = [first + timedelta(days=each) for each in range((last - first).days + 1)]
        missing = [day for day in days if str(day) not in known]
        for day in missing:
            await status_days.add(tx, await figures(tx, day, first_at, now))
            log.info("the figures of a day are stored", day=str(day))
        oldest = last - timedelta(days=RETAINED_DAYS)
        await status_days.prune(tx, str(oldest))
        await status_days.prune_counts(tx, str(last - timedelta(days=_COUNTED_DAYS + 1)))
        await incidents.prune(tx, begin_of(oldest))
        await incidents.prune_maintenance(tx, begin_of(oldest))
    return len(missing)
