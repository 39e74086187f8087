"""The histories' copy of the change log has what is pruned from the log."""

from collections.abc import Callable

from app.store import changes
from app.store.changes import ChangeDraft
from app.store.connections import Store
from scripts.lab import recorded_log
from tests.integration.store.conftest import NewMatch


async def test_the_copy_has_what_is_pruned(
    store: Store, new_match: NewMatch, draft: Callable[..., ChangeDraft]
) -> None:
    async with store.transaction() as tx:
        await recorded_log.install(tx)
        await recorded_log.install(tx)  # a cluster that is used again has it
    match = await new_match()
    for now in (1000, 2000):
        async with store.transaction() as tx:
            match = await changes.append(tx, match, [draft(), draft("bet_cancel", "x")], now)
    async with store.autocommit() as tx:
        appended = await changes.read(tx, 0, 1000)
        assert await recorded_log.read(tx, 0) == appended
        assert await changes.prune(tx, 1500)
        left = await changes.read(tx, 0, 1000)
        assert len(left) < len(appended) == 4
        assert await recorded_log.read(tx, 0) == appended
        assert await recorded_log.read(tx, appended[0].seq) == appended[1:]
        assert await recorded_log.marks(tx) == ()
