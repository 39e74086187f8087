"""Reports on what we offered, under /ops/v1/reports."""

from typing import Annotated

import msgspec
from litestar.params import QueryParameter

from app.commands import closing_line
from app.commands.closing_line import MOMENT_NAMES, ComparedMatch, MomentName
from app.domain.ids import match_urn
from app.http.handlers import get
from app.kit.clock import iso_millis
from app.operations.api.dependencies import OPERATOR, Operators
from app.trading.closing_line import Comparison
from app.wire.views.meta import Single

_MILLIS_OF_DAY = 86_400_000
_LISTED = OPERATOR | {"query": ("days", "limit")}


class ComparisonView(msgspec.Struct, frozen=True):
    """All groups of a family of market types at one moment before play. Log losses of the results that came:
    ours as it was priced, `own` by our ratings alone (of a match's winner), `theirs` by the sources' median
    without margin. `slope`: by how much our logits must be multiplied to fit what came, above 1: too timid;
    null where no factor fits. `value_share` is the share of groups with a price on sale worth more than 2 %
    by theirs; `value` the mean of what the best price of a group was worth."""

    family: str
    moment: MomentName
    groups: int
    log_loss_ours: float
    log_loss_own: float | None
    log_loss_theirs: float
    slope: float | None
    value_share: float
    value: float


class ComparedMarket(msgspec.Struct, frozen=True):
    """A market at a moment: probabilities as in `ComparisonView`; `odds` are ours, null while it was
    suspended; `value` is what a unit at them was worth by theirs beyond the unit."""

    market_id: int
    specifiers: str
    moment: MomentName
    ours: float
    own: float | None
    theirs: float
    odds: float | None
    value: float | None
    won: bool


class ComparedMatchView(msgspec.Struct, frozen=True):
    """A match and its markets that have both prices and a result."""

    match: str
    team_a: str
    team_b: str
    started_at: str
    markets: tuple[ComparedMarket, ...]


class ClosingLineView(msgspec.Struct, frozen=True):
    """The closing-line report: in sum, and match by match, newest first."""

    since: str
    until: str
    comparisons: tuple[ComparisonView, ...]
    matches: tuple[ComparedMatchView, ...]


@get("/ops/v1/reports/closing-line", opt=_LISTED)
async def show_closing_line(
    ops: Operators,
    days: Annotated[int, QueryParameter(ge=1, le=366, description="How far back matches began.")] = 30,
    limit: Annotated[int, QueryParameter(ge=1, le=500, description="At most so many matches.")] = 200,
) -> Single[ClosingLineView]:
    """Our prices and the market's 24 hours, 6 hours, an hour and five minutes before play and at its start,
    of the newest matches with reference prices that began within so many days."""
    until = ops.clock()
    since = until - days * _MILLIS_OF_DAY
    stale = ops.pricing.reference_stale_seconds * 1000
    async with ops.store.autocommit() as tx:
        found = await closing_line.report(tx, since, until, limit=limit, stale_millis=stale)
    view = ClosingLineView(
        since=iso_millis(since),
        until=iso_millis(until),
        comparisons=tuple(map(_comparison, found.comparisons)),
        matches=tuple(map(_match, found.matches)),
    )
    return Single(view)


def _comparison(one: Comparison) -> ComparisonView:
    return ComparisonView(
        family=one.family,
        moment=MOMENT_NAMES[one.millis],
        groups=one.groups,
        log_loss_ours=round(one.ours, 4),
        log_loss_own=None if one.own is None else round(one.own, 4),
        log_loss_theirs=round(one.theirs, 4),
        slope=None if one.slope is None else round(one.slope, 3),
        value_share=round(one.value_share, 4),
        value=round(one.value, 4),
    )


def _match(one: ComparedMatch) -> ComparedMatchView:
    markets = [
        ComparedMarket(
            *market.key,
            moment=MOMENT_NAMES[group.millis],
            ours=round(market.ours, 4),
            own=None if market.own is None else round(market.own, 4),
            theirs=round(market.theirs, 4),
            odds=market.odds,
            value=None if market.value is None else round(market.value, 4),
            won=market.won,
        )
        for group in one.groups
        for market in group.markets
    ]
    return ComparedMatchView(
        match=match_urn(one.match.number),
        team_a=one.match.home,
        team_b=one.match.away,
        started_at=iso_millis(one.match.started_at),
        markets=tuple(markets),
    )
