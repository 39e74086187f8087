"""Teams' ratings and what they follow from, under /ops/v1/ratings."""

from typing import Annotated

import msgspec
from litestar import post
from litestar.params import JSONBody
from msgspec import Meta

from app.commands import rating_import
from app.commands.rating_import import ImportCounts, Imported, ImportedResult, ImportedStrength, Location
from app.domain.ids import competitor_urn
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.kit.clock import iso_millis
from app.operations.api.dependencies import LIMITED, OPERATOR, Limit, Operators, audit_fields
from app.store import ratings
from app.store.ratings import StoredRating
from app.wire.views.meta import Many, Single, many

_RATINGS = "/ops/v1/ratings"


class RatingImport(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Results of maps and strengths of teams, together at most 2000."""

    results: Annotated[tuple[ImportedResult, ...], Meta(max_length=1000)] = ()
    strengths: Annotated[tuple[ImportedStrength, ...], Meta(max_length=1000)] = ()


class RatingView(msgspec.Struct, frozen=True):
    """A team's `points` with their standard deviation `spread`, as of its last map or strength, `updated_at`,
    after so many `maps`. `sufficient`: prices rest on it where no operator sets a strength."""

    team_id: str
    name: str
    points: float
    spread: float
    maps: int
    updated_at: str
    sufficient: bool


@post(_RATINGS, opt=OPERATOR, status_code=200)
async def import_ratings(
    request: AuthenticatedRequest, ops: Operators, data: JSONBody[RatingImport]
) -> Single[ImportCounts]:
    """Import results and strengths; repeated ones change nothing, corrected ones are computed again in order
    of time."""
    rows: list[tuple[Location, Imported]] = []
    rows += [(("body", "results", at), row) for at, row in enumerate(data.results)]
    rows += [(("body", "strengths", at), row) for at, row in enumerate(data.strengths)]
    async with ops.store.transaction() as tx:
        return Single(await rating_import.import_ratings(tx, rows, **audit_fields(request, ops.clock)))


@get(_RATINGS, opt=LIMITED)
async def show_ratings(ops: Operators, limit: Limit = 100) -> Many[RatingView]:
    """The teams that are rated by results or given strengths, strongest first."""
    async with ops.store.autocommit() as tx:
        return many(_view(one) for one in await ratings.listing(tx, limit=limit))


def _view(one: StoredRating) -> RatingView:
    return RatingView(
        team_id=competitor_urn(one.team_id),
        name=one.name,
        points=round(one.rating.points, 1),
        spread=round(one.rating.spread, 1),
        maps=one.rating.maps,
        updated_at=iso_millis(one.rating.at),
        sufficient=one.rating.sufficient,
    )
