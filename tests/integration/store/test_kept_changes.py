"""The changes of a match are read whole, in order and once, wherever they are."""

import asyncio
from collections.abc import Callable
from itertools import groupby
from uuid import UUID, uuid4

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.domain.match import Match, Status
from app.domain.tenant import Tenant
from app.store import changes, kept_changes, matches, tenants
from app.store.changes import BOOKING, FEED_MARKET, ChangeDraft, ChangeRow, Place
from app.store.connections import Store
from tests.integration.store.conftest import NewMarket, NewMatch

Drafts = Callable[..., ChangeDraft]
_ALL = 2**62


async def append(store: Store, match: Match, drafts: list[ChangeDraft], now: int = 1000) -> None:
    async with store.transaction() as tx:
        await changes.append(tx, match, drafts, now)


async def read(store: Store, match_id: UUID, limit: int = 3) -> list[ChangeRow]:
    """Every change of the match, page by page."""
    rows: list[ChangeRow] = []
    while True:
        async with store.snapshot() as tx:
            page = await kept_changes.read(tx, match_id, rows[-1].seq if rows else 0, limit)
        if not page:
            return rows
        rows += page


async def logged(store: Store, match_id: UUID) -> list[ChangeRow]:
    """What the change log has of the match, before anything is pruned."""
    async with store.autocommit() as tx:
        return await changes.after(tx, 0, match_id, 10_000)


async def prune(store: Store, before: int = _ALL, limit: int = 2_000, *, keep: bool = True) -> int:
    async with store.transaction() as tx:
        return await changes.prune(tx, before, limit, keep=keep)


async def whole(store: Store, *match_ids: UUID) -> set[UUID]:
    async with store.autocommit() as tx:
        return await kept_changes.whole(tx, match_ids)


async def test_what_is_pruned_is_read_as_it_was(
    store: Store, new_match: NewMatch, draft: Drafts, settlement: ChangeDraft
) -> None:
    one, other = await new_match(), await new_match()
    odd = msgspec.structs.replace(draft(), body='{"a" : 1.50,\n "b":"ж\\u0000"}'.encode())
    await append(store, one, [draft(""), draft(), draft(), settlement])
    await append(store, other, [draft("fixture_change"), draft()])
    await append(store, one, [odd], 5000)
    await append(store, other, [draft()], 9000)
    before = {match.id: await logged(store, match.id) for match in (one, other)}
    assert await prune(store, 6000) == 7
    assert {match.id: await read(store, match.id) for match in (one, other)} == before
    assert await whole(store, one.id, other.id, uuid4()) == {one.id, other.id}
    async with store.autocommit() as tx:
        assert await changes.after(tx, 0, one.id, 10) == []


async def test_pages_end_where_an_envelope_ends(store: Store, match: Match, draft: Drafts) -> None:
    await append(store, match, [draft()] * 5 + [draft("bet_cancel")] * 2)
    async with store.snapshot() as tx:
        assert len(await kept_changes.read(tx, match.id, 0, 2)) == 5
    await append(store, match, [draft()])
    await prune(store)
    rows = await read(store, match.id, 1)
    assert [len(list(group)) for _, group in groupby(rows, key=lambda row: row.envelope_seq)] == [5, 2, 1]


async def test_rows_for_one_tenant_are_kept_with_their_match(
    store: Store, match: Match, draft: Drafts, market: NewMarket
) -> None:
    await append(store, match, [draft()])
    async with store.transaction() as tx:
        place = Place(await changes.take_place(tx), BOOKING)
        await changes.append_for_tenant(tx, place, uuid4(), {match.id: [market()]}, 2000)
    await append(store, match, [draft()], 3000)
    before = await logged(store, match.id)
    await prune(store)
    assert await read(store, match.id) == before
    assert [row.entity for row in before] == ["market", FEED_MARKET, "market"]
    assert await whole(store, match.id) == {match.id}


async def test_a_match_with_a_gap_is_not_whole(store: Store, new_match: NewMatch, draft: Drafts) -> None:
    cut, torn, other = await new_match(), await new_match(), await new_match()
    for match, keep in ((torn, True), (cut, False), (torn, False)):
        await append(store, match, [draft()])
        await append(store, other, [draft()])  # the log's newest envelope stays
        await prune(store, keep=keep)
    await append(store, torn, [draft()])
    await append(store, cut, [draft()])
    assert len(await read(store, torn.id)) == 2
    assert await whole(store, cut.id, torn.id) == set()


async def test_a_match_without_its_end_is_not_whole(store: Store, new_match: NewMatch, draft: Drafts) -> None:
    """A process that keeps nothing has pruned the end: one of a version before, or with other settings."""
    match, other = await new_match(), await new_match()
    for keep in (True, False):
        await append(store, match, [draft()])
        await append(store, other, [draft()])
        await prune(store, keep=keep)
    assert len(await read(store, match.id)) == 1
    assert await whole(store, match.id) == set()


async def test_kept_changes_are_deleted_by_age_and_with_their_match(
    store: Store, new_match: NewMatch, draft: Drafts
) -> None:
    old, young, last = await new_match(), await new_match(), await new_match()
    await append(store, old, [draft()], 1000)
    await append(store, young, [draft()], 5000)
    await append(store, last, [draft()], 9000)
    await prune(store)
    async with store.transaction() as tx:
        assert await kept_changes.prune(tx, 1000) == 0
        assert await kept_changes.prune(tx, 1001) == 1
    assert await read(store, old.id) == []
    assert len(await read(store, young.id)) == 1
    async with store.transaction() as tx:
        finished = msgspec.structs.replace(young, status=Status.FINISHED, finished_at=5000)
        await tx.write([matches.save_statement(finished)])
        assert await matches.trim(tx, 6000) == [young.id]
    assert await read(store, young.id) == []


async def test_a_booking_gap_is_stored_while_changes_of_it_are_kept(
    store: Store, match: Match, draft: Drafts
) -> None:
    tenant = Tenant(uuid4(), "books", "Books")
    await append(store, match, [draft()] * 2)
    async with store.transaction() as tx:
        await tenants.insert(tx, tenant, 1000)
        last = await changes.head(tx)
        await tenants.unbook(tx, tenant.id, match.id, last - 1)
        await tenants.book(tx, tenant.id, match.id, last)
    await append(store, match, [draft()])
    await prune(store)
    async with store.transaction() as tx:
        oldest = await changes.oldest(tx)
        assert await tenants.prune_booking_gaps(tx, oldest) == 0
        await kept_changes.prune(tx, _ALL)
        assert await tenants.prune_booking_gaps(tx, oldest) == 1


async def test_a_reader_misses_nothing_while_the_log_is_written_and_pruned(
    store: Store, new_match: NewMatch, draft: Drafts
) -> None:
    match, other = await new_match(), await new_match()
    done = asyncio.Event()

    async def write() -> None:
        for turn in range(60):
            await append(store, match, [draft()] * (1 + turn % 3), turn)
            await append(store, other, [draft()], turn)
        done.set()

    async def prune_always() -> None:
        while not done.is_set():
            await prune(store, limit=7)

    async def follow() -> list[ChangeRow]:
        rows: list[ChangeRow] = []
        while True:
            ended = done.is_set()
            async with store.snapshot() as tx:
                page = await kept_changes.read(tx, match.id, rows[-1].seq if rows else 0, 2)
            rows += page
            if ended and not page:
                return rows

    follower = asyncio.create_task(follow())
    await asyncio.gather(write(), prune_always())
    rows = await follower
    assert len(rows) == 120
    assert [row.prev_seq for row in rows if row.seq == row.envelope_seq] == [
        0,
        *[row.seq for row in rows if row.seq == row.envelope_seq][:-1],
    ]
    assert await whole(store, match.id) == {match.id}


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), max_size=12))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_parts_and_log_are_one_sequence(
    store: Store, new_match: NewMatch, draft: Drafts, turns: list[tuple[int, int]]
) -> None:
    match = await new_match()
    for silent, published in turns:
        await append(store, match, [draft("")] * silent + [draft()] * published)
    before = await logged(store, match.id)
    for limit in (2, 3, 5):
        await prune(store, limit=limit)
    assert await read(store, match.id) == before
    assert await whole(store, match.id) == ({match.id} if before else set())
