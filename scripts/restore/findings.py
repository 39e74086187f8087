"""What must hold after a restore, seen from outside: in the database, and in what tenants received."""

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import asyncpg
import msgspec

from scripts.lab.database_audit import still_written, written
from scripts.lab.evidence import Delivery
from scripts.lab.feed_client import FeedClient
from scripts.lab.operators import Account
from scripts.lab.stream_client import StreamClient

_MARKET = re.compile(rb"<market [^>]*>")
_SNAPSHOT_SECONDS = 60.0


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
        return {each.table: each.last for each in await written(connection)}
    finally:
        await connection.close()


async def compare(old_url: str, new_url: str, promised: dict[str, int]) -> Kept:
    """Whether the restored tables are beginnings of the old ones, and reach to what was `promised`."""
    old, new = await asyncpg.connect(old_url), await asyncpg.connect(new_url)
    rows, lost, wrong = dict[str, int](), dict[str, int](), list[str]()
    try:
        for restored in await written(new):
            table, before = restored.table, await still_written(old, restored)
            rows[table] = restored.rows
            lost[table] = await old.fetchval(f"SELECT count(*) FROM {table}") - before.rows
            wrong += before.difference(restored)
            if restored.last < promised[table]:
                wrong.append(
                    f"{table} ends with {restored.last}; {promised[table]} was committed before the backup"
                )
    finally:
        await old.close()
        await new.close()
    return Kept(rows, lost, wrong)


class Received(NamedTuple):
    """What a tenant received before the restore, and from then on."""

    slug: str
    before: Sequence[Delivery]
    after: Sequence[Delivery]

    @property
    def highest(self) -> int:
        """The highest number from before."""
        return max((one.number for one in self.before), default=0)


def numbers(each: Received) -> Iterator[str]:
    """What a tenant received that it may not: a number or a timestamp that was used before."""
    after, highest = [one for one in each.after if one.live], each.highest
    yield from (f"{each.slug}: seq {one.number} after {highest}" for one in after if one.number <= highest)
    yield from _repeated_ids(each)
    yield from _old_timestamps(each)
    seen = set[str]()
    for one in after:
        if one.match not in seen and one.previous <= highest:
            yield f"{each.slug}: the first message about {one.match} has x-prev-seq {one.previous}"
        seen.add(one.match)
    if not each.after or (each.after[0].name, each.after[0].subscribed) != ("alive", "0"):
        yield f"{each.slug}: the first message is {each.after[:1]}"


def _repeated_ids(each: Received) -> Iterator[str]:
    ids = {one.message_id for one in each.before if one.message_id}
    yield from (f"{each.slug}: {one.message_id} again" for one in each.after if one.message_id in ids)


def _old_timestamps(each: Received) -> Iterator[str]:
    """A replayed result has its original timestamp: it must be what had that timestamp before."""
    newest, known = defaultdict[str, int](int), defaultdict[tuple[str, str, int], set[bytes]](set)
    for one in each.before:
        newest[one.match] = max(newest[one.match], one.at)
        known[one.name, one.match, one.at] |= _markets(one)
    for one in each.after:
        if not one.match or one.at > newest[one.match]:
            continue
        same = known.get((one.name, one.match, one.at))
        if one.live or one.name == "odds_change" or (same is not None and not _markets(one) <= same):
            yield f"{each.slug}: {one.name} about {one.match} at {one.at}, after {newest[one.match]}"


def _markets(message: Delivery) -> set[bytes]:
    """Its markets as they are written."""
    return set(_MARKET.findall(message.body))


async def resumed_stream(account: Account, url: str, seq: int) -> list[str]:
    """A stream that resumes with the highest number from before must receive a snapshot of higher ones."""
    stream = StreamClient(account, url.replace("http", "ws", 1), since=seq)
    try:
        async with asyncio.timeout(_SNAPSHOT_SECONDS):
            while stream.alive < 0:
                await asyncio.sleep(0.05)
        frames = list(stream.frames)
    finally:
        await stream.close()
    end = next(place for place, frame in enumerate(frames) if frame.kind == "alive")
    low = [frame for frame in frames[:end] if frame.seq <= seq]
    wrong = [] if frames[end].snapshot else [f"{account.slug}: the stream was resumed without a snapshot"]
    return wrong + [f"{account.slug}: the stream's snapshot has {len(low)} old numbers"] * bool(low)


async def new_settlements(client: FeedClient, since_id: int) -> list[int]:
    """The ids of what a client of the ledger receives that had `since_id` last."""
    query = {"since_id": since_id, "limit": 100}
    found = await client.request("GET", "/cs2/v1/settlements", params=query)
    return [entry["id"] for entry in found.raise_for_status().json()["data"]]
