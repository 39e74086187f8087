"""What operators read beside matches: the settlement ledger, each entry with what it rests on; the state of
the delivery, tenant by tenant; the closing-line report; and the audit log, who changed what. Newest first.
"""

from collections.abc import Sequence
from uuid import UUID

import msgspec
from litestar import Response
from litestar.params import FromPath, FromQuery

from app.access import profiles
from app.access.users import OPERATORS_TENANT
from app.amqp.delivery_status import CONNECTED, tenant_statuses
from app.commands import closing_line
from app.domain.market import MarketKey
from app.http.handlers import get
from app.kit.errors import NotFound
from app.sites.console.site import Console, market_path, match_path
from app.sites.pages.forms import position
from app.sites.pages.market_names import names_of
from app.sites.pages.rendering import page, texts_for
from app.sites.pages.sessions import SignedInRequest
from app.sites.pages.settlements import evidence, rows_of
from app.sites.pages.texts import Texts
from app.store import audit, matches, tenants
from app.store import settlements as ledger
from app.store.audit import AuditRecord
from app.store.settlements import NEWEST, LedgerFilter
from app.store.transaction import Tx

_ROWS = 100  #: of a page
_REPORT_MILLIS = 30 * 86_400_000  #: of the closing-line report
_KEY = ("market_id", "specifiers")


@get("/settlements", opt={"query": ("match", "before")})
async def settlements(
    request: SignedInRequest, console: Console, match: FromQuery[str] = "", before: FromQuery[str] = ""
) -> Response[str]:
    """A page of the ledger, of one match or of all."""
    async with console.store.snapshot() as tx:
        about = await matches.by_ref(tx, match) if match else None
        wanted = LedgerFilter(match_id=about.id if about else None)
        found = await ledger.page_of_all(tx, wanted, before=position(before), limit=_ROWS + 1)
        rows = await rows_of(tx, texts_for(request), found[:_ROWS], market_path)
    return page(
        request,
        "settlements.html",
        rows=rows,
        match=about,
        path=match_path(about.number) if about else "",
        older=rows[-1].entry.id if len(found) > _ROWS else None,
    )


@get("/settlements/{entry_id:int}")
async def settlement(request: SignedInRequest, console: Console, entry_id: FromPath[int]) -> Response[str]:
    """One entry: the kills and rounds that it rests on, and every other entry of its market."""
    async with console.store.snapshot() as tx:
        found = await ledger.get_any(tx, entry_id) if 0 < entry_id <= NEWEST else None
        match = await matches.get(tx, found.match_id) if found else None
        if found is None or match is None:
            raise NotFound(f"There is no settlement {entry_id}.")
        values = await evidence(tx, texts_for(request), found, match, market_path)
    return page(request, "settlement.html", path=match_path(match.number), **values)


@get("/tenants", opt={"query": ("done",)})
async def list_tenants(request: SignedInRequest, console: Console) -> Response[str]:
    """Every tenant with a vhost: connection, lag, losses, queues. Every tenant, and by which profile its odds
    are made."""
    found = await tenant_statuses(console.store, console.management)
    async with console.store.snapshot() as tx:
        owners, known = await tenants.listing(tx), await profiles.overview(tx)
    return page(
        request,
        "tenants.html",
        tenants=found,
        connected=CONNECTED,
        owners=[
            (one, one.profiles[-1] if one.profiles else None)
            for one in owners
            if one.slug != OPERATORS_TENANT
        ],
        profiles=[one.newest.profile.name for one in known],
    )


@get("/audit", opt={"query": ("before",)})
async def list_records(
    request: SignedInRequest, console: Console, before: FromQuery[str] = ""
) -> Response[str]:
    """A page of the audit log."""
    async with console.store.autocommit() as tx:
        found = await audit.page(tx, position(before), limit=_ROWS + 1)
        shown = found[:_ROWS]
        records = await with_market_names(tx, texts_for(request), [record for _, record in shown])
    older = shown[-1][0] if len(found) > _ROWS else None
    return page(request, "audit.html", records=records, older=older)


@get("/closing-line")
async def show_closing_line(request: SignedInRequest, console: Console) -> Response[str]:
    """Our prices and the market's at fixed times before play, of the last matches with reference prices."""
    until = console.clock()
    stale = console.pricing.reference_stale_seconds * 1000
    async with console.store.snapshot() as tx:
        found = await closing_line.report(tx, until - _REPORT_MILLIS, until, limit=_ROWS, stale_millis=stale)
    rows = [
        (match.match, match_path(match.match.number), group.markets)
        for match in found.matches
        for group in match.groups
        if group.millis == closing_line.MOMENTS["start"]
    ]
    return page(
        request,
        "closing_line.html",
        comparisons=found.comparisons,
        moments=closing_line.MOMENT_NAMES,
        rows=rows,
    )


async def with_market_names(tx: Tx, texts: Texts, records: Sequence[AuditRecord]) -> list[AuditRecord]:
    """The records, each with the market that it is about in words."""
    keys = [_market(record) for record in records]
    about = {UUID(record.subject) for record, key in zip(records, keys, strict=True) if key}
    if not about:
        return list(records)
    found = {str(match.id): match for match in await matches.by_ids(tx, about)}
    names = await names_of(tx, texts, [key for key in keys if key])
    named = []
    for record, key in zip(records, keys, strict=True):
        match = found.get(record.subject)
        if key and match:
            rest = {name: value for name, value in record.details.items() if name not in _KEY}
            market = {"market": names.name(key, match.home, match.away)}
            record = msgspec.structs.replace(record, details=market | rest)
        named.append(record)
    return named


def _market(record: AuditRecord) -> MarketKey | None:
    """The market that a command on a match was about."""
    type_id, specifiers = (record.details.get(name) for name in _KEY)
    if record.action.startswith("match.") and isinstance(type_id, int) and isinstance(specifiers, str):
        return type_id, specifiers
    return None
