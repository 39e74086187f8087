"""After a restore no number and no timestamp that a client may have received is used for anything else."""

from app.access import admin
from app.channels.stream.projection import Projection
from app.domain.ids import match_number_at, number_in_match_at, seq_at
from app.domain.market import MarketStatus
from app.domain.match import Status
from app.kit.clock import system_clock
from app.store import changes, cursors, history
from app.store.connections import Store
from tests.integration.operations.restoration.conftest import PutInOrder
from tests.support.stored import changes_after, head, present
from tests.support.story import Story, offer


async def test_numbers_go_on_above_all_that_can_have_been_published(
    store: Store, story: Story, put_in_order: PutInOrder
) -> None:
    match = await story.match(offer(1))
    begun = system_clock()
    done = await put_in_order()
    assert done.mark > seq_at(begun)
    await story.offer(match, offer(2))
    published = [row for row in await changes_after(store, 0) if row.message]
    assert min(row.seq for row in published) > done.mark > done.known.head
    assert min(row.at for row in published) >= begun
    # Whatever a client has of this match, it sees that something is missing.
    assert published[0].prev_seq == done.mark
    new = await story.match()
    assert new.number > match_number_at(begun)
    after = await present(store, match)
    assert min(after.next_history_id, after.revision) >= number_in_match_at(begun)


async def test_the_seq_that_an_operator_knows_to_be_published_is_passed(
    store: Store, story: Story, put_in_order: PutInOrder
) -> None:
    highest = seq_at(system_clock()) + 10**12
    assert (await put_in_order(published_seq=highest)).mark > highest
    await story.offer(await story.match(), offer(1))
    assert all(row.seq > highest for row in await changes_after(store, 0))


async def test_a_clock_that_was_ahead_at_the_last_restore_costs_nothing(put_in_order: PutInOrder) -> None:
    """What the database itself knows is passed, too."""
    highest = seq_at(system_clock()) + 10**12
    await put_in_order(published_seq=highest)
    assert (await put_in_order()).mark > highest


async def test_a_stream_that_resumes_from_before_receives_a_snapshot_with_new_numbers(
    store: Store, story: Story, put_in_order: PutInOrder
) -> None:
    live, upcoming = await story.match(), await story.match(status=Status.UPCOMING)
    for match in (live, upcoming):
        await story.offer(match, offer(1), offer(2, status=MarketStatus.SUSPENDED))
    before = await head(store)
    done = await put_in_order()
    projection = Projection(store, None)
    await projection.advance()
    assert projection.seq > done.mark and len(projection.states) == 2
    for lost in (1, before, before + 50, done.mark - 2):
        assert await projection.changes_since(lost, 10_000) is None
    async with store.autocommit() as tx:
        numbers = await changes.newest_seqs(tx, list(projection.states))
    assert len(numbers) == 6 and min(numbers.values()) >= done.mark


async def test_the_ledger_goes_on_behind_what_a_client_has_of_it(
    store: Store, story: Story, put_in_order: PutInOrder
) -> None:
    match = await story.match(offer(1), offer(2))
    lost = (await put_in_order()).mark - 1
    await story.settle(match, offer(2))
    async with store.autocommit() as tx:
        found = await history.ledger_since(tx, lost, 10, ())
    assert [entry.specifiers for *_, entry in found] == [offer(2).specifiers]


async def test_every_tenant_is_to_be_notified_and_reads_from_there(
    store: Store, put_in_order: PutInOrder, slug: str
) -> None:
    async with store.transaction() as tx:
        for name in (slug, f"{slug}-2"):
            await admin.create_tenant(tx, name, name, by="tester", now=1)
        await tx.execute("UPDATE tenant SET amqp = true WHERE slug = $1", slug)
        await cursors.create_missing(tx)
        [leased] = await cursors.acquire(tx, "a process of the past", 1, 600_000)
        await tx.execute("UPDATE tenant_cursor SET former_holders = '{an earlier process}'")
    done = await put_in_order()
    async with store.transaction() as tx:
        [now] = await cursors.acquire(tx, "a new process", 1, 600_000)
    assert (now.slug, now.seq, now.notice_pending, now.former_holders) == (slug, done.mark, True, ())
    assert now.epoch > leased.epoch and done.tenants_notified == 1


async def test_the_mark_is_in_the_log_and_published_to_nobody(store: Store, put_in_order: PutInOrder) -> None:
    done = await put_in_order()
    [row] = await changes_after(store, 0)
    assert (row.seq, row.message, row.frame) == (done.mark, "", "")
