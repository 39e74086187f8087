"""Creation of a match by an operator."""

from uuid import UUID, uuid4

import msgspec

from app.commands import match_entrants, match_update
from app.domain import fixture
from app.domain.match import Match, Status
from app.domain.strength import require_strengths
from app.kit.errors import Conflict
from app.store import audit, matches, operator_commands
from app.store.audit import AuditRecord
from app.store.connections import Store
from app.store.transaction import Tx
from app.trading.pricing import PricingConfig

_encode = msgspec.json.Encoder(order="sorted").encode


class NewMatch(msgspec.Struct, frozen=True, kw_only=True):
    """A match to be created. `scheduled_at` in ms; strengths on the scale that trading prices by; ids where
    names are ambiguous (`match_entrants`); rounds of a map and of an overtime (0: none), None for 24 and 6
    until the log says otherwise; while a team has no strength, neither here nor in its profile, nothing is
    offered unless `allow_unrated` (see `domain.strength`); `reference` is the operator's own id: a repeated
    request with it returns the same match."""

    home: str
    away: str
    event: str
    best_of: int = 1
    scheduled_at: int | None = None
    home_strength: float = 0.0
    away_strength: float = 0.0
    home_id: int | None = None
    away_id: int | None = None
    tournament_id: int | None = None
    max_rounds: int | None = None
    overtime_rounds: int | None = None
    reference: str | None = None
    allow_unrated: bool = False


async def create_match(
    store: Store, new: NewMatch, now: int, pricing: PricingConfig, *, by: str = "operator"
) -> Match:
    """Create a match for `by`, or return the one that was created with the same reference.

    Raises `Conflict` when that reference belongs to a match with other fields, `Invalid` when the id of a
    team or of the tournament is unknown, or its name is ambiguous.
    """
    match_id = uuid4()
    async with store.transaction() as tx:
        if new.reference is not None:
            known = await _created_before(tx, new, match_id)
            if known is not None:
                return known
        return await create_in(tx, new, match_id, now, pricing, by=by)


async def create_in(
    tx: Tx, new: NewMatch, match_id: UUID, now: int, pricing: PricingConfig, *, by: str
) -> Match:
    """Create the match with this id; raises `Invalid` as `create_match`."""
    match = await resolved(tx, new, match_id, await matches.next_number(tx), now)
    details = msgspec.to_builtins(new)
    await audit.add(tx, AuditRecord(now, by, "match.create", str(match.id), None, details))
    return await match_update.react_and_write(tx, None, match, (), now=now, may_price=True, pricing=pricing)


async def resolved(tx: Tx, new: NewMatch, match_id: UUID, number: int, now: int) -> Match:
    """The match as it would be created under this number, with its entrants; raises `Invalid`."""
    return await match_entrants.resolve(tx, None, _match(new, match_id, number), now)


async def _created_before(tx: Tx, new: NewMatch, match_id: UUID) -> Match | None:
    """The match that was created with this reference; None when the reference now belongs to `match_id`."""
    known = await operator_commands.bind_reference(tx, new.reference or "", match_id, _encode(new))
    if known.match_id == match_id:
        return None
    if msgspec.json.decode(known.request, type=NewMatch) != new:
        raise Conflict(f"Reference {new.reference!r} belongs to a match that was created with other fields.")
    return await matches.get(tx, known.match_id)


def _match(new: NewMatch, match_id: UUID, number: int) -> Match:
    fields = msgspec.structs.asdict(new)
    del fields["reference"], fields["allow_unrated"]
    rounds, overtime = fields.pop("max_rounds"), fields.pop("overtime_rounds")
    status = Status.DISCOVERED if new.scheduled_at is None else Status.UPCOMING
    match = Match(id=match_id, number=number, status=status, **fields)
    if rounds is not None or overtime is not None:
        match, _ = fixture.set_format(match, max_rounds=rounds, overtime_rounds=overtime)
    return require_strengths(match, allow_unrated=new.allow_unrated)
