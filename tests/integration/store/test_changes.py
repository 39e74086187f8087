import asyncio
from collections.abc import Callable
from itertools import pairwise
from uuid import uuid4

import msgspec
import pytest

from app.domain.match import Match
from app.domain.settlement import LedgerEntry
from app.kit.errors import NotFound
from app.store import changes, history, matches, recovery_queries
from app.store.changes import ChangeDraft, ChangeRow
from app.store.connections import Store
from tests.integration.store.conftest import NewMatch
from tests.support.databases import waiting
from tests.support.eventually import eventually

Drafts = Callable[..., ChangeDraft]


async def append(store: Store, match: Match, drafts: list[ChangeDraft], now: int = 1000) -> Match:
    async with store.transaction() as tx:
        return await changes.append(tx, match, drafts, now)


async def read(store: Store, after: int = 0, limit: int = 1000) -> list[ChangeRow]:
    async with store.autocommit() as tx:
        return await changes.read(tx, after, limit)


async def test_rows_of_one_message_form_an_envelope(store: Store, match: Match, draft: Drafts) -> None:
    drafts = [draft(""), draft(""), draft("fixture_change"), draft(), draft(), draft("bet_settlement", "x")]
    written = await append(store, match, drafts)
    rows = await read(store)
    first = rows[0].seq
    assert [row.seq - first for row in rows] == list(range(6))
    assert [row.envelope_seq - first for row in rows] == [0, 1, 2, 4, 4, 5]
    assert [row.at for row in rows] == [1000, 1000, 1000, 1001, 1001, 1002]
    assert [row.prev_seq and row.prev_seq - first for row in rows] == [0, 0, 0, 2, 2, 4]
    assert (written.last_stamp, written.last_seq) == (1002, first + 5)


async def test_a_bet_stop_belongs_to_the_envelope_after_it(store: Store, match: Match, draft: Drafts) -> None:
    """It has a number and a timestamp between those around it, and nothing refers to it."""
    stop = draft("", changes.BET_STOP)
    drafts = [draft("bet_settlement", "x"), stop, draft(), draft(), draft("bet_cancel")]
    written = await append(store, match, drafts)
    rows = await read(store)
    first = rows[0].seq
    assert [row.envelope_seq - first for row in rows] == [0, 3, 3, 3, 4]
    assert [row.at for row in rows] == [1000, 1001, 1002, 1002, 1003]
    assert [row.prev_seq and row.prev_seq - first for row in rows] == [0, 0, 0, 0, 3]
    assert (written.last_stamp, written.last_seq) == (1003, first + 4)
    assert [row.seq for row in await read(store, first, 1)] == [first + 1, first + 2, first + 3]
    whole = [row.seq for row in await read(store, first + 1, 1)]
    assert whole == [first + 2, first + 3], "a cursor may be at its number"


async def test_stamps_rise_though_the_clock_stands_or_falls(
    store: Store, match: Match, draft: Drafts
) -> None:
    for now in (1000, 1000, 400, 5000):
        await append(store, match, [draft(), draft("bet_cancel", "x")], now)
    stamps = [row.at for row in await read(store)]
    assert stamps == [1000, 1001, 1002, 1003, 1004, 1005, 5000, 5001]


async def test_a_change_without_message_uses_up_no_stamp(store: Store, match: Match, draft: Drafts) -> None:
    await append(store, match, [draft()])
    await append(store, match, [draft(""), draft()])
    quiet = await append(store, match, [draft("")], 2000)
    assert [row.at for row in await read(store)] == [1000, 1000, 1001, 2000]
    assert quiet.last_stamp == 1001


async def test_stamp_and_seq_outlive_a_save_of_older_state(store: Store, match: Match, draft: Drafts) -> None:
    written = await append(store, match, [draft()])
    async with store.transaction() as tx:
        await tx.write([matches.save_statement(msgspec.structs.replace(match, home="Renamed"))])
        locked = await matches.lock(tx, match.id)
    assert (locked.home, locked.last_stamp, locked.last_seq) == ("Renamed", 1000, written.last_seq)


async def test_a_settlement_reaches_the_ledger_with_its_number(
    store: Store, match: Match, settlement: ChangeDraft, draft: Drafts
) -> None:
    await append(store, match, [settlement, draft()])
    async with store.autocommit() as tx:
        (entry,) = await history.ledger(tx, match.id)
        ((of_match, number, same),) = await history.ledger_since(tx, 0, 10)
        assert await history.ledger_since(tx, entry.id, 10) == []
    written = (await read(store))[0]
    assert (entry.id, entry.at, entry.rests_on) == (written.seq, 1000, (7,))
    assert (of_match, number, same) == (match.id, match.number, entry)
    assert msgspec.json.decode(written.body, type=LedgerEntry) == entry


async def test_an_envelope_is_read_whole(store: Store, match: Match, draft: Drafts) -> None:
    first = (await append(store, match, [draft("")] + [draft()] * 5 + [draft("bet_cancel")])).last_seq - 6
    assert [row.seq for row in await read(store, 0, 2)] == list(range(first, first + 6))
    assert [row.seq for row in await read(store, 0, 1)] == [first]
    assert [row.seq for row in await read(store, first + 5, 1)] == [first + 6]
    assert await read(store, first + 6) == []


async def test_without_drafts_nothing_is_appended_or_notified(store: Store, match: Match) -> None:
    assert await append(store, match, []) == match
    async with store.autocommit() as tx:
        assert await changes.head(tx) == 0


async def test_an_unknown_match_is_refused(store: Store, draft: Drafts) -> None:
    unknown = Match(id=uuid4(), number=9, home="a", away="b", event="c")
    with pytest.raises(NotFound):
        await append(store, unknown, [draft()])


async def test_a_failed_transaction_leaves_nothing(
    store: Store, match: Match, settlement: ChangeDraft
) -> None:
    with pytest.raises(ZeroDivisionError):
        async with store.transaction() as tx:
            await changes.append(tx, match, [settlement], 1000)
            raise ZeroDivisionError
    assert await read(store) == []
    async with store.autocommit() as tx:
        assert await history.ledger(tx, match.id) == []
        assert (await matches.get(tx, match.id)) == match


async def test_a_slow_commit_delays_later_seqs(store: Store, new_match: NewMatch, draft: Drafts) -> None:
    """The trap of a plain sequence: the higher number commits first, a reader steps over the lower."""
    slow, fast = await new_match(), await new_match()
    numbered, may_commit = asyncio.Event(), asyncio.Event()

    async def write_slowly() -> Match:
        async with store.transaction() as tx:
            written = await changes.append(tx, slow, [draft()], 1000)
            numbered.set()
            await may_commit.wait()
        return written

    slow_task = asyncio.create_task(write_slowly())
    await numbered.wait()
    fast_task = asyncio.create_task(append(store, fast, [draft()]))
    await eventually(lambda: waiting(store))
    assert await read(store) == []
    may_commit.set()
    first, second = await slow_task, await fast_task
    assert first.last_seq < second.last_seq
    assert [row.match_id for row in await read(store)] == [slow.id, fast.id]


async def test_a_reader_misses_nothing_of_many_writers(
    store: Store, new_match: NewMatch, draft: Drafts
) -> None:
    writers = [await new_match() for _ in range(5)]
    seen: list[int] = []
    written: list[int] = []
    done = asyncio.Event()

    async def write(match: Match, rounds: int) -> None:
        for turn in range(rounds):
            async with store.transaction() as tx:
                await matches.lock(tx, match.id)
                drafts = [draft()] * (1 + (turn + match.number) % 3)
                last = (await changes.append(tx, match, drafts, turn)).last_seq
                await asyncio.sleep(0)
            written.extend(range(last - len(drafts) + 1, last + 1))

    async def follow() -> None:
        while not done.is_set() or await read(store, seen[-1] if seen else 0, 1):
            seen.extend(row.seq for row in await read(store, seen[-1] if seen else 0, 7))

    reader = asyncio.create_task(follow())
    await asyncio.gather(*(write(match, 12) for match in writers))
    done.set()
    await reader
    assert seen == sorted(written)


async def test_two_transactions_on_one_match_take_turns(store: Store, match: Match, draft: Drafts) -> None:

    async def write(turn: int) -> None:
        async with store.transaction() as tx:
            present = await matches.lock(tx, match.id)
            counted = msgspec.structs.replace(present, score_home=present.score_home + 1)
            await tx.write([matches.save_statement(counted)])
            await changes.append(tx, counted, [draft(), draft("bet_cancel")], turn)

    await asyncio.gather(*(write(turn) for turn in range(20)))
    rows = await read(store)
    async with store.autocommit() as tx:
        present = await matches.get(tx, match.id)
    assert present is not None
    assert (present.score_home, len(rows)) == (20, 40)
    assert all(before.at < after.at and after.prev_seq == before.seq for before, after in pairwise(rows))


async def test_pruning_leaves_recent_changes_and_the_newest(
    store: Store, match: Match, draft: Drafts
) -> None:
    old = await append(store, match, [draft()] * 3, 1000)
    young = await append(store, match, [draft()] * 3, 9000)
    async with store.transaction() as tx:
        assert await changes.prune(tx, 1000) == 0
        assert await changes.prune(tx, 5000, limit=2) == 0
        assert await changes.prune(tx, 5000) == 3
        assert await changes.oldest(tx) == old.last_seq + 1
        await changes.prune(tx, 99_000)
        assert await changes.head(tx) == young.last_seq


async def test_pruned_fixture_changes_are_stored_for_recoveries(
    store: Store, new_match: NewMatch, draft: Drafts
) -> None:
    match, tenant = await new_match(), uuid4()
    written = await append(store, match, [draft("fixture_change"), draft("fixture_change"), draft()], 1000)
    await append(store, match, [draft()], 9000)
    async with store.transaction() as tx:
        before = await recovery_queries.fixture_changes(tx, tenant, 0)
        assert await changes.prune(tx, 5000) == 3
        assert await recovery_queries.fixture_changes(tx, tenant, 0) == before
        assert [each.seq for each in before] == [written.last_seq - 1] * 2
        assert await recovery_queries.fixture_changes(tx, tenant, 1000) == []
        assert (await changes.prune_fixtures(tx, 1000), await changes.prune_fixtures(tx, 1001)) == (0, 2)
        assert await recovery_queries.fixture_changes(tx, tenant, 0) == []


async def test_one_prunes_at_a_time(store: Store, match: Match, draft: Drafts) -> None:
    await append(store, match, [draft()] * 3)
    await append(store, match, [draft()])
    async with store.transaction() as one, store.transaction() as other:
        assert await changes.prune(one, 5000) == 3
        assert await changes.prune(other, 5000) == 0
