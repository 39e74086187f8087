"""One batch, one transaction: from bytes to everything that follows from them."""

from msgspec.structs import replace

from app.ingest import offsets
from app.ingest.batch import Batch
from app.ingest.run import Run
from app.ingest.terms import Terms
from app.store import matches, sources
from app.store.connections import Store
from app.store.sources import Pending


async def apply(store: Store, batch: Batch, now: int, terms: Terms) -> str:
    """Apply a batch, and whatever waited for it; what became of it: applied, repeat or early.

    Raises `NotFound` for an unknown match, `Unavailable` while the database is away, and whatever a batch
    that makes no sense brings about; in every case nothing is written.
    """
    async with store.transaction() as tx:
        match = await matches.lock(tx, batch.match_id)
        source = await sources.get(tx, match.id)
        given = offsets.as_pending(batch)
        if offsets.is_repeat(source, batch.id, given):
            return "repeat"
        source = offsets.follow(source, given) if given else source
        if given is not None and offsets.is_early(source, given):
            await tx.write([sources.saving(source)])
            await sources.keep(tx, match.id, given, now)
            return "early"
        run = Run(tx, match, source)
        await run.take(given or Pending("", 0, 0, batch.body, batch.arrived_at), known=given is not None)
        await run.take_waiting()
        run.source = replace(run.source, last_message=batch.id)
        await run.finish(now, terms)
    return "applied"
