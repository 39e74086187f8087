"""Leaves follow the settlement ledger in its order, and heads cover them."""

import asyncio
from hashlib import sha256
from itertools import pairwise

import pytest

from app.domain.ledger_tree import HeadKind, SignedHead, StoredLeaf, leaf_bytes, leaf_hash, root
from app.kit.errors import Conflict
from app.ledger import writer as writing
from app.ledger.keys import UnusableKey
from app.ledger.prices import price_histories
from app.ledger.writer import LedgerWriter, rotate
from app.settings import Settings
from app.store import changes, history, ledger, restoration
from app.store.connections import Store
from tests.integration.ledger.conftest import DAY, HOUR, MIDNIGHT, NEXT
from tests.support.clocks import ManualClock
from tests.support.story import Story, offer


async def heads(store: Store) -> list[SignedHead]:
    async with store.autocommit() as tx:
        return await ledger.heads(tx, 0, limit=100)


async def leaves(store: Store, day: str) -> list[StoredLeaf]:
    async with store.autocommit() as tx:
        return await ledger.leaves(tx, day, 0, 2**31 - 1)


async def settle(story: Story, *rounds: int) -> None:
    offers = [offer(number) for number in rounds]
    await story.settle(await story.match(*offers), *offers)


async def test_each_entry_has_one_leaf_with_the_hash_of_the_one_before(
    story: Story, writer: LedgerWriter, store: Store, times: ManualClock
) -> None:
    match = await story.match(offer(1), offer(2))
    await story.settle(match, offer(1), offer(2))
    await writer.catch_up()
    await story.take_back(match, offer(1))
    await story.void(match, offer(1))
    times.now = MIDNIGHT + 1
    await writer.catch_up()
    await settle(story, 1)
    await writer.catch_up()
    async with store.autocommit() as tx:
        entries = [entry for _, _, entry in await history.ledger_since(tx, 0, 100)]
        about = await ledger.entries(tx, [entry.id for entry in entries])
    found = [*await leaves(store, DAY), *await leaves(store, NEXT)]
    assert [leaf.entry_id for leaf in found] == [entry.id for entry in entries]
    assert [(leaf.day, leaf.index) for leaf in found] == [
        *((DAY, 0), (DAY, 1)),
        *((NEXT, 0), (NEXT, 1), (NEXT, 2)),
    ], "what is not written when a day ends is in the next one"
    previous = bytes(32)
    for leaf in found:
        one = about[leaf.entry_id]
        assert leaf.hash == leaf_hash(leaf_bytes(leaf, previous, one.match_id, one.number, one.entry))
        previous = leaf.hash
    assert len({leaf.salt for leaf in found} | {leaf.price_salt for leaf in found}) == 2 * len(found)


async def test_heads_follow_hours_and_days_without_leaves_have_one(
    story: Story, writer: LedgerWriter, store: Store, times: ManualClock
) -> None:
    await settle(story, 1)
    for now in (MIDNIGHT - 600_000, MIDNIGHT - 1, MIDNIGHT, MIDNIGHT + HOUR - 1, MIDNIGHT + HOUR):
        times.now = now
        await writer.catch_up()
    await settle(story, 2)
    times.now = MIDNIGHT + 3 * 24 * HOUR
    await writer.catch_up()
    found = await heads(store)
    days = [NEXT, "2031-04-04", "2031-04-05"]
    shown = [(one.head.kind, one.head.day, one.head.size) for one in found]
    assert shown == [
        (HeadKind.HOUR, DAY, 0),
        (HeadKind.DAY, DAY, 1),
        (HeadKind.HOUR, NEXT, 0),
        *((HeadKind.DAY, day, 0) for day in days),
    ]
    assert [one.head.number for one in found] == [*range(1, 7)]
    assert all(sha256(one.body).hexdigest() == other.head.previous for one, other in pairwise(found))
    assert found[1].head.root == root([(await leaves(store, DAY))[0].hash]).hex()
    assert [leaf.index for leaf in await leaves(store, "2031-04-06")] == [0]


async def test_several_processes_write_each_leaf_once(
    story: Story, settings: Settings, store: Store, times: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "BATCH", 2)
    several = [LedgerWriter(store, settings.secret_key, times) for _ in range(4)]
    for number in range(3):
        await settle(story, *range(1, 6))
        times.now += HOUR
        await asyncio.gather(*(one.catch_up() for one in several))
        assert len(await heads(store)) == number + 1
    await several[0].catch_up()
    async with store.autocommit() as tx:
        assert await ledger.behind(tx, await ledger.reached(tx)) == 0
    found = [*await leaves(store, DAY), *await leaves(store, NEXT)]
    assert len(found) == 15


async def test_nothing_is_signed_while_another_transaction_has_the_state(
    story: Story, writer: LedgerWriter, store: Store
) -> None:
    await settle(story, 1)
    async with store.transaction() as tx:
        await ledger.lock(tx, skip=False)
        await writer.catch_up()
        assert not await heads(store)
    await writer.catch_up()
    assert len(await leaves(store, DAY)) == 1


async def test_prices_are_those_of_the_log_and_of_what_was_kept(
    story: Story, writer: LedgerWriter, store: Store, times: ManualClock
) -> None:
    """The same, whether rows were pruned before the leaf was written or not."""
    match = await story.match(offer(1), offer(2))
    for odds in ("1.9", "2", "2.125"):
        times.now += 1000
        await story.offer(match, offer(1, odds=odds), offer(2))
    await story.settle(match, offer(1))
    async with store.snapshot() as tx:
        found = await history.ledger_since(tx, 0, 10)
        before = await price_histories(tx, found)
    entry = found[0][2]
    lines = before[entry.id].lines.decode().splitlines()
    assert [line.split()[2:] for line in lines] == [
        ["active", odds] for odds in ("1850", "1900", "2000", "2125")
    ]
    async with store.transaction() as tx:
        assert await changes.prune(tx, times.now)
    async with store.snapshot() as tx:
        assert await price_histories(tx, found) == before
    await writer.catch_up()
    (leaf,) = await leaves(store, DAY)
    digest = sha256(leaf.price_salt + sha256(before[entry.id].lines).digest()).digest()
    assert (leaf.price_count, leaf.price_first_seq, leaf.price_digest) == (
        4,
        int(lines[0].split()[0]),
        digest,
    )


async def test_a_rotation_is_signed_by_both_keys_and_the_old_one_is_gone(
    writer: LedgerWriter, store: Store, settings: Settings, times: ManualClock
) -> None:
    with pytest.raises(Conflict, match="no head yet"):
        await rotate(store, settings.secret_key, by="test", clock=times)
    await writer.catch_up()
    made = await rotate(store, settings.secret_key, by="test", clock=times)
    times.now += HOUR
    await writer.catch_up()
    async with store.autocommit() as tx:
        old, new = await ledger.keys(tx)
    assert old.private_key is None
    assert old.retired_at == MIDNIGHT - 600_000
    assert (made.head.kind, made.head.key_id, made.head.next_key) == (
        HeadKind.ROTATION,
        old.id,
        new.public_key.hex(),
    )
    assert [one.key_id for one in made.signatures] == [old.id, new.id]
    assert [one.key_id for one in (await heads(store))[-1].signatures] == [new.id]


async def test_a_rotation_does_not_hide_that_the_database_was_restored(
    writer: LedgerWriter, store: Store, settings: Settings, times: ManualClock
) -> None:
    await writer.catch_up()
    async with store.transaction() as tx:
        await ledger.set_restored(tx, True)
    await rotate(store, settings.secret_key, by="test", clock=times)
    await writer.catch_up()
    kinds = [one.head.kind for one in await heads(store)]
    assert kinds == [HeadKind.HOUR, HeadKind.RESTORED, HeadKind.ROTATION]


async def test_a_clock_that_is_behind_signs_nothing_earlier(
    writer: LedgerWriter, store: Store, settings: Settings, times: ManualClock
) -> None:
    await writer.catch_up()
    for _ in range(2):
        times.now -= HOUR
        made = await rotate(store, settings.secret_key, by="test", clock=times)
        assert made.head.time == MIDNIGHT - 600_000
        async with store.autocommit() as tx:
            assert (await ledger.keys(tx))[-1].id == made.signatures[-1].key_id
    await writer.catch_up()
    assert len(await heads(store)) == 3


async def test_leaves_are_written_under_a_key_that_cannot_be_used_and_heads_wait(
    story: Story, store: Store, settings: Settings, times: ManualClock
) -> None:
    await LedgerWriter(store, settings.secret_key, times).catch_up()
    other = LedgerWriter(store, "another secret that is long enough", times)
    times.now = MIDNIGHT + HOUR
    await settle(story, 1)
    await other.catch_up()
    assert len(await leaves(store, DAY)) == 1
    assert len(await heads(store)) == 1
    with pytest.raises(UnusableKey, match="--without-old-key"):
        await rotate(store, "another secret that is long enough", by="test", clock=times)
    made = await rotate(
        store, "another secret that is long enough", by="test", without_old_key=True, clock=times
    )
    assert made.head.kind is HeadKind.NEW_KEY
    await other.catch_up()
    assert [one.head.kind for one in await heads(store)][2:] == [HeadKind.DAY]


async def test_a_restored_database_says_so_in_a_head(
    story: Story, writer: LedgerWriter, store: Store, times: ManualClock
) -> None:
    await settle(story, 1)
    await writer.catch_up()
    async with store.transaction() as tx:
        await restoration.go_on_from(tx, 10_000, 10, times.now, expelled=True)
    await writer.catch_up()
    await settle(story, 1)
    times.now += HOUR
    await writer.catch_up()
    assert [one.head.kind for one in await heads(store)] == [
        *(HeadKind.HOUR, HeadKind.RESTORED, HeadKind.DAY),
    ]
    assert [len(await leaves(store, day)) for day in (DAY, NEXT)] == [1, 1]
