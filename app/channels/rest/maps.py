"""Maps, under /cs2/v1/maps: the active pool, and the statistics of each map."""

from app.channels.rest.dependencies import Rest, Window, options
from app.domain import catalogue, scopes
from app.domain.analytics import TeamLine, window_start
from app.domain.catalogue import MapInfo
from app.domain.ids import CS2
from app.http.handlers import get
from app.kit.clock import to_datetime
from app.store import statistics
from app.store.statistics import EVER
from app.store.transaction import Tx
from app.wire.text import iso_time
from app.wire.views.meta import Many, Single, many
from app.wire.views.statistics import MapAnalyticsView, PoolView, map_view

_READ = options(scopes.MAPS)
_LINES = 600  #: two for each time that a map was played


@get("/cs2/v1/maps/pool", opt=_READ)
async def get_map_pool(rest: Rest) -> Single[PoolView]:
    """Today's active map pool."""
    codes = tuple(one.code for one in in_pool(rest.clock()))
    return Single(PoolView(CS2.slug, codes, len(codes)))


@get("/cs2/v1/maps", opt=_READ)
async def list_maps(rest: Rest, time_filter: Window = "3months") -> Many[MapAnalyticsView]:
    """The statistics of each known map, over the newest 300 times that it was finished."""
    now = rest.clock()
    async with rest.store.snapshot() as tx:
        found = await map_views(tx, catalogue.load().maps, now, since=window_start(time_filter, now))
    return many(found)


async def map_views(
    tx: Tx, maps: tuple[MapInfo, ...], now: int, *, since: int, until: int = EVER
) -> tuple[MapAnalyticsView, ...]:
    """The statistics of these maps, over matches that finished in this period (ms)."""
    active = {one.code for one in in_pool(now)}
    lines: dict[str, list[TeamLine]] = {one.code: [] for one in maps}
    newest = dict.fromkeys(lines, 0)
    for one in await statistics.of_maps(tx, list(lines), since=since, until=until, limit=_LINES):
        lines[one.map_name].append(one.line)
        newest[one.map_name] = max(newest[one.map_name], one.finished_at)
    return tuple(
        map_view(one.code, one.name, one.code in active, lines[one.code], iso_time(newest[one.code] or None))
        for one in sorted(maps, key=lambda one: one.code)
    )


def in_pool(now: int) -> tuple[MapInfo, ...]:
    """The map pool on the day of `now` (ms)."""
    return catalogue.load().pool(to_datetime(now).date())
