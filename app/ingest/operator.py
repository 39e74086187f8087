"""What operators command: matches created, rescheduled, suspended and cancelled.

Each command is one transaction that ends as a log batch does: trading reacts, all of it is written.
"""

from uuid import UUID, uuid4

import msgspec

from app.domain import fixture
from app.domain.match import Match, Status
from app.domain.rating import require_ratings
from app.domain.settlement import void_windows
from app.ingest import handover, linking, record
from app.ingest.commands import Command, FollowSource, OnBets, RollBackMarket
from app.ingest.orders import Order, carried_out
from app.ingest.terms import Terms
from app.kit.errors import Conflict
from app.store import audit, commands, history, matches, references
from app.store.audit import Record
from app.store.commands import Given
from app.store.connections import Store
from app.store.transaction import Tx, Write

_encode = msgspec.json.Encoder(order="sorted").encode


class NewMatch(msgspec.Struct, frozen=True, kw_only=True):
    """A match to be created. `scheduled_at` in ms; strengths on the scale that trading prices by; numbers
    where names would not do (see `linking`); rounds of a map and of an overtime (0: none), None for 24 and 6
    until the log says otherwise; without a strength of each team, given or known, nothing is offered unless
    `allow_unrated` (see `domain.rating`); `reference` is the operator's own id, by which asking again answers
    the same match."""

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


async def create(store: Store, asked: NewMatch, now: int, terms: Terms, *, by: str = "operator") -> Match:
    """Create a match for `by`, or answer the one that was created under the same reference.

    Raises `Conflict` when that reference stands for a match that was asked for in other words, `Invalid`
    naming the team or the tournament that nobody knows.
    """
    match_id = uuid4()
    async with store.transaction() as tx:
        if asked.reference is not None:
            known = await _referred(tx, asked, match_id)
            if known is not None:
                return known
        match = await linking.linked(tx, None, _new(asked, match_id, await matches.next_number(tx)))
        details = msgspec.to_builtins(asked)
        await audit.add(tx, Record(now, by, "match.create", str(match.id), None, details))
        return await record.react(tx, None, match, (), now=now, quoting=True, margin=terms.margin)


async def order(
    store: Store, ref: str, command: Command, *, by: str, now: int, terms: Terms, holder: str | None = None
) -> Match:
    """Carry out a command of `by` on the match that `ref` names, and put it on record; the match after it.

    With a `request_id` that its `holder` (`by`, unless told) has used before nothing is done again. Raises
    `NotFound`; `Invalid` with the offending field; `Conflict` when the present state forbids it, or when
    that id stood for another command. In each of these cases nothing has happened.
    """
    async with store.transaction() as tx:
        found = await matches.by_ref(tx, ref)
        done = await _given_before(tx, found.id, command, holder or by, now)
        match = await matches.lock(tx, found.id)
        if done:
            return match
        asked, beside = await _carried_out(tx, command, match, now)
        await _require_window(tx, match.id, command)
        after = await linking.linked(tx, match, asked.after)
        details = msgspec.to_builtins(command)
        await audit.add(tx, Record(now, by, f"match.{details.pop('command')}", str(match.id), None, details))
        return await record.react(
            tx,
            match,
            after,
            asked.changes,
            now=now,
            quoting=after.over or not after.behind,
            margin=terms.margin,
            hand=asked.hand,
            beside=beside,
        )


async def _require_window(tx: Tx, match_id: UUID, command: Command) -> None:
    """Bets of a window are voided once, and taken back where they are void."""
    if not isinstance(command, OnBets) or command.window is None:
        return
    void = command.window in void_windows(await history.ledger(tx, match_id), command.key)
    if void is not isinstance(command, RollBackMarket):
        state = "void already" if void else "not void"
        raise Conflict(f"The bets of exactly this window are {state} on this market.")


async def _carried_out(tx: Tx, command: Command, match: Match, now: int) -> tuple[Order, list[Write]]:
    """The order that `command` is, and what is to be written with it."""
    if not isinstance(command, FollowSource):
        return carried_out(command, match, now), []
    after, changes, beside = await handover.follow(tx, match, command.source, now)
    return Order(after, tuple(changes)), beside


async def _given_before(tx: Tx, match_id: UUID, command: Command, holder: str, now: int) -> bool:
    if command.request_id is None:
        return False
    asked = _encode(command)
    known = await commands.take(tx, holder, command.request_id, match_id, asked, now)
    if known is not None and known != Given(match_id, asked):
        raise Conflict(
            f"Request {command.request_id!r} stood for another command: give this one an id of its own."
        )
    return known is not None


async def _referred(tx: Tx, asked: NewMatch, match_id: UUID) -> Match | None:
    """The match that the reference stands for already; None when it is now tied to `match_id`."""
    known_id, known = await references.take(tx, asked.reference or "", match_id, _encode(asked))
    if known_id == match_id:
        return None
    if msgspec.json.decode(known, type=NewMatch) != asked:
        raise Conflict(f"Reference {asked.reference!r} stands for a match that was created differently.")
    return await matches.get(tx, known_id)


def _new(asked: NewMatch, match_id: UUID, number: int) -> Match:
    fields = msgspec.structs.asdict(asked)
    del fields["reference"], fields["allow_unrated"]
    rounds, overtime = fields.pop("max_rounds"), fields.pop("overtime_rounds")
    status = Status.DISCOVERED if asked.scheduled_at is None else Status.UPCOMING
    match = Match(id=match_id, number=number, status=status, **fields)
    if rounds is not None or overtime is not None:
        match, _ = fixture.set_format(match, max_rounds=rounds, overtime_rounds=overtime)
    return require_ratings(match, allow_unrated=asked.allow_unrated)
