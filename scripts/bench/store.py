"""What Piccolo's builder costs where queries run often, against the same query as a constant of SQL.

    python -m scripts.bench.store [--queries 100] [--repetitions 40] [--check]

Three ways to the same rows, in turns on one connection: SQL as a constant, a query built once (`prepared`),
and one built at each call. Figures are microseconds of this process's processor for each query, its rows
fetched but not decoded, medians over the turns. The last row writes 20 markets: from arrays, and with a query
of 20 rows, which has another text for each number of rows. `--check` fails when a query that is built once
needs more than 1.05 of the processor that its constant needs. Uses the PostgreSQL that the settings lead to,
or starts its own; works in a database of its own, which it removes.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from decimal import Decimal
from statistics import median
from typing import Any
from uuid import UUID, uuid4

import click
import msgspec

from app import settings as configuration
from app.access.api_keys import KeyProperties, key_hash
from app.domain.market import Market, MarketStatus
from app.domain.match import Match, Status
from app.settings import Settings
from app.store import changes, keys, markets, matches
from app.store.connections import Store, open_store
from app.store.keys import Key
from app.store.prepared import prepared
from app.store.tables.match import Market as MarketTable
from app.store.transaction import Statement, Tx, Write, compiled
from scripts import services
from scripts.lab.own_data import database, issue_key

MOST_RATIO = 1.05
_MARKETS = 20
_KEY = f"""
SELECT k.hash, {", ".join(f"k.{name}" for name in Key.__struct_fields__)},
    t.id, t.slug, t.name, t.amqp, t.active, t.probabilities, t.types_off, t.max_queues, t.named_vhost,
    t.profiles
FROM api_key k JOIN tenant t ON t.id = k.tenant_id WHERE k.hash = $1
"""
_STATE = "SELECT state, last_stamp, last_seq FROM match"
_MARKET = f"SELECT {markets._ROWS.names} FROM market"
_CHANGES = f"SELECT {changes.ROWS.names} FROM change WHERE seq > $1 ORDER BY seq LIMIT 500"


class Subject(msgspec.Struct, frozen=True):
    """A query in three ways: a constant, built once, built at each call."""

    name: str
    constant: Callable[[], Statement]
    once: Callable[[], Statement] | None
    each_time: Callable[[], Statement]


def built(name: str, sql: str, query: Any, *args: Any, **fixed: Any) -> Subject:
    """The subject of a query of the store, by the function that a decorator of `store.prepared` has
    made; its constant takes the same arguments."""
    build = query.__wrapped__
    once = prepared(build)
    return Subject(
        name,
        lambda: Statement(sql, args),
        lambda: once(*args, **fixed),
        lambda: compiled(build(*args, **fixed)),
    )


async def subjects(store: Store, settings: Settings) -> list[Subject]:
    """What they read is written here."""
    match = Match(uuid4(), 1, "Northwind", "Harbour", "Bench Cup", status=Status.LIVE)
    offered = [
        Market(13, f"map=1|round={number}", MarketStatus.ACTIVE, Decimal("1.50"), 0.6)
        for number in range(_MARKETS)
    ]
    async with store.transaction() as tx:
        await matches.insert(tx, match)
        await tx.write(markets.save_statements(match.id, offered))
    raw = await issue_key(store, settings, KeyProperties(bundles=("cs2.stats",)))
    digest = key_hash(raw, settings.secret_key)
    (bulk,) = markets.save_statements(match.id, offered)
    return [
        built("a key by its hash", _KEY, keys.by_hash, digest),
        built("a match", f"{_STATE} WHERE id = $1", matches.get, match.id),
        built("a match, locked", f"{_STATE} WHERE id = $1 FOR UPDATE", matches._lock, match.id, version=None),
        built(
            f"{_MARKETS} markets of a match",
            f"{_MARKET} WHERE match_id = $1",
            *(markets._of_match, match.id),
        ),
        built("changes for the stream", _CHANGES, changes._after, 0, limit=500),
        Subject(
            f"write {_MARKETS} markets",
            lambda: Statement(bulk.sql, bulk.args),
            None,
            lambda: _rows(match.id, bulk),
        ),
    ]


def _rows(match_id: UUID, bulk: Write) -> Statement:
    """The markets of an array statement as a query of so many rows."""
    columns = [column for column in MarketTable._meta.columns if column._meta.name != "match_id"]
    rows = [
        MarketTable({MarketTable.match_id: match_id} | dict(zip(columns, values, strict=True)))
        for values in zip(*bulk.args[1:], strict=True)
    ]
    key = (MarketTable.match_id, MarketTable.type_id, MarketTable.specifiers)
    changing = [column for column in columns if column._meta.name not in ("type_id", "specifiers")]
    return compiled(MarketTable.insert(*rows).on_conflict(key, action="DO UPDATE", values=changing))


async def cost(tx: Tx, statement: Callable[[], Statement], queries: int) -> float:
    """Microseconds of processor time for each query."""
    begun = time.process_time()
    for _ in range(queries):
        sql, args = statement()
        await tx.fetch(sql, *args)
    return (time.process_time() - begun) / queries * 1e6


class Result(msgspec.Struct, frozen=True):
    """Microseconds of each way, and their ratios to the constant, turn by turn."""

    name: str
    constant: float
    once: float | None
    once_ratio: float | None
    each_time: float
    each_time_ratio: float

    @property
    def row(self) -> str:
        once = "– | –" if self.once is None else f"{self.once:.0f} | {self.once_ratio:.2f}"
        each_time = f"{self.each_time:.0f} | {self.each_time_ratio:.2f}"
        return f"| {self.name} | {self.constant:.0f} | {once} | {each_time} |"


async def compare(tx: Tx, subject: Subject, queries: int, repetitions: int) -> Result:
    ways = {"constant": subject.constant, "each_time": subject.each_time}
    if subject.once:
        ways["once"] = subject.once
    seen: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(repetitions + 1):
        for name, way in ways.items():
            spent = await cost(tx, way, queries)
            if turn:  # the first one prepares the statements
                seen[name].append(spent)
    return Result(
        subject.name,
        median(seen["constant"]),
        median(seen["once"]) if subject.once else None,
        _ratio(seen["once"], seen["constant"]) if subject.once else None,
        median(seen["each_time"]),
        _ratio(seen["each_time"], seen["constant"]),
    )


def _ratio(ours: Sequence[float], others: Sequence[float]) -> float:
    return median(one / other for one, other in zip(ours, others, strict=True))


async def measure(queries: int, repetitions: int) -> list[Result]:
    async with (
        database(configuration.load()) as settings,
        await open_store(settings.database_url, 1) as store,
    ):
        found = await subjects(store, settings)
        async with store.autocommit() as tx:
            return [await compare(tx, subject, queries, repetitions) for subject in found]


@click.command()
@click.option("--queries", default=100, show_default=True, help="Queries in one turn.")
@click.option("--repetitions", default=40, show_default=True)
@click.option("--check", is_flag=True, help=f"Fail above {MOST_RATIO} of the constant's processor time.")
def main(queries: int, repetitions: int, check: bool) -> None:
    with services.running(services.BENCHMARKS):
        results = asyncio.run(measure(queries, repetitions))
    click.echo("| query | SQL, us | built once, us | x SQL | built at each call, us | x SQL |")
    click.echo("|---|---|---|---|---|---|")
    for result in results:
        click.echo(result.row)
    slow = [result.name for result in results if (result.once_ratio or 0) > MOST_RATIO]
    if check and slow:
        raise SystemExit(f"built once, these need more than {MOST_RATIO} of the constant: {', '.join(slow)}")


if __name__ == "__main__":
    main()
