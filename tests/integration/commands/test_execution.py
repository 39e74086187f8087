"""Operators' commands on a match: executed once, atomically, with an audit row; refused with the state."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from app.commands import match_commands as c
from app.domain.market import MarketStatus, Result
from app.domain.match import Match, Status
from app.domain.settlement import VoidWindow
from app.kit.errors import Conflict, Invalid, NotFound
from app.store.connections import Store
from tests.integration.ingest.conftest import NOW, Server
from tests.support import logs, stored
from tests.support.stored import book, changes_after, head

FIRST = (13, "map=1|round=1|team=home")


async def ledger(store: Store, match: Match, key: tuple[int, str]) -> list[tuple[str, str, str]]:
    entries = await stored.ledger(store, match)
    return [
        (entry.previous_status, entry.new_status, entry.settled_by) for entry in entries if entry.key == key
    ]


async def test_a_command_with_an_id_is_done_once(store: Store, execute: Any) -> None:
    command = c.RenameTeam(team="team_a", name="Northwind Academy", request_id="a")
    done = await asyncio.gather(*(execute(command) for _ in range(4)))
    assert {match.home for match in done} == {"Northwind Academy"}
    done_at = await head(store)
    await execute(command)
    assert await head(store) == done_at
    with pytest.raises(Conflict, match="'a'"):
        await execute(replace(command, name="Others"))


async def test_a_command_is_on_record_and_a_refused_one_is_not(
    store: Store, execute: Any, match: Match
) -> None:
    await execute(c.Schedule(scheduled_at=NOW + 5))
    with pytest.raises(Invalid) as refused:
        await execute(c.SetTeams(team_a="Same", team_b="Same", request_id="b"))
    assert refused.value.fields[0].loc == ("body", "team_b")
    await execute(c.SetTeams(team_a="Same", team_b="Other", request_id="b"))
    records = await stored.records(store, match.id)
    assert [(record.actor, record.action, record.at) for record in records] == [
        ("tester", "match.set_teams", NOW),
        ("tester", "match.schedule", NOW),
        ("operator", "match.create", NOW),
    ]
    assert records[1].details == {"scheduled_at": NOW + 5, "request_id": None}


async def test_an_impossible_move_names_the_present_state(execute: Any) -> None:
    await execute(c.Cancel())
    for command in (c.Schedule(scheduled_at=NOW), c.AwardMatch(winner="team_a"), c.Suspend()):
        with pytest.raises(Conflict, match="is cancelled"):
            await execute(command)


async def test_a_suspension_takes_every_price_off_offer_until_it_ends(
    store: Store, execute: Any, match: Match
) -> None:
    await execute(c.Suspend(reason="looked into"))
    offered = (await book(store, match)).values()
    assert offered and not any(market.status is MarketStatus.ACTIVE for market in offered)
    await execute(c.Unsuspend())
    assert any(market.status is MarketStatus.ACTIVE for market in (await book(store, match)).values())
    with pytest.raises(Conflict, match="not suspended"):
        await execute(c.Unsuspend())


async def test_a_result_is_changed_by_taking_the_old_one_back_first(
    store: Store, server: Server, execute: Any
) -> None:
    await server.begin()
    await server.send(*logs.ct_win(1, 0))
    match = server.match
    assert (await book(store, match))[FIRST].result is Result.WON
    await execute(c.SettleMarket(market_id=13, specifiers=FIRST[1], result="lost", reason="wrong call"))
    assert await ledger(store, match, FIRST) == [
        ("pending", "settled", "engine"),
        ("settled", "pending", "admin"),
        ("pending", "settled", "admin"),
    ]
    await server.send(*logs.freeze(1, 0))
    assert (await book(store, match))[FIRST].result is Result.LOST
    with pytest.raises(Conflict, match="lost by an operator"):
        await execute(c.SettleMarket(market_id=13, specifiers=FIRST[1], result="lost", reason="again"))


async def test_a_market_that_was_rolled_back_is_held_until_it_is_released(
    store: Store, server: Server, execute: Any
) -> None:
    await server.begin()
    await server.send(*logs.ct_win(1, 0))
    back = c.RollBackMarket(market_id=13, specifiers=FIRST[1], reason="under review")
    await execute(back)
    await server.send(*logs.freeze(1, 0))
    assert (await book(store, server.match))[FIRST].status is MarketStatus.SUSPENDED
    with pytest.raises(Conflict, match="suspended"):
        await execute(back)
    await execute(replace(back, release=True))
    settled = (await book(store, server.match))[FIRST]
    assert (settled.result, settled.settled_by) == (Result.WON, "engine")
    statuses = [status for _, status, _ in await ledger(store, server.match, FIRST)]
    assert statuses == ["settled", "pending", "settled"]


async def test_what_is_returned_after_its_round_is_settled_by_the_facts_of_that_round(
    store: Store, server: Server, execute: Any
) -> None:
    """By its kills too, and at once."""
    await server.begin()
    await server.win(1, 0)
    settled = {key: one for key, one in (await book(store, server.match)).items() if one.closed}
    assert {13, 14, 15, 17} <= {type_id for type_id, _ in settled}
    for type_id, specifiers in settled:
        back = c.RollBackMarket(market_id=type_id, specifiers=specifiers, reason="a doubt", release=True)
        await execute(back)
    after = await book(store, server.match)
    assert {key: after[key].result for key in settled} == {key: one.result for key, one in settled.items()}


async def test_a_manual_void_stays(store: Store, server: Server, execute: Any) -> None:
    await server.begin()
    void = c.VoidMarket(market_id=13, specifiers=FIRST[1], reason="doubtful", void_reason_id=14)
    await execute(void)
    await server.send(*logs.ct_win(1, 0))
    market = (await book(store, server.match))[FIRST]
    assert (market.status, market.void_reason_id) == (MarketStatus.CANCELLED, 14)
    with pytest.raises(NotFound, match="99"):
        await execute(replace(void, market_id=99))


async def test_a_walkover_before_play_voids_everything(store: Store, execute: Any, match: Match) -> None:
    awarded = await execute(c.AwardMatch(winner="team_b"))
    assert (awarded.status, awarded.winner) == (Status.FINISHED, "away")
    closed = (await book(store, match)).values()
    assert closed and {market.status for market in closed} == {MarketStatus.CANCELLED}


async def test_an_award_in_play_leaves_what_was_decided(store: Store, server: Server, execute: Any) -> None:
    await server.begin()
    await server.send(*logs.ct_win(1, 0))
    awarded = await execute(c.AwardMatch(winner="team_b"))
    assert awarded.maps[0].awarded and awarded.score_away == 1
    after = await book(store, server.match)
    assert after[FIRST].result is Result.WON
    assert {key: after[key].result for key in ((1, "team=away"), (6, "map=1|team=home"))} == {
        (1, "team=away"): Result.WON,
        (6, "map=1|team=home"): Result.LOST,
    }
    lines = [market for market in after.values() if market.type_id in (8, 9)]
    assert lines and {market.status for market in lines} == {MarketStatus.CANCELLED}
    assert not any(market.open for market in after.values())


async def test_what_an_award_voids_is_one_envelope(store: Store, server: Server, execute: Any) -> None:
    """Lines that the award voids, and rounds that are not played any more."""
    await server.begin()
    before = await head(store)
    await execute(c.AwardMap(winner="team_b"))
    rows = await changes_after(store, before)
    voided = [row for row in rows if row.message == "bet_cancel"]
    assert len({row.at for row in voided}) == len({row.envelope_seq for row in voided}) == 1


async def test_a_changed_format_voids_the_lines_that_hang_on_it(
    store: Store, execute: Any, match: Match
) -> None:
    await execute(c.SetFormat(bo_type="bo3"))
    before = await book(store, match)
    totals = [key for key, market in before.items() if market.type_id in (3, 4) and market.open]
    assert totals
    await execute(c.SetFormat(bo_type="bo5"))
    after = await book(store, match)
    assert {after[key].status for key in totals} == {MarketStatus.CANCELLED}
    assert after[1, "team=home"].open


async def test_bets_of_a_window_are_voided_and_restored(store: Store, server: Server, execute: Any) -> None:
    await server.begin()
    before = (await book(store, server.match))[FIRST]
    about: dict[str, Any] = {"market_id": 13, "specifiers": FIRST[1], "reason": "a wrong price"}
    window: dict[str, Any] = {"start_time": NOW - 5000, "end_time": NOW - 1000}
    await execute(c.VoidMarket(**about, **window))
    with pytest.raises(Conflict, match="void already"):
        await execute(c.VoidMarket(**about, **window))
    await execute(c.RollBackMarket(**about, **window))
    with pytest.raises(Conflict, match="not void"):
        await execute(c.RollBackMarket(**about, **window))
    assert (await book(store, server.match))[FIRST] == before, "the market goes on as it was"
    entries = [entry for entry in await stored.ledger(store, server.match) if entry.key == FIRST]
    decisions = [(entry.message, entry.new_status, entry.void_window, entry.settled_by) for entry in entries]
    assert decisions == [
        (message, "pending", VoidWindow(**window), "admin")
        for message in ("bet_cancel", "rollback_bet_cancel")
    ]
    await server.send(*logs.ct_win(1, 0))
    assert (await book(store, server.match))[FIRST].result is Result.WON


@pytest.mark.parametrize(
    ("window", "field"),
    [
        ({"start_time": 5}, "start_time"),
        ({"end_time": 5}, "end_time"),
        ({"start_time": 6, "end_time": 5}, "end_time"),
        ({"start_time": 6, "end_time": NOW + 1}, "end_time"),
        ({"start_time": 5, "end_time": 6, "release": True}, "release"),
    ],
)
async def test_a_window_that_cannot_be_is_refused(
    server: Server, execute: Any, window: dict[str, Any], field: str
) -> None:
    await server.begin()
    kind = c.RollBackMarket if "release" in window else c.VoidMarket
    with pytest.raises(Invalid) as refused:
        await execute(kind(market_id=13, specifiers=FIRST[1], reason="a wrong price", **window))
    assert [wrong.loc for wrong in refused.value.fields] == [("body", field)]
