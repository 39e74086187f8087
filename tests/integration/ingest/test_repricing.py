"""Clock and fuse change prices and close markets without any line."""

import asyncio
from collections.abc import Sequence
from itertools import count

import httpx
import pytest

from app.domain.market import Market, MarketStatus
from app.domain.match import Status
from app.ingest.log_update import IngestConfig
from app.ingest.match_checks import reprice_due
from app.operations.api.alerts import AlertMonitor
from app.store.alerts import AlertKind
from app.store.connections import Store
from tests.integration.ingest.conftest import CONFIG, Server
from tests.support import logs, stored
from tests.support.clocks import ManualClock

SECOND = 1000
REPRICED = 250  #: ms between two moments that are looked at
PATIENT = IngestConfig(silence_live_millis=60_000, silence_clutch_millis=60_000)


async def winner(store: Store, server: Server) -> Market:
    return (await stored.book(store, server.match))[13, "map=1|round=1|team=home"]


async def due_at(store: Store, server: Server) -> int | None:
    async with store.autocommit() as tx:
        found: int | None = await tx.value("SELECT reprice_at FROM match WHERE id = $1", server.match.id)
    return found


@pytest.fixture
async def planted(server: Server) -> Server:
    """Two against two after a plant, the last line a second ago."""
    await server.begin()
    for victim in (1, 2):
        await server.send(logs.kill(logs.CT[0], logs.T[victim]))
        await server.send(logs.kill(logs.T[4], logs.CT[victim]))
    await server.send(logs.kill(logs.T[4], logs.CT[3]))
    await server.send(logs.plant(logs.T[4]))
    return server


async def test_a_fuse_moves_the_price_and_closes_the_market_without_a_line(
    store: Store, planted: Server
) -> None:
    before = await winner(store, planted)
    assert before.status is MarketStatus.ACTIVE
    seen = [before.odds]
    fuse_ends = planted.now + 40 * SECOND
    while (due := await due_at(store, planted)) is not None and due < fuse_ends:
        published = await stored.head(store)
        assert await reprice_due(store, ManualClock(due - 1), PATIENT) == 0
        assert await reprice_due(store, ManualClock(due), PATIENT) == 1
        after = await winner(store, planted)
        if after.status is not MarketStatus.ACTIVE:
            break
        if after.odds != seen[-1]:
            assert await stored.head(store) > published
            seen.append(after.odds)
    assert after.status is MarketStatus.SUSPENDED
    in_time = fuse_ends - 10 * SECOND + REPRICED
    assert due is not None and due <= in_time, "bets are accepted five seconds later, too late for a defuse"
    assert len(seen) > 2


async def test_of_several_workers_one_reprices(store: Store, planted: Server) -> None:
    due = await due_at(store, planted)
    assert due is not None
    done = await asyncio.gather(*(reprice_due(store, ManualClock(due), PATIENT) for _ in range(4)))
    assert sum(done) == 1
    assert await reprice_due(store, ManualClock(due), PATIENT) == 0


async def test_a_silent_source_is_not_repriced(store: Store, planted: Server) -> None:
    due = await due_at(store, planted)
    before, published = await winner(store, planted), await stored.head(store)
    late = planted.now + CONFIG.silence_clutch_millis + 1
    assert due is not None and due < late
    await reprice_due(store, ManualClock(late), CONFIG)
    assert (await winner(store, planted), await stored.head(store)) == (before, published)


async def test_nothing_opens_while_facts_come_late(store: Store, planted: Server) -> None:
    batch = planted.cut('World triggered "Nothing"')
    assert await planted.deliver(batch, late=CONFIG.fresh_millis + 1) == ["applied"]
    assert (await winner(store, planted)).status is MarketStatus.SUSPENDED
    assert await due_at(store, planted) is None
    async with store.transaction() as tx:  # as a process of an older version leaves it
        await tx.execute("UPDATE match SET reprice_at = $1", planted.now)
    await reprice_due(store, ManualClock(planted.now + SECOND), PATIENT)
    assert (await winner(store, planted)).status is MarketStatus.SUSPENDED


async def test_time_changes_nothing_between_rounds(store: Store, planted: Server) -> None:
    await planted.win(1, 0)
    assert await due_at(store, planted) is None
    assert await reprice_due(store, ManualClock(planted.now + 10 * SECOND), PATIENT) == 0


async def test_each_match_is_priced_as_of_its_turn(store: Store, planted: Server) -> None:
    due = await due_at(store, planted)
    assert due is not None
    clock = count(due, 5 * SECOND)
    assert await reprice_due(store, lambda: next(clock), PATIENT) == 1
    after = await due_at(store, planted)
    assert after is not None and after > due + 10 * SECOND, "it was locked and priced at later moments"


async def test_a_decided_map_whose_players_leave_ends_by_the_rules(
    store: Store, server: Server, client: httpx.AsyncClient
) -> None:
    """The server was stopped: players disconnect, and the log reports no end."""
    await server.send('server_cvar: "mp_maxrounds" "4"')
    await server.begin()
    await server.win(1, 0)
    await server.send(*logs.live())
    await server.send(*logs.ct_win(2, 0))
    swapped = (*_swapped(logs.score(0, 2, 2)),)
    moved = [f"{player.replace('<CT>', '')} switched from team <CT> to <TERRORIST>" for player in logs.CT]
    await server.send(*moved, "Starting Freeze period", *swapped, *logs.live())
    won = 'Team "TERRORIST" triggered "SFUI_Notice_Terrorists_Win" (CT "0") (T "3")'
    await server.send(won, *_swapped(logs.score(0, 3, 3)), 'World triggered "Round_End"')
    players = [*(each.replace("<CT>", "<TERRORIST>") for each in logs.CT), *logs.T]
    await server.send(*[f'{player} disconnected (reason "server shutting down")' for player in players])
    assert (await server.state()).suspended
    due = await due_at(store, server)
    assert due is not None
    assert await reprice_due(store, ManualClock(due - 1), PATIENT) == 0
    assert (await server.state()).status is Status.LIVE
    assert await reprice_due(store, ManualClock(due), PATIENT) == 1
    after = await server.state()
    assert after.status is Status.FINISHED
    assert (after.maps[0].home_score, after.maps[0].end_assumed) == (3, True)
    await server.send('rcon from "127.0.0.1:1": command "mp_backup_restore_load_file backup_round02.txt"')
    await AlertMonitor(store, lambda: due, dead_seconds=15).update()
    assert await stored.open_alerts(store, AlertKind.MAP_CONTRADICTION), "it does not end with the match"
    shown = (await client.get(f"/ops/v1/matches/{server.match.id}")).json()["data"]
    assert shown["assumed_ends"] == [1]
    assert all(market.closed for market in (await stored.book(store, server.match)).values())


def _swapped(lines: Sequence[str]) -> list[str]:
    """Lines about teams and score, with the teams on the other sides."""
    return [
        line.replace(logs.HOME, "-").replace(logs.AWAY, logs.HOME).replace("-", logs.AWAY)
        if "Team playing" in line
        else line
        for line in lines
    ]
