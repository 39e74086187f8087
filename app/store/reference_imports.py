"""Reports of imports of reference data, which also say which files were read; and which match each fixture of
a source became."""

from typing import Any, NamedTuple
from uuid import UUID

import msgspec
from piccolo.query import Insert, Select, Update

from app.domain.reference_reports import Fixture, ImportReport
from app.store.prepared import prepared, reading, reading_row, reading_rows
from app.store.row_mapping import RowMapping
from app.store.tables.reference import ImportedFixture, ReferenceReport
from app.store.transaction import Row, Tx

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(ImportReport).decode
_fixture = msgspec.json.Decoder(Fixture).decode
_REPORTS = RowMapping(ReferenceReport, ImportReport, derived={"body": _encode})


class KnownFixture(NamedTuple):
    """A fixture as it was imported last, and its match."""

    fixture: Fixture
    match_id: UUID


def _read(row: Row) -> ImportReport:
    return _decode(row["body"])


async def add_report(tx: Tx, report: ImportReport) -> None:
    await tx.change(_REPORTS.insert(report))


@reading_rows(_read)
def reports(*, limit: int) -> Select[Any]:
    """The newest `limit` reports, newest first."""
    query = ReferenceReport.select(ReferenceReport.body)
    return query.order_by(ReferenceReport.at, ReferenceReport.id, ascending=False).limit(limit)


@reading_row(_read)
def report(report_id: UUID, /) -> Select[Any]:
    return ReferenceReport.select(ReferenceReport.body).where(ReferenceReport.id == report_id)


@reading(bool)
def is_known(sha256: str, /) -> Select[Any]:
    """Whether a file with these bytes was read before."""
    query = ReferenceReport.select(ReferenceReport.id).where(ReferenceReport.sha256 == sha256)
    return query.limit(1)


@reading_row(lambda row: KnownFixture(_fixture(row["body"]), row["match_id"]))
def fixture(reference: str, /) -> Select[Any]:
    """The fixture as it was imported last."""
    columns = (ImportedFixture.body, ImportedFixture.match_id)
    return ImportedFixture.select(*columns).where(ImportedFixture.reference == reference)


async def claim(tx: Tx, one: Fixture, match_id: UUID) -> bool:
    """Bind a fixture to the match that is about to be created; False if it has one. Waits for another
    transaction that is about to bind the same one."""
    return bool(await tx.change(_insert(one.reference, match_id, _encode(one))))


async def save(tx: Tx, one: Fixture) -> None:
    """Store the fixture as it was imported now; its match stays."""
    await tx.change(_update(_encode(one), one.reference))


@prepared
def _insert(reference: str, match_id: UUID, body: bytes) -> Insert[Any]:
    row = ImportedFixture(reference=reference, match_id=match_id, body=body)
    return ImportedFixture.insert(row).on_conflict(action="DO NOTHING")


@prepared
def _update(body: bytes, reference: str) -> Update[Any]:
    own = ImportedFixture.reference == reference
    return ImportedFixture.update({ImportedFixture.body: body}).where(own)
