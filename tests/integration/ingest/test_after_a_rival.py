"""What is on offer when a rival source is gone; what we find out ourselves is no sign of the source."""

import pytest

from app.commands.match_commands import FollowSource
from app.domain.doubts import SERVER_SILENT
from app.ingest import lost_lines, match_checks
from app.store.alerts import AlertKind
from app.store.connections import Store
from tests.integration.ingest.conftest import CONFIG, NOW, Addressed, Server, tick
from tests.support import logs, stored
from tests.support.matches import execute

GONE = CONFIG.takeover_millis + 1  #: ms after a rival's last line


@pytest.fixture
async def server(server: Server) -> Addressed:
    """The server that is followed."""
    return Addressed(server, "run", "203.0.113.5:27015")


@pytest.fixture
async def rival(server: Addressed) -> Addressed:
    """Another server that claims the match; the first has played into its first round."""
    await server.begin()
    rival = Addressed(server, "rival", "203.0.113.9:27015")
    rival.now = server.now
    assert await rival.deliver(rival.cut(*logs.kick_off())) == ["refused"]
    return rival


async def on_offer(store: Store, server: Server) -> int:
    return len(await stored.active(store, server.match))


async def arrivals_since(store: Store, seq: int) -> set[int]:
    """`x-arrived-at` of the envelopes after `seq`; 0 for one without."""
    return {row.arrived_at for row in await stored.changes_after(store, seq)}


async def test_nothing_is_on_offer_after_a_rival_while_both_are_silent(
    store: Store, server: Server, rival: Addressed
) -> None:
    gone = rival.now + GONE
    assert await match_checks.forget_rivals(store, gone, CONFIG) == 1
    assert await on_offer(store, server) == 0
    assert (await server.state()).suspended == SERVER_SILENT
    found = await stored.open_alerts(store)
    assert [alert.about.kind for alert in found] == [AlertKind.SILENT_SOURCE]
    server.now = gone
    await server.send(logs.kill(logs.CT[0], logs.T[1]))
    assert (await server.state()).suspended == ""
    assert await on_offer(store, server)


async def test_what_the_followed_source_plays_is_on_offer_again_after_a_rival(
    store: Store, server: Server, rival: Addressed
) -> None:
    server.now = rival.now + GONE - 1000
    await server.send(logs.kill(logs.CT[0], logs.T[1]))
    assert await on_offer(store, server) == 0
    assert await match_checks.forget_rivals(store, server.now, CONFIG) == 1
    assert (await server.state()).suspended == ""
    assert await on_offer(store, server)


async def test_facts_that_came_late_open_nothing_after_a_rival(
    store: Store, server: Server, rival: Addressed
) -> None:
    gone = rival.now + GONE
    server.now = gone - 5000
    await server.deliver(server.cut(logs.kill(logs.CT[0], logs.T[1])), late=CONFIG.fresh_millis + 1)
    assert await match_checks.forget_rivals(store, gone, CONFIG) == 1
    assert await on_offer(store, server) == 0
    await server.send(logs.kill(logs.CT[0], logs.T[2]))
    assert await on_offer(store, server)


async def test_an_operator_who_decides_against_a_rival_opens_nothing_on_a_silent_source(
    store: Store, server: Server, rival: Addressed
) -> None:
    silent = server.now + CONFIG.silence_live_millis + 1
    await tick(store, silent)
    await execute(store, server.match, FollowSource(source="run"), silent)
    assert (await server.state()).suspended == SERVER_SILENT
    assert await on_offer(store, server) == 0


async def test_the_silence_of_a_claimed_match_is_noted_once(
    store: Store, server: Server, rival: Addressed
) -> None:
    silent = server.now + CONFIG.silence_live_millis
    assert await match_checks.note_silence(store, silent, CONFIG) == 0
    assert await match_checks.note_silence(store, silent + 1, CONFIG) == 1
    seq = await stored.head(store)
    assert await match_checks.note_silence(store, silent + 1000, CONFIG) == 0
    assert await stored.head(store) == seq
    assert "second game server" in (await server.state()).suspended


async def test_only_lines_of_the_followed_source_end_its_silence(
    store: Store, server: Server, rival: Addressed
) -> None:
    later = server.now + CONFIG.silence_live_millis + 1
    rival.now = later
    await rival.deliver(rival.cut(*logs.live()))
    async with store.transaction() as tx:
        await lost_lines.suspend_for_loss(tx, await server.state(), later)
    await match_checks.forget_rivals(store, rival.now + GONE, CONFIG)
    assert match_checks.is_silent(await server.state(), later, CONFIG)


async def test_what_no_line_causes_carries_no_time_of_arrival(
    store: Store, server: Server, rival: Addressed
) -> None:
    seq = await stored.head(store)
    assert await arrivals_since(store, seq - 1) == {0}, "the rival's claim"
    await lost_lines.park(store, server.cut("unreadable"), "ValueError()", server.now, CONFIG)
    await match_checks.forget_rivals(store, rival.now + GONE, CONFIG)
    await execute(store, server.match, FollowSource(source="rival"), rival.now + GONE)
    assert await arrivals_since(store, seq) == {0}


async def test_two_batches_of_one_millisecond_both_carry_it(store: Store, server: Server) -> None:
    await server.begin()
    seq = await stored.head(store)
    server.now -= 1000
    await server.send(logs.kill(logs.CT[0], logs.T[1]))
    assert await arrivals_since(store, seq) == {server.now}


async def test_a_backlog_of_a_match_before_play_opens_nothing_when_workers_return(
    store: Store, server: Server
) -> None:
    assert await match_checks.suspend_everything(store, NOW) == 1
    waiting = server.cut('World triggered "Nothing"')
    assert await server.deliver(waiting, late=CONFIG.fresh_millis + 1) == ["applied"]
    await tick(store, server.now + 5000)
    assert await on_offer(store, server) == 0
    await server.send('World triggered "Nothing"')
    assert await on_offer(store, server)
