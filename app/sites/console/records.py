"""The audit log: who changed what, newest first."""

from collections.abc import Sequence
from uuid import UUID

import msgspec
from litestar import Response
from litestar.di import NamedDependency
from litestar.params import FromQuery

from app.domain.market import MarketKey
from app.http.handlers import get
from app.sites.console.site import ConsoleDependencies
from app.sites.pages.forms import position
from app.sites.pages.market_names import names_of
from app.sites.pages.rendering import page, texts_for
from app.sites.pages.sessions import SignedInRequest
from app.sites.pages.texts import Texts
from app.store import audit, matches
from app.store.audit import AuditRecord
from app.store.transaction import Tx

_ROWS = 100
_KEY = ("market_id", "specifiers")


@get("/audit", opt={"query": ("before",)})
async def list_records(
    request: SignedInRequest, console: NamedDependency[ConsoleDependencies], before: FromQuery[str] = ""
) -> Response[str]:
    """A page of the audit log."""
    async with console.store.autocommit() as tx:
        found = await audit.page(tx, position(before), limit=_ROWS + 1)
        shown = found[:_ROWS]
        records = await with_market_names(tx, texts_for(request), [record for _, record in shown])
    older = shown[-1][0] if len(found) > _ROWS else None
    return page(request, "audit.html", records=records, older=older)


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


HANDLERS = (list_records,)
