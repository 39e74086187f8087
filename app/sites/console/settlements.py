"""The settlement ledger of all matches, newest first, and each entry with what it rests on."""

from litestar import Response
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery

from app.http.handlers import get
from app.kit.errors import NotFound
from app.sites.console.dependencies import ConsoleDependencies, SignedInRequest
from app.sites.console.paths import market_path, match_path
from app.sites.pages.positions import position
from app.sites.pages.rendering import page, texts_for
from app.sites.pages.settlement_rows import evidence, rows_of
from app.store import matches
from app.store import settlements as ledger
from app.store.settlements import NEWEST, LedgerFilter

_ROWS = 100


@get("/settlements", opt={"query": ("match", "before")})
async def settlements(
    request: SignedInRequest,
    console: NamedDependency[ConsoleDependencies],
    match: FromQuery[str] = "",
    before: FromQuery[str] = "",
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
async def settlement(
    request: SignedInRequest, console: NamedDependency[ConsoleDependencies], entry_id: FromPath[int]
) -> Response[str]:
    """One entry: the kills and rounds that it rests on, and every other entry of its market."""
    async with console.store.snapshot() as tx:
        found = await ledger.get_any(tx, entry_id) if 0 < entry_id <= NEWEST else None
        match = await matches.get(tx, found.match_id) if found else None
        if found is None or match is None:
            raise NotFound(f"There is no settlement {entry_id}.")
        values = await evidence(tx, texts_for(request), found, match, market_path)
    return page(request, "settlement.html", path=match_path(match.number), **values)


HANDLERS = (settlements, settlement)
