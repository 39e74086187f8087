"""Imports of reference data and fixtures under /ops/v1/reference, and the reports of all imports."""

from typing import Annotated, Any
from uuid import UUID

import msgspec
from litestar import post
from litestar.params import FromPath, JSONBody, QueryParameter

from app.commands import reference_imports
from app.commands.reference_documents import ReferenceDocument, parse_document
from app.commands.reference_imports import Import
from app.domain.ids import match_urn
from app.domain.reference_reports import FixtureChange, ImportReport
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.kit.clock import iso_millis
from app.kit.errors import NotFound
from app.operations.api.dependencies import LIMITED, OPERATOR, Limit, Operators
from app.store import listings
from app.store import reference_imports as stored
from app.store.connections import Store
from app.wire.views.meta import Many, Single, many

_REFERENCE = "/ops/v1/reference"
_REPORTS = f"{_REFERENCE}/reports"


class FixtureChangeView(msgspec.Struct, frozen=True):
    """The match of a fixture, which is named by source and id: `created` (in a dry run it has no id yet), or
    `changed` in these fields. `urn` is null once the match is deleted."""

    reference: str
    action: str
    fields: tuple[str, ...]
    match_id: UUID | None
    urn: str | None


class RefusedRowView(msgspec.Struct, frozen=True):
    """A row that was not imported: its number in the document from 1 (0: all of it), the field, and why."""

    row: int
    field: str | None
    reason: str
    given: Any


class ReportView(msgspec.Struct, frozen=True, kw_only=True):
    """What an import did. `name` and `sha256` are those of a file, null for a request. `counts` has the rows
    of each kind, and `<kind>_changed` how many were new or differed; `unchanged` counts fixtures that were
    the same."""

    id: UUID
    at: str
    by: str
    name: str | None
    sha256: str | None
    dry_run: bool
    counts: dict[str, int]
    unchanged: int
    fixtures: tuple[FixtureChangeView, ...]
    refused: tuple[RefusedRowView, ...]


class ReportSummary(msgspec.Struct, frozen=True, kw_only=True):
    """An import, and how many matches it created and changed, and how many rows it refused."""

    id: UUID
    at: str
    by: str
    name: str | None
    sha256: str | None
    created: int
    changed: int
    refused: int


@post(_REFERENCE, opt=OPERATOR, status_code=200)
async def import_reference(
    request: AuthenticatedRequest,
    ops: Operators,
    data: JSONBody[ReferenceDocument],
    dry_run: Annotated[bool, QueryParameter(description="Only report what would be done.")] = False,
) -> Single[ReportView]:
    """Import reference data and fixtures: new fixtures create matches, changed ones change theirs before
    play. Rows that are refused are in the report, and leave the others alone; repeated ones change
    nothing."""
    how = Import(request.auth.actor, ops.clock, ops.pricing, dry_run=dry_run)
    report = await reference_imports.import_parsed(ops.store, parse_document(data), how)
    return Single(await _view(ops.store, report))


@get(_REPORTS, opt=LIMITED)
async def list_reference_reports(ops: Operators, limit: Limit = 100) -> Many[ReportSummary]:
    """The newest imports of reference data, newest first: those of requests, files and commands."""
    async with ops.store.autocommit() as tx:
        return many(_summary(one) for one in await stored.reports(tx, limit=limit))


@get(f"{_REPORTS}/{{report_id:uuid}}", opt=OPERATOR)
async def show_reference_report(ops: Operators, report_id: FromPath[UUID]) -> Single[ReportView]:
    """What one import changed, and what it refused."""
    async with ops.store.autocommit() as tx:
        found = await stored.report(tx, report_id)
    if found is None:
        raise NotFound(f"There is no report {report_id}; {_REPORTS} lists them.")
    return Single(await _view(ops.store, found))


async def _view(store: Store, report: ImportReport) -> ReportView:
    ids = [change.match_id for change in report.fixtures if change.match_id]
    async with store.autocommit() as tx:
        names = await listings.names_by_id(tx, ids)
    urns = {match_id: match_urn(name.number) for match_id, name in names.items()}
    return ReportView(
        id=report.id,
        at=iso_millis(report.at),
        by=report.by,
        name=report.name or None,
        sha256=report.sha256 or None,
        dry_run=report.dry_run,
        counts=report.counts,
        unchanged=report.unchanged,
        fixtures=tuple(_change(one, urns) for one in report.fixtures),
        refused=tuple(
            RefusedRowView(one.row, one.field or None, one.reason, one.given) for one in report.refused
        ),
    )


def _change(one: FixtureChange, urns: dict[UUID, str]) -> FixtureChangeView:
    urn = urns.get(one.match_id) if one.match_id else None
    return FixtureChangeView(one.reference, one.action, one.fields, one.match_id, urn)


def _summary(report: ImportReport) -> ReportSummary:
    actions = [one.action for one in report.fixtures]
    return ReportSummary(
        id=report.id,
        at=iso_millis(report.at),
        by=report.by,
        name=report.name or None,
        sha256=report.sha256 or None,
        created=actions.count("created"),
        changed=actions.count("changed"),
        refused=len(report.refused),
    )
