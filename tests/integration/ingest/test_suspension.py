"""Suspensions that no log line causes: silence, gaps, late batches, no worker."""

from typing import Any

import pytest

from app.commands import match_commands, match_update
from app.domain import doubts
from app.domain.doubts import LOG_GAP, SERVER_SILENT
from app.domain.market import Market, MarketStatus
from app.ingest import match_checks
from app.ingest.log_update import apply_batch
from app.store import heartbeats
from app.store.alerts import AlertKind, AlertSubject
from app.store.connections import Store
from tests.integration.ingest.conftest import CONFIG, NOW, Server, tick
from tests.support import logs, stored
from tests.support.matches import execute


async def on_offer(store: Store, server: Server) -> list[Market]:
    return await stored.active(store, server.match)


async def test_play_is_priced(store: Store, server: Server) -> None:
    await server.begin()
    assert {13, 6, 8, 9} <= {market.type_id for market in await on_offer(store, server)}


async def test_a_silent_source_suspends_everything_and_the_next_line_opens_again(
    store: Store, server: Server
) -> None:
    await server.begin()
    limit = server.now + CONFIG.silence_live_millis
    assert await match_checks.suspend_silent(store, limit, CONFIG) == 0
    assert await on_offer(store, server)
    assert await match_checks.suspend_silent(store, limit + 1, CONFIG) == 1
    assert await on_offer(store, server) == []
    assert (await server.state()).suspended == SERVER_SILENT
    assert await match_checks.suspend_silent(store, limit + 5000, CONFIG) == 0
    server.now = limit + 60_000
    await server.send(logs.kill(logs.CT[0], logs.T[1]))
    assert (await server.state()).suspended == ""
    assert await on_offer(store, server)


async def test_a_crash_in_a_live_round_leaves_no_price_open_for_long(store: Store, server: Server) -> None:
    await server.begin()
    await tick(store, server.now + 9_000)
    assert await on_offer(store, server) == []


async def test_a_server_may_be_silent_longer_while_players_buy(store: Store, server: Server) -> None:
    await server.begin()
    await server.win(1, 0)
    await tick(store, server.now + CONFIG.silence_freeze_millis)
    assert await on_offer(store, server)
    await tick(store, server.now + CONFIG.silence_freeze_millis + 1)
    assert await on_offer(store, server) == []


async def test_a_silent_source_is_an_alert_until_lines_come(store: Store, server: Server) -> None:
    await server.begin()
    about = AlertSubject(AlertKind.SILENT_SOURCE, match_id=server.match.id)
    quiet_at = server.now + CONFIG.silence_live_millis + 1
    for now in (quiet_at, quiet_at + 1000):
        await tick(store, now)
        (alert,) = await stored.open_alerts(store)
        assert (alert.about, alert.since, alert.detail) == (about, quiet_at, SERVER_SILENT)
    server.now = quiet_at + 2000
    await server.send(logs.kill(logs.CT[0], logs.T[1]))
    (alert,) = await stored.all_alerts(store)
    assert alert.ended_at == server.now


async def test_a_match_that_ends_ends_its_alerts(store: Store, server: Server) -> None:
    await server.begin()
    await tick(store, server.now + 60_000)
    await execute(store, server.match, match_commands.Cancel(), server.now + 61_000)
    assert await stored.open_alerts(store) == []
    assert len(await stored.all_alerts(store)) == 1


async def test_facts_that_come_late_score_and_settle_but_quote_nothing(store: Store, server: Server) -> None:
    await server.begin()
    late = CONFIG.fresh_millis + 1
    end, next_round = server.cut(*logs.ct_win(1, 0)), server.cut(*logs.freeze(1, 0))
    assert await server.deliver(end, next_round, late=late) == ["applied", "applied"]
    assert await on_offer(store, server) == []
    book = await stored.book(store, server.match)
    assert book[13, "map=1|round=1|team=home"].status is MarketStatus.SETTLED
    assert (13, "map=1|round=3|team=home") not in book
    await server.send(*logs.live())
    assert await on_offer(store, server)


async def test_a_backlog_prices_nothing_until_it_is_caught_up(store: Store, server: Server) -> None:
    """After a database outage of five seconds five batches are applied one after another."""
    await server.begin()
    waiting = [server.cut(logs.kill(logs.CT[0], victim)) for victim in logs.T[1:4]]
    waiting += [server.cut('World triggered "Nothing"') for _ in range(2)]
    caught_up = server.now
    for batch in waiting:
        assert await apply_batch(store, batch, caught_up, CONFIG) == "applied"
        fresh = caught_up - batch.arrived_at <= CONFIG.fresh_millis
        assert bool(await on_offer(store, server)) is fresh
    late = server.cut('World triggered "Nothing"')
    assert await server.deliver(late, late=CONFIG.fresh_millis + 1) == ["applied"]
    rename = match_commands.RenameTeam(team="team_b", name="Harbor")
    await execute(store, server.match, rename, server.now)
    assert await on_offer(store, server) == [], "an operator's command does not catch up"
    assert CONFIG.fresh_millis <= 2000


async def test_a_match_of_five_against_none_is_not_on_offer(store: Store, server: Server) -> None:
    await server.begin()
    await server.send(*(f'{who} disconnected (reason "TIMEDOUT")' for who in logs.T))
    assert await on_offer(store, server) == []
    assert "nobody of" in (await server.state()).suspended
    back = [who.replace("<TERRORIST>", "") for who in logs.T[:1]]
    await server.send(*logs.ct_win(1, 0), *logs.freeze(1, 0))
    await server.send(*(f"{who} switched from team <Unassigned> to <TERRORIST>" for who in back))
    assert (await server.state()).suspended == ""
    assert await on_offer(store, server)


@pytest.mark.parametrize("late", [0, CONFIG.fresh_millis + 1])
@pytest.mark.parametrize("cause", ["silent", "away"])
async def test_rounds_after_a_silence_settle_as_if_there_had_been_none(
    store: Store, server: Server, cause: str, late: int
) -> None:
    """Nothing was lost, only late: a round that begins during the suspension lacks no event."""
    await server.begin()
    await server.send(*logs.ct_win(1, 0), *logs.freeze(1, 0))
    quiet = server.now + 1_000_000
    if cause == "silent":
        assert await match_checks.suspend_silent(store, quiet, CONFIG) == 1
    else:
        assert await match_checks.suspend_everything(store, quiet) == 1
    offered = await stored.book(store, server.match)
    following = (
        server.cut(*logs.freeze(1, 0)),
        server.cut(*logs.live(), *logs.ct_win(2, 0), *logs.freeze(2, 0)),
    )
    assert await server.deliver(*following, late=late) == ["applied", "applied"]
    state = await server.state()
    assert not any(played.gap for played in state.maps[0].rounds)
    assert state.current is not None and not state.current.gap
    book = await stored.book(store, server.match)
    of_round = [key for key in offered if "round=2|" in f"{key[1]}|"]
    assert len(of_round) > 10
    assert {book[key].status for key in of_round} == {MarketStatus.SETTLED}


async def test_a_tick_closes_a_gap_and_the_round_that_begins_after_it_settles_as_any_other(
    store: Store, server: Server
) -> None:
    """The batch with the next freeze time ends the gap: nothing after it is missing."""
    await server.begin()
    server.cut("lost")
    await server.deliver(server.cut(logs.kill(logs.CT[0], logs.T[1])))
    await tick(store, server.now + 2500)
    assert (await server.state()).suspended == LOG_GAP
    assert await on_offer(store, server) == []
    await server.send(*logs.ct_win(1, 0), *logs.freeze(1, 0))
    state = await server.state()
    assert state.maps[0].rounds[0].gap
    assert state.current is not None and not state.current.gap
    assert (14, "map=1|round=2|team=home") in {market.key for market in await on_offer(store, server)}
    await server.send(*logs.live(), *logs.ct_win(2, 0))
    book = await stored.book(store, server.match)
    assert book[14, "map=1|round=2|team=home"].status is MarketStatus.SETTLED


async def test_late_facts_do_not_end_a_suspension(store: Store, server: Server) -> None:
    await server.begin()
    await match_checks.suspend_everything(store, server.now)
    shot = server.cut(logs.kill(logs.CT[0], logs.T[1]))
    await server.deliver(shot, late=CONFIG.fresh_millis + 1)
    assert (await server.state()).suspended == doubts.PROCESSING_STOPPED
    await server.send(logs.kill(logs.CT[0], logs.T[2]))
    assert (await server.state()).suspended == ""


async def test_everything_is_suspended_in_play_and_before(store: Store, server: Server) -> None:
    assert await on_offer(store, server)
    assert await match_checks.suspend_everything(store, NOW) == 1
    assert await on_offer(store, server) == []
    assert await match_checks.suspend_everything(store, NOW) == 0


async def test_a_suspension_is_in_the_change_log(store: Store, server: Server) -> None:
    await server.begin()
    head = await stored.head(store)
    open_before = len(await on_offer(store, server))
    await match_checks.suspend_everything(store, server.now)
    stop, *rows = await stored.changes_after(store, head)
    assert (stop.entity, stop.envelope_seq, stop.at) == ("bet_stop", rows[0].envelope_seq, rows[0].at - 1)
    assert len({row.envelope_seq for row in rows}) == 1
    assert [row.frame for row in rows] == ["match.updated", *["market.suspended"] * open_before]
    assert {row.message for row in rows} == {"odds_change"}


async def test_a_tick_beats_and_opens_what_had_to_wait_before_play(store: Store, server: Server) -> None:
    await match_checks.suspend_everything(store, NOW)
    await tick(store, NOW + 5000)
    assert await on_offer(store, server)
    async with store.autocommit() as tx:
        assert await heartbeats.latest(tx, heartbeats.INGEST) == NOW + 5000


async def test_what_waits_before_play_opens_only_after_the_queued_batches(
    store: Store, server: Server
) -> None:
    """The kick-off may be among them."""
    await match_checks.suspend_everything(store, NOW)
    filled = [True]

    async def queues_empty() -> bool:
        return not filled

    await tick(store, NOW + 5000, queues_empty)
    assert await on_offer(store, server) == []
    filled.clear()
    await tick(store, NOW + 6000, queues_empty)
    assert await on_offer(store, server)


async def test_one_match_that_fails_leaves_no_other_open(
    store: Store, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    await server.begin()
    suspend: Any = match_update.suspend_and_write
    calls = []

    async def fails_first(*args: object, **named: object) -> object:
        calls.append(args)
        if len(calls) == 1:
            raise RuntimeError("this one is broken")
        return await suspend(*args, **named)

    monkeypatch.setattr(match_update, "suspend_and_write", fails_first)
    assert await match_checks.suspend_everything(store, server.now) == 0
    assert await match_checks.suspend_everything(store, server.now) == 1
    assert await on_offer(store, server) == []
