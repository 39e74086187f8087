"""The settlement ledger: its entries newest first, each with the facts that it rests on; filtered by the
parameters of the query; and as CSV (RFC 4180, UTF-8) for spreadsheets and reconciliation.
"""

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from urllib.parse import urlencode

import msgspec
from litestar import Response
from litestar.params import FromPath
from litestar.response import Stream

from app.access.reach import match_within, reach_of
from app.domain import catalogue, scopes
from app.domain.claims import result_entry
from app.domain.scopes import Reach
from app.domain.tenant import Tenant
from app.http.handlers import get
from app.kit.clock import iso_seconds
from app.kit.csv_rows import CSV_WITH_HEADER, csv_text
from app.kit.errors import Field, Invalid, NotFound, Refusal
from app.sites.pages.rendering import download_headers, page, texts_for
from app.sites.pages.sessions import SignedInRequest
from app.sites.pages.settlements import SettlementRow, evidence, rows_of
from app.sites.pages.texts import Texts
from app.sites.portal.dependencies import Portal
from app.sites.portal.site import market_path, new_claim_path
from app.store import matches
from app.store import settlements as ledger
from app.store.settlements import NEWEST, LedgerFilter, LedgerResult
from app.store.transaction import Tx

_PATH, _FILE = "/portal/settlements", "/portal/settlements.csv"
_FILTER_PARAMETERS = ("match", "type", "result", "since", "until")
_ROWS = 50
_FILE_ROWS = 100  #: entries read at a time: other requests are served between two pieces
CSV_COLUMNS = (
    *("id", "time", "match", "match_name", "market_id", "specifiers", "market", "entry", "result"),
    *("previous_status", "new_status", "void_reason_id", "void_reason", "reason", "settled_by"),
    *("is_resettlement", "void_from", "void_until", "rolled_back_by", "rests_on"),
)


class LedgerQuery(msgspec.Struct, frozen=True):
    """The parameters as they were sent, the filter that they make but for the match, and the id that the
    page begins below."""

    sent: dict[str, str]
    wanted: LedgerFilter
    before: int

    @property
    def match(self) -> str:
        """How the match is named, empty for all."""
        return self.sent["match"]

    def link(self, path: str, **more: object) -> str:
        """`path` with these parameters and others."""
        given = {name: value for name, value in self.sent.items() if value}
        return f"{path}?{urlencode(given | more)}" if given or more else path


class _Scope(msgspec.Struct, frozen=True):
    """What a request may see of the ledger, and which part of that it wants."""

    tenant: Tenant
    reach: Reach
    wanted: LedgerFilter


@get("/settlements", opt={"query": (*_FILTER_PARAMETERS, "before")})
async def settlements(request: SignedInRequest, portal: Portal) -> Response[str]:
    """A page of the ledger."""
    try:
        query = parsed_filter(request.query_params)
        async with portal.store.snapshot() as tx:
            scope = await _scope(tx, request, query)
            rows = await _rows(tx, texts_for(request), scope, query.before, _ROWS + 1)
    except (Invalid, NotFound) as refusal:
        return _list_page(request, without_filter(request.query_params), [], refusal)
    return _list_page(request, query, rows)


@get("/settlements.csv", opt={"query": _FILTER_PARAMETERS, "concurrency_limited": True})
async def settlements_file(request: SignedInRequest, portal: Portal) -> Stream:
    """Every entry that the same filter shows, as CSV."""
    query = parsed_filter(request.query_params)
    async with portal.store.autocommit() as tx:
        scope = await _scope(tx, request, query)
    return Stream(
        _file(portal, texts_for(request), scope),
        media_type=CSV_WITH_HEADER,
        headers=download_headers("settlements.csv"),
    )


@get("/settlements/{entry_id:int}")
async def settlement(request: SignedInRequest, portal: Portal, entry_id: FromPath[int]) -> Response[str]:
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
    present = result_entry(entry for entry, _ in values["same_market"])
    return page(
        request,
        "settlement.html",
        claimable=present is not None and present.id == entry_id,
        claim_path=new_claim_path(match.number, found.entry.key),
        **values,
    )


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


async def _file(portal: Portal, texts: Texts, scope: _Scope) -> AsyncIterator[str]:
    """The lines of the file, in pieces. Entries are only ever added, with higher ids: those below an id stay
    the same from one piece to the next."""
    yield csv_text([CSV_COLUMNS])
    before = NEWEST
    while True:
        async with portal.store.autocommit() as tx:
            rows = await _rows(tx, texts, scope, before, _FILE_ROWS)
        if not rows:
            return
        yield csv_text(map(cells_of, rows))
        before = rows[-1].entry.id


def _list_page(
    request: SignedInRequest, query: LedgerQuery, rows: list[SettlementRow], refusal: Refusal | None = None
) -> Response[str]:
    shown = rows[:_ROWS]
    older = query.link(_PATH, before=shown[-1].entry.id) if len(rows) > _ROWS else ""
    return page(
        request,
        "settlements.html",
        refusal,
        rows=shown,
        sent=query.sent,
        types=type_names(texts_for(request)),
        results=list(LedgerResult),
        older=older,
        file=query.link(_FILE),
    )


def type_names(texts: Texts) -> list[tuple[int, str]]:
    """Every market type with its name, dots for what its specifiers say."""
    locale = texts.locale
    return [
        (each.id, each.render(locale, dict.fromkeys(each.placeholders, "…")))
        for each in catalogue.load().markets
    ]


def parsed_filter(query: Mapping[str, str]) -> LedgerQuery:
    """The query of a page; raises `Invalid`."""
    sent = {name: query.get(name, "").strip() for name in _FILTER_PARAMETERS}
    wanted = LedgerFilter(
        type_id=_number("type", sent["type"], 2**31 - 1),
        result=_result(sent["result"]),
        since=_time("since", sent["since"]),
        until=_time("until", sent["until"]),
    )
    return LedgerQuery(sent, wanted, _number("before", query.get("before", ""), NEWEST) or NEWEST)


def without_filter(query: Mapping[str, str]) -> LedgerQuery:
    """What was sent, and a filter of nothing: for the form that shows what was wrong."""
    sent = {name: query.get(name, "").strip()[:100] for name in _FILTER_PARAMETERS}
    return LedgerQuery(sent, LedgerFilter(), NEWEST)


def _number(name: str, value: str, highest: int) -> int | None:
    if not value:
        return None
    if not (value.isascii() and value.isdecimal() and len(value) < 20 and 1 <= int(value) <= highest):
        raise Invalid(Field(("query", name), f"{name}: a whole number from 1.", "whole_number", value[:100]))
    return int(value)


def _result(value: str) -> LedgerResult | None:
    if not value:
        return None
    if value not in set(LedgerResult):
        known = ", ".join(LedgerResult)
        raise Invalid(Field(("query", "result"), f"result: one of {known}.", "choice", value[:100]))
    return LedgerResult(value)


def _time(name: str, value: str) -> int | None:
    """A moment as browsers send it, `2026-11-23T14:30`, in UTC; or with an offset."""
    if not value:
        return None
    try:
        at = datetime.fromisoformat(value)
        return round((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError) as error:
        what = f"{name}: a time as 2026-11-23T14:30, in UTC."
        raise Invalid(Field(("query", name), what, "time", value[:100])) from error


def cells_of(row: SettlementRow) -> tuple[object, ...]:
    """The entry's line of the file."""
    entry = row.entry
    window = entry.void_window
    return (
        *(entry.id, iso_seconds(entry.at), row.match_urn, row.match_name, entry.type_id, entry.specifiers),
        *(row.market, row.kind, entry.result, entry.previous_status, entry.new_status),
        *(entry.void_reason_id, row.void_reason, entry.reason, entry.settled_by),
        str(entry.is_resettlement).lower(),
        *(
            iso_seconds(window.start_time) if window else None,
            iso_seconds(window.end_time) if window else None,
        ),
        *(row.rolled_back_by, " ".join(map(str, entry.rests_on))),
    )
