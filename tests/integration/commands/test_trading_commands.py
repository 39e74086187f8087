"""Traders' commands on a match: executed, on record with what each changed, refused without knowledge of a
later one, and taken back."""

from collections import Counter
from typing import Any

import pytest

from app.commands import match_commands as c
from app.commands import trading_commands as t
from app.commands.command_service import CommandService
from app.commands.execution import Sender
from app.commands.match_commands import Command
from app.commands.undo import is_undoable
from app.domain.market import Market, MarketStatus, Result
from app.domain.match import Match
from app.domain.trading_controls import MARKET_SUSPENDED, NO_CONTROLS, ClosedType, SuspendedMarket
from app.kit.errors import Conflict, Invalid, NotFound
from app.store import matches, operator_commands
from app.store.connections import Store
from tests.integration.commands.test_execution import FIRST, book
from tests.integration.ingest.conftest import CONFIG, NOW, Server
from tests.support import stored

MAP_WINNER = {"market_id": 6, "specifiers": "map=1|team=home"}
KEY = (6, "map=1|team=home")


async def market(store: Store, match: Match, key: tuple[int, str] = KEY) -> Market:
    return (await book(store, match))[key]


async def test_each_command_is_on_record_with_its_effect(store: Store, execute: Any, match: Match) -> None:
    await execute(t.SuspendMarket(**MAP_WINNER, reason="odd bets"))
    await execute(t.CloseType(market_id=8, reason="no model"), by="other")
    async with store.autocommit() as tx:
        closed, suspended = await operator_commands.listing(tx, match.id, limit=10)
        present = await matches.by_ref(tx, str(match.id))
    assert (suspended.revision, suspended.actor, suspended.name) == (1, "tester", "suspend_market")
    assert (closed.revision, closed.actor, closed.name) == (2, "other", "close_type")
    assert b"odd bets" in suspended.command and b"odd bets" in suspended.after
    assert b"odd bets" in closed.before and b"no model" not in closed.before
    assert present.revision == 2
    assert present.controls.closed_types == (ClosedType(8, "no model"),)
    assert present.controls.suspended_markets == (SuspendedMarket(*KEY, "odd bets"),)
    shown = await market(store, match)  # the text is not for clients
    assert (shown.status, shown.reason) == (MarketStatus.SUSPENDED, MARKET_SUSPENDED)


async def test_a_command_without_knowledge_of_anothers_is_refused(execute: Any) -> None:
    await execute(t.SetMaxMove(max_move=0.5, revision=0), by="ann")
    await execute(t.SetMargin(margin=0.08, revision=0), by="ann"), "one's own commands are known"
    with pytest.raises(Conflict, match=r"ann sent set_margin since \(revision 2; yours is 0\)"):
        await execute(t.SetMargin(margin=0.05, revision=0), by="ben")
    after = await execute(t.SetMargin(margin=0.05, revision=2), by="ben")
    assert after.revision == 3
    assert [one.margin for one in after.controls.margins] == [0.05]
    with pytest.raises(Invalid, match="revision 3"):
        await execute(t.SetMaxMove(max_move=0.5, revision=4), by="ben")


async def test_a_repeated_command_may_name_another_revision(execute: Any) -> None:
    first = await execute(t.SetMaxMove(max_move=0.5, revision=0, request_id="x"))
    assert await execute(t.SetMaxMove(max_move=0.5, revision=1, request_id="x")) == first


UNDONE = [
    t.SuspendMarket(**MAP_WINNER),
    t.SuspendGroup(group="map_winner:map=1"),
    t.CloseType(market_id=6),
    t.AddLine(market_id=8, specifiers="map=1|threshold=16.5"),
    t.WithdrawLine(market_id=8, specifiers="map=1|threshold=21.5"),
    t.SetMargin(margin=0.1, market_id=6, phase="before_play", long_shots=0.5),
    t.SetMaxMove(max_move=0.3),
    t.ShiftStrength(team="team_a", points=120),
    t.HoldProbability(**MAP_WINNER, probability=0.7),
]


@pytest.mark.parametrize("command", UNDONE, ids=lambda one: type(one).__name__)
async def test_a_command_is_undone_and_that_too(
    store: Store, execute: Any, match: Match, command: Command
) -> None:
    offers = {key: (one.status, one.odds) for key, one in (await book(store, match)).items() if one.open}
    set_to = (await execute(command)).controls
    changed = {key: (one.status, one.odds) for key, one in (await book(store, match)).items()}
    assert set_to != NO_CONTROLS
    assert (await execute(t.Undo(of=1))).controls == NO_CONTROLS
    present = await book(store, match)
    assert {key: (present[key].status, present[key].odds) for key in offers} == offers
    with pytest.raises(Conflict, match="undone already"):
        await execute(t.Undo(of=1))
    assert (await execute(t.Undo(of=2))).controls == set_to
    present = await book(store, match)
    assert {key: (present[key].status, present[key].odds) for key in changed} == changed


@pytest.mark.parametrize("command", UNDONE, ids=lambda one: type(one).__name__)
async def test_a_preview_is_what_then_happens(
    store: Store, execute: Any, match: Match, command: Command
) -> None:
    before = await book(store, match)
    found = await CommandService(store, CONFIG.pricing).preview(
        str(match.id), command, Sender("ann", "ann"), NOW
    )
    assert await book(store, match) == before, "nothing is written"
    after = await execute(command)
    assert after.controls == found.after.controls != NO_CONTROLS
    assert before | {one.after.key: one.after for one in found.markets} == await book(store, match)
    rows = [row for row in await stored.changes_after(store, 0) if row.envelope_seq > found.match.last_seq]
    published = Counter(
        message for _, message in {(row.envelope_seq, row.message) for row in rows} if message
    )
    assert published == Counter(one.message for one in found.envelopes)


async def test_what_was_changed_again_is_not_undone(execute: Any) -> None:
    await execute(t.SetMaxMove(max_move=0.3))
    await execute(t.SetMaxMove(max_move=0.4))
    with pytest.raises(Conflict, match="changed again"):
        await execute(t.Undo(of=1))
    await execute(c.RenameTeam(team="team_a", name="Northwind Academy"))
    with pytest.raises(Conflict, match="kind"):
        await execute(t.Undo(of=3))
    with pytest.raises(NotFound):
        await execute(t.Undo(of=9))


async def test_only_what_changed_something_is_undoable(store: Store, execute: Any, match: Match) -> None:
    """So that nobody is offered an undo that is refused: `suspend` pressed twice is executed twice."""
    fire = c.Suspend(reason="fire")
    for command in (fire, fire, t.SetMaxMove(max_move=0.3), t.SetMaxMove(max_move=0.3), t.Undo(of=1)):
        await execute(command)
    await execute(c.RenameTeam(team="team_a", name="Northwind Academy"))
    async with store.autocommit() as tx:
        executed = await operator_commands.listing(tx, match.id, limit=10)
    assert [one.revision for one in executed if is_undoable(one)] == [5, 3]
    for one in executed:
        if one.undone_by is None and not is_undoable(one):
            with pytest.raises(Conflict):
                await execute(t.Undo(of=one.revision))


async def test_suspensions_and_schedules_are_undone(execute: Any) -> None:
    assert (await execute(c.Suspend(reason="fire"))).suspended == "fire"
    assert (await execute(t.Undo(of=1))).suspended == ""
    assert (await execute(t.Undo(of=2))).suspended == "fire"
    await execute(c.Schedule(scheduled_at=NOW + 5))
    await execute(c.Schedule(scheduled_at=NOW + 9))
    assert (await execute(t.Undo(of=5))).scheduled_at == NOW + 5


async def test_manual_settlements_are_undone(
    store: Store, execute: Any, match: Match, server: Server
) -> None:
    await server.begin()
    decision = {"market_id": FIRST[0], "specifiers": FIRST[1], "reason": "wrong call"}
    await execute(c.SettleMarket(result="won", **decision), now=server.now)
    await execute(t.Undo(of=1), now=server.now)
    opened = await market(store, match, FIRST)
    assert opened.open and not opened.held
    await execute(c.VoidMarket(**decision), now=server.now)
    await execute(c.SettleMarket(result="lost", **decision), now=server.now)
    await execute(t.Undo(of=4), now=server.now)
    assert (await market(store, match, FIRST)).result is Result.VOID
    await execute(c.RollBackMarket(**decision), now=server.now)
    assert (await market(store, match, FIRST)).held
    await execute(t.Undo(of=6), now=server.now)
    assert (await market(store, match, FIRST)).result is Result.VOID


async def test_void_bets_are_undone(execute: Any) -> None:
    window = {"start_time": NOW - 9, "end_time": NOW - 5}
    await execute(c.VoidMarket(**MAP_WINNER, reason="wrong price", **window))
    await execute(t.Undo(of=1))
    with pytest.raises(Conflict, match="not void"):
        await execute(c.RollBackMarket(**MAP_WINNER, reason="again", **window))


@pytest.mark.parametrize(
    ("command", "error"),
    [
        (t.SuspendMarket(market_id=6, specifiers="map=9|team=home"), NotFound),
        (t.SuspendGroup(group="map_winner:map=9"), NotFound),
        (t.ReleaseMarket(**MAP_WINNER), Conflict),
        (t.ReleaseGroup(group="map_winner:map=1"), Conflict),
        (t.CloseType(market_id=99), Invalid),
        (t.OpenType(market_id=6), Conflict),
        (t.AddLine(market_id=6, specifiers="map=1|team=home"), Invalid),
        (t.AddLine(market_id=8, specifiers="map=1|threshold=20"), Conflict),
        (t.AddLine(market_id=8, specifiers="map=1|line=20.5"), Invalid),
        (t.ClearMargin(), Conflict),
        (t.HoldProbability(market_id=6, specifiers="map=9|team=home", probability=0.5), NotFound),
        (t.ReleaseProbability(**MAP_WINNER), Conflict),
    ],
    ids=lambda one: type(one).__name__ if isinstance(one, Command) else "",
)
async def test_what_cannot_be_done_is_refused(
    execute: Any, store: Store, match: Match, command: Command, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await execute(command)
    async with store.autocommit() as tx:
        assert (await matches.by_ref(tx, str(match.id))).revision == 0


async def test_two_held_probabilities_do_not_contradict_each_other(execute: Any) -> None:
    await execute(t.HoldProbability(**MAP_WINNER, probability=0.7))
    with pytest.raises(Conflict, match=r"map_winner:map=1 is held"):
        await execute(t.HoldProbability(market_id=1, specifiers="team=home", probability=0.2))
    await execute(t.HoldProbability(market_id=6, specifiers="map=1|team=away", probability=0.4))
    after = await execute(t.ReleaseProbability(market_id=6, specifiers="map=1|team=home"))
    assert after.controls == NO_CONTROLS


async def test_a_market_whose_price_moved_too_far_is_released(
    store: Store, execute: Any, match: Match, server: Server
) -> None:
    await execute(t.SetMaxMove(max_move=0.05))
    await execute(t.ShiftStrength(team="team_a", points=400))
    assert (await market(store, match)).status is MarketStatus.SUSPENDED
    await execute(t.ReleaseMarket(**MAP_WINNER))
    released = await market(store, match)
    assert released.status is MarketStatus.ACTIVE and released.probability > 0.6
