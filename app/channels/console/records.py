"""The audit log: who changed what, newest first."""

from litestar import Response
from litestar.di import NamedDependency
from litestar.params import FromQuery

from app.channels.console.dependencies import ConsoleDependencies, SignedInRequest
from app.http.reading import get
from app.pages.positions import position
from app.pages.rendering import page
from app.store import audit

_ROWS = 100


@get("/audit", opt={"query": ("before",)})
async def list_records(
    request: SignedInRequest, console: NamedDependency[ConsoleDependencies], before: FromQuery[str] = ""
) -> Response[str]:
    """A page of the audit log."""
    async with console.store.autocommit() as tx:
        found = await audit.page(tx, position(before), _ROWS + 1)
    shown = found[:_ROWS]
    older = shown[-1][0] if len(found) > _ROWS else None
    return page(request, "audit.html", records=[record for _, record in shown], older=older)


HANDLERS = (list_records,)
