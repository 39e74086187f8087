"""What must hold after an upgrade, seen from outside: in what clients received, and in the database."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

import asyncpg
import msgspec

from scripts.upgrade.clients import Message, Stream

#: What each tenant received, in order.
Everyone = Mapping[str, Sequence[Message]]
#: Tables that are only ever appended to, by number: what the former version wrote stays as it is.
_APPENDED = {"change": "seq", "ledger_entry": "id"}
_COLUMNS = "SELECT column_name FROM information_schema.columns WHERE table_name = $1 ORDER BY column_name"


class Received(msgspec.Struct, frozen=True):
    """Of all tenants together: live messages and repeated ones, numbers that were lost, that are in no change
    log, that came after a higher one, and that two different messages had. `missed`: lost to clients that had
    to reconnect, and recovered."""

    messages: int
    repeated: int
    lost: Sequence[str]
    missed: int
    invented: int
    back: int
    ambiguous: int

    def wrong(self) -> Iterator[str]:
        yield from self.lost
        for name in ("invented", "back", "ambiguous"):
            if count := getattr(self, name):
                yield f"numbers of live messages: {count} {name}"


class Written(msgspec.Struct, frozen=True):
    """What the former version had written into a table: its columns, rows up to a number, their digest."""

    table: str
    columns: Sequence[str]
    last: int
    rows: int
    digest: str


def received(everyone: Everyone, published: Mapping[int, str], reconnected: Collection[str] = ()) -> Received:
    """Compare what the tenants received with all messages in the change log, by number."""
    live = {slug: [one for one in messages if one.seq] for slug, messages in everyone.items()}
    repeated = missed = invented = back = 0
    lost = list[str]()
    bodies = defaultdict[int, set[bytes]](set)
    for slug, messages in live.items():
        times = Counter(one.seq for one in messages)
        repeated += times.total() - len(times)
        missing = sorted(published.keys() - times.keys())
        if slug in reconnected:
            missed += len(missing)
        else:
            lost += [f"{slug} did not receive {published[seq]} {seq}" for seq in missing]
        invented += len(times.keys() - published.keys())
        back += _backwards(messages)
        for one in messages:
            bodies[one.seq].add(one.digest)
    ambiguous = sum(len(each) > 1 for each in bodies.values())
    return Received(sum(map(len, live.values())), repeated, lost, missed, invented, back, ambiguous)


def _backwards(messages: Sequence[Message]) -> int:
    highest, seen, back = 0, set[int](), 0
    for one in messages:
        back += one.seq < highest and one.seq not in seen
        highest = max(highest, one.seq)
        seen.add(one.seq)
    return back


def silence(everyone: Everyone, began: float, ended: float) -> float:
    """The longest time between two messages of one tenant, the later one in this time; in seconds."""
    longest = 0.0
    for messages in everyone.values():
        times = [one.at for one in messages]
        gaps = (after - before for before, after in pairwise(times) if began < after <= ended)
        longest = max(longest, *gaps, 0.0)
    return longest


def repeated(everyone: Everyone, began: float, ended: float) -> int:
    """Live messages of this time that their tenant had received before."""
    count = 0
    for messages in everyone.values():
        seen = set[int]()
        for one in messages:
            count += bool(one.seq) and one.seq in seen and began < one.at <= ended
            seen.add(one.seq)
    return count


def unfinished(everyone: Everyone, accepted: set[str]) -> list[str]:
    """The recoveries that were accepted, and of which no tenant received the end."""
    ended = {
        one.request for messages in everyone.values() for one in messages if one.name == "snapshot_complete"
    }
    return [f"recovery {each} was accepted and has no end" for each in sorted(accepted - ended)]


async def published(connection: asyncpg.Connection) -> dict[int, str]:
    """All messages that there are to publish: their names by number."""
    rows = await connection.fetch("SELECT envelope_seq, message FROM change WHERE message <> ''")
    return {row["envelope_seq"]: row["message"] for row in rows}


async def written(connection: asyncpg.Connection) -> list[Written]:
    """What the tables have now that are only appended to."""
    found = []
    for table, key in _APPENDED.items():
        columns = [row["column_name"] for row in await connection.fetch(_COLUMNS, table)]
        last = await connection.fetchval(f"SELECT coalesce(max({key}), 0) FROM {table}")
        found.append(await _digest(connection, table, columns, last))
    return found


async def changed(connection: asyncpg.Connection, before: Sequence[Written]) -> list[str]:
    """The tables in which rows of before are gone, or others."""
    wrong = []
    for each in before:
        now = await _digest(connection, each.table, each.columns, each.last)
        if now != each:
            wrong.append(
                f"{each.table}: {now.rows} rows up to {each.last}, and there were {each.rows}, or others"
            )
    return wrong


async def _digest(connection: asyncpg.Connection, table: str, columns: Sequence[str], last: int) -> Written:
    key, listed = _APPENDED[table], ", ".join(columns)
    rows, digest = await connection.fetchrow(
        f"SELECT count(*), coalesce(md5(string_agg(md5(row({listed})::text), '' ORDER BY {key})), '') "
        f"FROM {table} WHERE {key} <= $1",
        last,
    )
    return Written(table, columns, last, rows, digest)


async def streamed(connection: asyncpg.Connection, stream: Stream) -> list[str]:
    """What the stream had wrong: each settlement of the ledger once, and numbers that only rise."""
    ids = {row["id"] for row in await connection.fetch("SELECT id FROM ledger_entry")}
    times = Counter(stream.settlements)
    wrong = list(stream.wrong)
    if lost := ids - times.keys():
        wrong.append(f"stream: {len(lost)} settlements lost, such as {min(lost)}")
    if invented := times.keys() - ids:
        wrong.append(f"stream: {len(invented)} settlements invented, such as {min(invented)}")
    if again := times.total() - len(times):
        wrong.append(f"stream: {again} settlements repeated")
    return wrong
