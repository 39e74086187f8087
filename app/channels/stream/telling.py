"""From changes to what is told of them, whoever is going to hear it; pure.

Rounds, events and settlements are told one by one. States are told as they are at the end of a stretch of
changes: a newer `market.updated`, `scoreboard.frame` or `match.updated` makes an older one superfluous, and
one that shows nothing new is not told at all.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from uuid import UUID

import msgspec

from app.channels.stream.standing import Standing, entry_of, event_of, market_of, round_live_of, round_of
from app.domain import frames
from app.domain.market import Market
from app.store.changes import ChangeRow
from app.wire.views.frames import RoundStarted, event_frame, market_frame, round_frame, scoreboard_frame
from app.wire.views.offers import market_view, settlement_view

_encode = msgspec.json.Encoder().encode
Standings = Mapping[UUID, Standing]


class Told(msgspec.Struct):
    """One change, as far as it is the same for everybody: `kind` of entity and its own `frame` ("": none).

    `data` is the frame's, encoded; None where it is the match as it looks to each profile. `entity` names
    what a newer state replaces; None: never replaced. `wire` keeps the finished frame.
    """

    seq: int
    at: int
    match_id: UUID
    kind: str
    frame: str
    data: bytes | None = None
    entity: str | None = None
    wire: bytes = b""


def tell(rows: Sequence[ChangeRow], standings: Standings, fresh: Container[UUID] = ()) -> list[Told]:
    """What `rows` tell, in order; `standings` take the rows in as they pass. `fresh` standings show the rows'
    outcome already, so that nobody can say of them what is new."""
    told: list[Told] = []
    for row in rows:
        standing = standings.get(row.match_id)
        before = _market_before(row, standing) if row.match_id not in fresh else None
        if standing:
            standing.fold(row)
        one = _told(row, standing)
        if one is not None and not _nothing_new(row, before):
            told.append(one)
    return newest(told)


def _market_before(row: ChangeRow, standing: Standing | None) -> Market | None:
    if standing is None or row.frame != frames.MARKET_UPDATED:
        return None
    return standing.markets.get(market_of(row.body).key)


def retell(rows: Sequence[ChangeRow], standings: Standings) -> list[Told]:
    """What rows of the past tell; `standings` know of them already."""
    return newest([one for row in rows if (one := _told(row, standings.get(row.match_id)))])


def newest(told: Sequence[Told]) -> list[Told]:
    """Without the states that a later one of the same entity replaces."""
    last = {one.entity: one.seq for one in told}
    return [one for one in told if not _replaced(one, last)]


def _replaced(one: Told, last: Mapping[str | None, int]) -> bool:
    replaceable = one.frame in (frames.MARKET_UPDATED, frames.SCOREBOARD)
    return replaceable and last[one.entity] != one.seq


def _nothing_new(row: ChangeRow, before: Market | None) -> bool:
    """A market of which only what nobody sees has changed."""
    if row.frame != frames.MARKET_UPDATED or before is None:
        return False
    return market_view(before) == market_view(market_of(row.body))


def _told(row: ChangeRow, standing: Standing | None) -> Told | None:
    if row.entity == "match" and not row.frame:
        return None
    one = Told(row.seq, row.at, row.match_id, row.entity, row.frame)
    if row.entity == "market":
        one.entity = f"{row.match_id}:{row.key}"
    if row.entity == "scoreboard":
        one.entity = f"{row.match_id}:scoreboard"
        one.data = _encode(scoreboard_frame(standing.match)) if standing else None
    elif row.frame and row.entity != "match":
        one.data = _encode(_VIEWS[row.entity](row))
    return one


def _round(row: ChangeRow) -> object:
    if row.frame == "round.started":
        live = round_live_of(row.body)
        return RoundStarted(str(row.match_id), live.map, live.round)
    return round_frame(row.match_id, round_of(row.body))


_VIEWS: dict[str, Callable[[ChangeRow], object]] = {
    "market": lambda row: market_frame(row.match_id, market_of(row.body)),
    "event": lambda row: event_frame(row.match_id, event_of(row.body)),
    "round": _round,
    "settlement": lambda row: settlement_view(row.match_id, row.number, entry_of(row.body)),
}
