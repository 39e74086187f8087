"""What must hold after a restore, seen from outside: in the database, and in what tenants received."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence

import asyncpg
import httpx
import msgspec
import websockets

from scripts.restore.recorder import Message, Recorder

#: Tables that are only ever appended to, by number: a restored one is a beginning of the old one.
_NUMBERED = {"change": "seq", "ledger_entry": "id"}
_ROWS = (
    "SELECT count(*), coalesce(max({id}), 0), md5(string_agg(md5(t::text), '' ORDER BY {id})) FROM {table} t"
)


class Kept(msgspec.Struct, frozen=True):
    """Of the ledger and the change log: rows that the restored database has, rows that only the old one had,
    and what is not as it must be."""

    rows: dict[str, int]
    lost: dict[str, int]
    wrong: Sequence[str]


async def committed(url: str) -> dict[str, int]:
    """The highest number of each table now."""
    connection = await asyncpg.connect(url)
    try:
        return {
            table: await connection.fetchval(f"SELECT coalesce(max({key}), 0) FROM {table}")
            for table, key in _NUMBERED.items()
        }
    finally:
        await connection.close()


async def compare(old_url: str, new_url: str, promised: dict[str, int]) -> Kept:
    """Whether the restored tables are beginnings of the old ones, and reach to what was `promised`."""
    old, new = await asyncpg.connect(old_url), await asyncpg.connect(new_url)
    rows, lost, wrong = dict[str, int](), dict[str, int](), list[str]()
    try:
        for table, key in _NUMBERED.items():
            query = _ROWS.format(id=key, table=table)
            count, last, digest = await new.fetchrow(query)
            before, _, same = await old.fetchrow(f"{query} WHERE {key} <= $1", last)
            rows[table] = count
            lost[table] = await old.fetchval(f"SELECT count(*) FROM {table}") - before
            if (count, digest) != (before, same):
                wrong.append(f"{table}: {count} rows up to {last}, and the old one had {before}, or others")
            if last < promised[table]:
                wrong.append(f"{table} ends with {last}; {promised[table]} was committed before the backup")
    finally:
        await old.close()
        await new.close()
    return Kept(rows, lost, wrong)


def numbers(each: Recorder) -> Iterator[str]:
    """What a tenant received that it may not: a number or a timestamp that was used before."""
    before, after = [one for one in each.before if one.live], [one for one in each.after if one.live]
    highest = max((one.seq for one in (*before, *each.before)), default=0)
    yield from (f"{each.slug}: seq {one.seq} after {highest}" for one in after if one.seq <= highest)
    yield from _repeated_ids(each)
    yield from _old_timestamps(each)
    seen = dict[str, Message]()
    for one in after:
        if one.match not in seen and one.prev <= highest:
            yield f"{each.slug}: the first message about {one.match} has x-prev-seq {one.prev}"
        seen[one.match] = one
    if not each.after or (each.after[0].name, each.after[0].subscribed) != ("alive", "0"):
        yield f"{each.slug}: the first message is {each.after[:1]}"


def _repeated_ids(each: Recorder) -> Iterator[str]:
    ids = {one.message_id for one in each.before if one.message_id}
    yield from (f"{each.slug}: {one.message_id} again" for one in each.after if one.message_id in ids)


def _old_timestamps(each: Recorder) -> Iterator[str]:
    """A replayed result has its original timestamp: it must be what had that timestamp before."""
    newest, known = defaultdict[str, int](int), defaultdict[tuple[str, str, int], set[bytes]](set)
    for one in each.before:
        newest[one.match] = max(newest[one.match], one.at)
        known[one.name, one.match, one.at] |= one.lists
    for one in each.after:
        if not one.match or one.at > newest[one.match]:
            continue
        same = known.get((one.name, one.match, one.at))
        if one.live or one.name == "odds_change" or (same is not None and not one.lists <= same):
            yield f"{each.slug}: {one.name} about {one.match} at {one.at}, after {newest[one.match]}"


async def resumed_stream(each: Recorder, seq: int) -> list[str]:
    """A stream that resumes with the highest number from before must receive a snapshot of higher ones."""
    base, key = str(each.rest.base_url).replace("http", "ws", 1), each.rest.headers["X-API-Key"]
    frames = []
    async with websockets.connect(f"{base}/cs2/v1/stream?api_key={key}&since={seq}", max_size=None) as stream:
        async for text in stream:
            frames.append(json.loads(text))
            if frames[-1]["type"] == "alive":
                break
    end = frames.pop()["meta"]
    low = [frame["meta"]["seq"] for frame in frames if frame["meta"]["seq"] <= seq]
    wrong = [] if end.get("snapshot") else [f"{each.slug}: the stream was resumed without a snapshot"]
    return wrong + [f"{each.slug}: the stream's snapshot has {len(low)} old numbers"] * bool(low)


async def new_settlements(rest: httpx.AsyncClient, since_id: int) -> list[int]:
    """The ids of what a client of the ledger receives that had `since_id` last."""
    found = await rest.get("/cs2/v1/settlements", params={"since_id": since_id, "limit": 100})
    return [entry["id"] for entry in found.raise_for_status().json()["data"]]
