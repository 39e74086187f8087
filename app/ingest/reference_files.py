"""Reference data from files in a folder: each is imported once, when it is complete.

A file is complete when its size and its time of modification are the same at two looks. Names that begin with
a dot, and endings that `commands.reference_documents` does not know, are passed over: who writes slowly
writes under such a name, and renames the file when it is whole.

Files are neither moved nor deleted. Which were read is known by the SHA-256 of their bytes, from the reports
of imports; so a file that could not be read is not tried again until it changes. Every ingest process looks,
and one at a time imports. What an import refuses opens an alert about the file, which ends with the next
import of a file of that name that refuses nothing.
"""

import asyncio
import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from app.commands.reference_documents import MAX_BYTES, SUFFIXES, parse_file
from app.commands.reference_imports import Import, import_parsed, report_unreadable
from app.domain.reference_reports import ImportReport
from app.kit.background import wait_for_event
from app.kit.clock import Clock
from app.kit.control_characters import escape_control_characters
from app.kit.errors import Field, Invalid, Unavailable
from app.kit.heavy_work import run_in_thread
from app.kit.logging import get_logger
from app.store import alerts, reference_imports
from app.store.alerts import AlertKind, AlertSubject
from app.store.connections import Store
from app.store.exclusive import REFERENCE_FILES, exclusive
from app.trading.pricing import PricingConfig

_EVERY_SECONDS = 5.0
log = get_logger(__name__)


class SeenFile(NamedTuple):
    """A file as it was at one look; `modified` in nanoseconds."""

    modified: int
    name: str
    size: int

    @property
    def shown_name(self) -> str:
        """The name as reports have it: names of files are bytes, which need not be text."""
        return os.fsencode(self.name).decode(errors="replace")


class ReferenceFolder:
    """The folder as this process knows it."""

    def __init__(self, store: Store, folder: Path, pricing: PricingConfig, clock: Clock) -> None:
        self._store, self._folder, self._pricing, self._clock = store, folder, pricing, clock
        self._before: set[SeenFile] = set()
        self._done: set[SeenFile] = set()
        self._readable: bool | None = None  #: the folder, at the last look

    async def watch(self, stopping: asyncio.Event) -> None:
        """Look every few seconds until `stopping` is set."""
        while not stopping.is_set():
            try:
                await self.look()
            except Unavailable as error:
                log.warning("the database is unavailable", error=error.detail)
            await wait_for_event(stopping, _EVERY_SECONDS)

    async def look(self) -> list[ImportReport]:
        """Import the files that have become complete, the oldest first, unless another process is importing;
        the reports. Raises `Unavailable`; what was not imported then is at the next look."""
        try:
            present = await run_in_thread(_listed, self._folder)
        except OSError as error:
            await self._note_folder(f"the folder cannot be read: {error}")
            return []
        await self._note_folder("")
        complete = sorted(present & self._before - self._done)
        self._before, self._done = present, self._done & present
        if not complete:
            return []
        async with exclusive(self._store, REFERENCE_FILES) as mine:
            found = [await self._imported(file) for file in complete] if mine else []
        return [report for report in found if report is not None]

    async def _note_folder(self, fault: str) -> None:
        """Open or end the alert about the folder, when that has changed."""
        readable = not fault
        if readable is not self._readable:
            await self._alert(str(self._folder), fault)
            self._readable = readable

    async def _imported(self, file: SeenFile) -> ImportReport | None:
        """Import a file; None if it was read before, has changed since, or cannot be read."""
        try:
            body = await run_in_thread(_read, self._folder, file)
            report = None if body is None else await self._import(file, body)
        except FileNotFoundError:
            return None
        except Unavailable:
            raise
        except Exception as error:
            log.exception("a file of reference data cannot be imported", file=file.shown_name)
            await self._alert(file.shown_name, f"it cannot be imported: {error}")
            report = None
        self._done.add(file)
        return report

    async def _import(self, file: SeenFile, body: bytes) -> ImportReport | None:
        sha256 = hashlib.sha256(body).hexdigest()
        async with self._store.autocommit() as tx:
            if await reference_imports.is_known(tx, sha256):
                return None
        name = file.shown_name
        how = Import(f"file:{name}", self._clock, self._pricing, name, sha256)
        try:
            if len(body) > MAX_BYTES:
                raise Invalid(Field((), f"It has more than {MAX_BYTES} bytes: divide it.", "too_large"))
            parsed = await run_in_thread(parse_file, name, body)
        except Invalid as error:
            report = await report_unreadable(self._store, error, how)
        else:
            report = await import_parsed(self._store, parsed, how)
        log.info("reference data imported", file=name, refused=len(report.refused), report=report.id)
        await self._alert(name, _refusals(report))
        return report

    async def _alert(self, subject: str, detail: str) -> None:
        """Open the alert about a file or the folder, or end it without a `detail`."""
        about = AlertSubject(AlertKind.REFERENCE_REFUSED, subject=subject)
        async with self._store.transaction() as tx:
            if detail:
                await alerts.begin(tx, about, escape_control_characters(detail), self._clock())
            else:
                await alerts.end(tx, about, self._clock())


def _refusals(report: ImportReport) -> str:
    """What a report refuses, in one line; "" for nothing."""
    if not report.refused:
        return ""
    first = report.refused[0]
    place = " ".join(filter(None, (f"row {first.row}" if first.row else "", first.field)))
    what = f"{place}: {first.reason}" if place else first.reason
    return f"{len(report.refused)} refused; {what} (report {report.id})"


def _listed(folder: Path) -> set[SeenFile]:
    """The files that may be imported; raises `OSError`."""
    found = set()
    for path in folder.iterdir():
        if path.name.startswith(".") or not path.name.endswith(SUFFIXES) or not path.is_file():
            continue
        with suppress(FileNotFoundError):  # it is gone since
            status = path.stat()
            found.add(SeenFile(status.st_mtime_ns, path.name, status.st_size))
    return found


def _read(folder: Path, file: SeenFile) -> bytes | None:
    """The file's bytes, as far as one is needed that is too large; None if it has changed."""
    path = folder / file.name
    with path.open("rb") as opened:
        body = opened.read(MAX_BYTES + 1)
    status = path.stat()
    return body if (status.st_mtime_ns, status.st_size) == (file.modified, file.size) else None
