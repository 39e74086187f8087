"""The settlement ledger: its entries newest first, each with the facts that it rests on, and as CSV."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
from litestar import Response
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response import Stream

from app.access.reach import match_within, reach_of
from app.channels.portal import ledger_filter, settlement_file
from app.channels.portal.dependencies import PortalDependencies, SignedInRequest
from app.channels.portal.ledger_filter import LedgerQuery
from app.channels.portal.market_paths import market_path
from app.domain import scopes
from app.domain.reach import Reach
from app.domain.tenant import Tenant
from app.http.reading import get
from app.kit.errors import Invalid, NotFound, Refusal
from app.pages.error_pages import sentences
from app.pages.market_names import type_names
from app.pages.rendering import HEADERS, page, texts_for
from app.pages.settlement_rows import SettlementRow, evidence, rows_of
from app.pages.texts import Texts
from app.store import matches
from app.store import settlements as ledger
from app.store.settlements import NEWEST, LedgerFilter, LedgerResult
from app.store.transaction import Tx

_PATH, _FILE = "/portal/settlements", "/portal/settlements.csv"
_ROWS = 50
_FILE_ROWS = 500  #: entries read at a time: so many are in memory, however long the file
_LIST: dict[str, Any] = {"query": (*ledger_filter.PARAMETERS, "before")}
_CSV: dict[str, Any] = {"query": ledger_filter.PARAMETERS}


class _Scope(msgspec.Struct, frozen=True):
    """What a request may see of the ledger, and which part of that it wants."""

    tenant: Tenant
    reach: Reach
    wanted: LedgerFilter


@get("/settlements", opt=_LIST)
async def settlements(request: SignedInRequest, portal: NamedDependency[PortalDependencies]) -> Response[str]:
    """A page of the ledger."""
    try:
        query = ledger_filter.parse(request.query_params)
        async with portal.store.snapshot() as tx:
            scope = await _scope(tx, request, query)
            rows = await _rows(tx, texts_for(request), scope, query.before, _ROWS + 1)
    except (Invalid, NotFound) as refusal:
        return _list_page(request, ledger_filter.unfiltered(request.query_params), [], refusal)
    return _list_page(request, query, rows)


@get("/settlements.csv", opt=_CSV)
async def settlements_file(request: SignedInRequest, portal: NamedDependency[PortalDependencies]) -> Stream:
    """Every entry that the same filter shows, as CSV."""
    query = ledger_filter.parse(request.query_params)
    async with portal.store.autocommit() as tx:
        scope = await _scope(tx, request, query)
    return Stream(
        _file(portal, texts_for(request), scope),
        media_type="text/csv; charset=utf-8; header=present",
        headers=HEADERS | {"Content-Disposition": 'attachment; filename="settlements.csv"'},
    )


@get("/settlements/{entry_id:int}")
async def settlement(
    request: SignedInRequest, portal: NamedDependency[PortalDependencies], entry_id: FromPath[int]
) -> Response[str]:
    """One entry, with what it rests on and everything else that the ledger has of its market."""
    tenant, off = request.auth.tenant, request.auth.tenant.types_off
    async with portal.store.snapshot() as tx:
        reach = await reach_of(tx, tenant, scopes.SETTLEMENTS)
        found = await ledger.get(tx, tenant.id, reach, entry_id, off) if 0 < entry_id <= NEWEST else None
        match = await matches.get(tx, found.match_id) if found else None
        if found is None or match is None:
            what = f"There is no settlement {entry_id}."
            raise NotFound(what, code="no_settlement", settlement=entry_id)
        values = await evidence(tx, texts_for(request), found, match, market_path, off)
    return page(request, "ledger_entry.html", **values)


async def _scope(tx: Tx, request: SignedInRequest, query: LedgerQuery) -> _Scope:
    tenant = request.auth.tenant
    reach = await reach_of(tx, tenant, scopes.SETTLEMENTS)
    match = await match_within(tx, tenant.id, reach, query.match) if query.match else None
    wanted = msgspec.structs.replace(query.wanted, match_id=match.id if match else None)
    return _Scope(tenant, reach, wanted)


async def _rows(tx: Tx, texts: Texts, scope: _Scope, before: int, limit: int) -> list[SettlementRow]:
    tenant, reach = scope.tenant, scope.reach
    found = await ledger.page(
        tx, tenant.id, reach, scope.wanted, tenant.types_off, before=before, limit=limit
    )
    return await rows_of(tx, texts, found, market_path)


async def _file(portal: PortalDependencies, texts: Texts, scope: _Scope) -> AsyncIterator[str]:
    """The lines of the file, in pieces. Entries are only ever added, with higher ids: what lies below an id
    stays the same from one piece to the next."""
    yield settlement_file.header()
    before = NEWEST
    while True:
        async with portal.store.autocommit() as tx:
            rows = await _rows(tx, texts, scope, before, _FILE_ROWS)
        if not rows:
            return
        yield settlement_file.lines(rows)
        before = rows[-1].entry.id


def _list_page(
    request: SignedInRequest, query: LedgerQuery, rows: list[SettlementRow], refusal: Refusal | None = None
) -> Response[str]:
    shown = rows[:_ROWS]
    older = query.link(_PATH, before=shown[-1].entry.id) if len(rows) > _ROWS else ""
    return page(
        request,
        "settlements.html",
        status=refusal.status if refusal else 200,
        rows=shown,
        sent=query.sent,
        types=type_names(texts_for(request)),
        results=list(LedgerResult),
        older=older,
        file=query.link(_FILE),
        sentences=sentences(request, refusal) if refusal else [],
    )


HANDLERS = (settlements, settlements_file, settlement)
