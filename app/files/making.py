"""Makes the files of a day: for each kind the variants that some key may have, one after the other."""

import asyncio
import time
from collections.abc import Iterable
from contextlib import ExitStack
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from app.domain.daily_files import (
    DAY_MILLIS,
    SCOPES,
    FileFormat,
    FileKind,
    Seqs,
    Variant,
    begin_of,
    last_complete_day,
    variant_of,
)
from app.domain.tenant import Tenant
from app.files.content import FileContent, batches
from app.files.directory import DayManifest, FileDirectory, StoredFile, sha256_of
from app.files.formats import GROUP_ROWS, FileWriter, formats, open_writer
from app.kit.clock import Clock
from app.kit.errors import Conflict
from app.kit.logging import get_logger
from app.store import daily_files, keys, tenants
from app.store.connections import Store
from app.store.transaction import Tx
from app.wire.views.file_rows import FileRow, columns_of

_SPORT = "cs2"
#: What follows from a change for a tenant has a timestamp that is later by so much at most.
_BEFORE_MILLIS = 3_600_000
log = get_logger(__name__)


class MadeDay(NamedTuple):
    """A day, the files that were made of it now, and how many it has."""

    day: date
    made: tuple[StoredFile, ...]
    files: int


async def make_missing(store: Store, directory: FileDirectory, days: int, clock: Clock) -> list[MadeDay]:
    """Delete the files of days before the last `days`; then make those of the last complete day, and of those
    since the newest day that has files, `days` at most. Raises `Conflict` while another process makes
    files, `Unavailable`, and errors of the file system."""
    last = last_complete_day(clock())
    with directory.lock():
        newest = next(iter(directory.days()), last)
        first = max(min(newest + timedelta(days=1), last), oldest_day(last, days))
        directory.prune(oldest_day(last, days))  # first, for it makes room
        count = (last - first).days + 1
        return [await _make(store, directory, first + timedelta(days=each)) for each in range(count)]


def oldest_day(last: date, days: int) -> date:
    """The first of so many days up to the last one."""
    return last - timedelta(days=days - 1)


async def make_day(store: Store, directory: FileDirectory, day: date, clock: Clock) -> MadeDay:
    """Make the files of a day that are not there yet. Raises as `make_missing`, and `Conflict` for a day
    that is not complete."""
    last = last_complete_day(clock())
    if day > last:
        raise Conflict(f"{day} is not complete yet; the last day that is, is {last}.")
    with directory.lock():
        return await _make(store, directory, day)


async def _make(store: Store, directory: FileDirectory, day: date) -> MadeDay:
    known = directory.manifest(day)
    async with store.snapshot() as tx:
        found = await tenants.listing(tx)
        seqs = known.seqs if known else await _seqs(tx, day, found)
        wanted = await _variants(tx, found, seqs)
    there = tuple(one for one in known.files if directory.is_whole(day, one)) if known else ()
    made: list[StoredFile] = []
    with directory.unfinished(day) as folder:
        for variant, tenant_id in wanted.items():
            missing = _missing(there, variant)
            if missing:
                content = FileContent(day, variant, tenant_id)
                made += await _write(store, directory, folder, content, missing)
    directory.save(DayManifest(day, seqs, (*there, *made)))
    return MadeDay(day, tuple(made), len(there) + len(made))


async def _seqs(tx: Tx, day: date, known: Iterable[Tenant]) -> Seqs:
    """Those of the day's changes, and of what was changed for tenants on that day or just before it: changes
    of the day that are for one tenant follow from it."""
    begin = begin_of(day)
    found = await daily_files.seqs(tx, begin, begin + DAY_MILLIS)
    times = range(begin - _BEFORE_MILLIS, begin + DAY_MILLIS)
    places = [seq for tenant in known for seq, at in tenant.offer.places() if at in times]
    return Seqs(min([found.first, *places]), found.last)


async def _variants(tx: Tx, known: Iterable[Tenant], seqs: Seqs) -> dict[Variant, UUID]:
    """The variants that some active key may have, each with a tenant that has it."""
    found: dict[Variant, UUID] = {}
    for tenant in known:
        if tenant.active:
            for variant in await _variants_of(tx, tenant, seqs):
                found.setdefault(variant, tenant.id)
    return found


async def _variants_of(tx: Tx, tenant: Tenant, seqs: Seqs) -> list[Variant]:
    issued = [each for each in await keys.listing(tx, tenant.id) if each.active and _SPORT in each.sports]
    rights = {
        (kind, each.finished_only) for each in issued for kind in FileKind if SCOPES[kind] in each.scopes
    }
    return [variant_of(kind, tenant, seqs, finished_only=limited) for kind, limited in sorted(rights)]


def _missing(there: Iterable[StoredFile], variant: Variant) -> list[FileFormat]:
    made = {one.form for one in there if (one.kind, one.variant) == (variant.kind, variant.digest)}
    return [form for form in formats() if form not in made]


async def _write(
    store: Store, directory: FileDirectory, folder: Path, content: FileContent, wanted: list[FileFormat]
) -> list[StoredFile]:
    """Write a variant in these formats."""
    began, variant = time.monotonic(), content.variant
    columns = columns_of(variant.kind, probabilities=variant.probabilities)
    paths = {form: folder / form for form in wanted}
    with ExitStack() as stack:
        writers = [stack.enter_context(open_writer(form, path, columns)) for form, path in paths.items()]
        rows, complete = await _write_rows(store, content, writers)
    made = [
        StoredFile(
            kind=variant.kind,
            form=form,
            variant=variant.digest,
            size=path.stat().st_size,
            rows=rows,
            sha256=sha256_of(path),
            complete=complete,
            columns=columns,
        )
        for form, path in paths.items()
    ]
    for file in made:
        directory.add(content.day, paths[file.form], file)
    took = round(time.monotonic() - began, 1)
    about = {"day": str(content.day), "kind": variant.kind.value, "variant": variant.digest}
    log.info("files made", **about, rows=rows, bytes=[one.size for one in made], seconds=took)
    if not complete:
        log.warning("changes of the day are missing in a file: they were not kept", **about)
    return made


async def _write_rows(store: Store, content: FileContent, writers: list[FileWriter]) -> tuple[int, bool]:
    """How many rows were written, and whether they are complete. Writing is done by other threads, which
    leave the interpreter to this one while they compress."""
    count, complete = 0, True
    waiting: list[FileRow] = []
    async for batch in batches(store, content):
        complete = complete and batch.complete
        waiting += batch.rows
        while len(waiting) >= GROUP_ROWS:
            group, waiting = waiting[:GROUP_ROWS], waiting[GROUP_ROWS:]
            await _write_group(writers, group)
            count += len(group)
    if waiting:
        await _write_group(writers, waiting)
    return count + len(waiting), complete


async def _write_group(writers: list[FileWriter], group: list[FileRow]) -> None:
    await asyncio.gather(*(asyncio.to_thread(writer.write, group) for writer in writers))
