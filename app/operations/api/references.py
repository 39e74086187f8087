"""Reference prices of the market: imported under /ops/v1/references, shown of a match beside ours."""

from typing import Annotated

from litestar import post
from litestar.params import FromPath, JSONBody
from msgspec import Meta

from app.commands import match_references, reference_import
from app.commands.reference_import import MOST_ROWS, ImportedPrice, Location, ReferenceCounts
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.kit.errors import Field, Invalid
from app.operations.api.dependencies import OPERATOR, Operators, audit_fields
from app.operations.api.reference_views import ReferencesView, references_view
from app.store import markets, matches
from app.wire.views.meta import Single

Prices = Annotated[list[ImportedPrice], Meta(max_length=MOST_ROWS)]


@post("/ops/v1/references", opt=OPERATOR | {"csv": ImportedPrice}, status_code=200)
async def import_references(
    request: AuthenticatedRequest, ops: Operators, data: JSONBody[Prices]
) -> Single[ReferenceCounts]:
    """Import reference prices, as JSON or as CSV with these names in its header; repeated ones change
    nothing. The matches before play that have new ones are priced again at once."""
    if len(data) > MOST_ROWS:  # as CSV: the type bounds a list
        raise Invalid(Field(("body",), f"At most {MOST_ROWS} prices at a time.", "too_many", len(data)))
    fields = audit_fields(request, ops.clock)
    rows: list[tuple[Location, ImportedPrice]] = [(("body", at), row) for at, row in enumerate(data)]
    async with ops.store.transaction() as tx:
        found = await reference_import.import_references(tx, rows, **fields)
    await match_references.refresh(ops.store, found.match_ids, fields["now"], ops.pricing)
    return Single(found.counts)


@get("/ops/v1/matches/{match_id:str}/references", opt=OPERATOR)
async def show_references(ops: Operators, match_id: FromPath[str]) -> Single[ReferencesView]:
    """What the market offers on the match beside what we do, as of now or, in play, when play began."""
    now = ops.clock()
    async with ops.store.autocommit() as tx:
        match = await matches.by_ref(tx, match_id)
        looked = await match_references.look(tx, match, now, ops.pricing)
        book = await markets.book(tx, match.id)
    return Single(references_view(match, looked, book, now, ops.pricing))
