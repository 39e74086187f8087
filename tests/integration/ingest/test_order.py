"""Every byte of a log counts once and in order, however it is delivered."""

import pytest
from msgspec.structs import replace

from app.domain.doubts import LOG_GAP
from app.ingest import lost_lines
from app.ingest.batches import Batch
from app.store import history, log_state
from app.store.connections import Store
from tests.integration.ingest.conftest import CONFIG, NOW, Server
from tests.support import logs, stored

SHOT = logs.kill(logs.CT[0], logs.T[0])


async def test_a_repeated_batch_changes_nothing(server: Server) -> None:
    await server.begin()
    shot = server.cut(logs.kill(logs.CT[1], logs.T[1]))
    assert await server.deliver(shot, shot) == ["applied", "repeat"]
    assert await server.kills() == 2


async def test_a_redelivered_message_without_offsets_changes_nothing(server: Server) -> None:
    await server.begin()
    shot, again = (
        replace(server.cut(logs.kill(logs.CT[1], victim)), instance="", begin=None, end=None)
        for victim in logs.T[1:3]
    )
    assert await server.deliver(shot, shot, again, again) == ["applied", "repeat", "applied", "repeat"]
    assert await server.kills() == 3


async def test_a_later_range_waits_for_the_missing_one(store: Store, server: Server) -> None:
    await server.begin()
    first, second, third = (server.cut(logs.kill(logs.CT[0], logs.T[seat])) for seat in (1, 2, 3))
    assert await server.deliver(third, second) == ["early", "early"]
    assert await server.kills() == 1
    assert await server.deliver(first) == ["applied"]
    assert await server.kills() == 4
    state = await server.state()
    assert state.suspended == ""
    async with store.autocommit() as tx:
        assert await log_state.pending(tx, state.id) == []


@pytest.mark.parametrize("longer_first", [False, True])
async def test_of_pending_ranges_with_one_begin_the_longest_counts(
    server: Server, longer_first: bool
) -> None:
    """A sender that repeats a request may have more lines to send by then."""
    await server.begin()
    missing, second, third = (server.cut(logs.kill(logs.CT[0], logs.T[seat])) for seat in (1, 2, 3))
    both = replace(third, id="both", begin=second.begin, body=second.body + third.body)
    waiting = (both, second) if longer_first else (second, both)
    assert await server.deliver(*waiting) == ["early", "early"]
    assert await server.deliver(missing) == ["applied"]
    assert await server.kills() == 4
    await server.send(logs.kill(logs.CT[0], logs.T[4]))
    state = await server.state()
    assert (state.doubts, await server.kills()) == ((), 5)


async def test_a_pending_range_within_one_that_was_applied_moves_nothing_back(server: Server) -> None:
    await server.begin()
    first, second, third = (server.cut(logs.kill(logs.CT[0], logs.T[seat])) for seat in (1, 2, 3))
    body = first.body + second.body + third.body
    whole = replace(third, id="whole", begin=first.begin, body=body, arrived_at=server.now)
    assert await server.deliver(second, whole) == ["early", "applied"]
    assert await server.kills() == 4
    await server.send(logs.kill(logs.CT[0], logs.T[4]))
    assert await server.kills() == 5


async def test_a_gap_is_declared_after_two_seconds_and_play_continues_after_it(
    store: Store, server: Server
) -> None:
    await server.begin()
    server.cut(logs.kill(logs.CT[0], logs.T[1]))  # never delivered
    late = server.cut(logs.kill(logs.CT[0], logs.T[2]))
    assert await server.deliver(late) == ["early"]
    assert await lost_lines.skip_missing(store, late.arrived_at + 1999, CONFIG) == 0
    assert (await server.state()).suspended == ""
    assert await lost_lines.skip_missing(store, late.arrived_at + 2001, CONFIG) == 1
    state = await server.state()
    assert state.suspended == LOG_GAP
    assert await server.kills() == 2
    await server.send(logs.kill(logs.CT[0], logs.T[3]))
    assert (await server.state()).suspended == LOG_GAP


async def test_a_complete_round_ends_the_suspension(store: Store, server: Server) -> None:
    await server.begin()
    server.cut(logs.kill(logs.CT[0], logs.T[1]))
    late = server.cut(logs.kill(logs.CT[0], logs.T[2]))
    await server.deliver(late)
    await lost_lines.skip_missing(store, late.arrived_at + 2001, CONFIG)
    await server.send(*logs.ct_win(1, 0))
    assert (await server.state()).suspended == LOG_GAP
    await server.send(*logs.freeze(1, 0))
    state = await server.state()
    assert state.suspended == ""
    assert state.maps[0].home_score == 1
    assert state.maps[0].rounds[0].gap


async def test_the_missing_range_that_comes_too_late_is_not_read_out_of_order(
    store: Store, server: Server
) -> None:
    await server.begin()
    missing = server.cut(logs.kill(logs.CT[0], logs.T[1]))
    late = server.cut(logs.kill(logs.CT[0], logs.T[2]))
    await server.deliver(late)
    await lost_lines.skip_missing(store, late.arrived_at + 2001, CONFIG)
    assert await server.deliver(missing) == ["repeat"]
    assert await server.kills() == 2


async def test_a_restarted_server_begins_its_own_count(store: Store, server: Server) -> None:
    await server.begin()
    restarted = Server(store, server.match, instance="second run")
    restarted.now = server.now
    await restarted.send(logs.kill(logs.CT[0], logs.T[1]))
    assert await server.kills() == 2


async def test_the_first_ranges_of_a_run_are_put_in_order_too(server: Server) -> None:
    first, second, third = (server.cut(*lines) for lines in (logs.kick_off(), logs.live(), (SHOT,)))
    assert await server.deliver(second, first, third) == ["early", "applied", "applied"]
    state = await server.state()
    assert (state.suspended, await server.kills()) == ("", 1)
    assert state.current is not None and state.map is not None and state.map.home_side == "CT"


async def test_a_log_joined_in_mid_round_is_not_trusted_before_a_whole_one(
    store: Store, server: Server
) -> None:
    await server.begin()
    server.instance = "moved"
    shot = server.cut(logs.kill(logs.CT[1], logs.T[1]))
    assert await server.deliver(shot) == ["early"]
    assert await lost_lines.skip_missing(store, shot.arrived_at + 2001, CONFIG) == 1
    state = await server.state()
    assert (state.suspended, await server.kills()) == (LOG_GAP, 2)
    assert state.current is not None and state.current.gap
    await server.win(1, 0)
    assert (await server.state()).suspended == ""


async def test_a_log_joined_before_play_waits_and_goes_on(store: Store, server: Server) -> None:
    server.offset = 1000
    begun = server.cut(*logs.kick_off()[:1])
    assert await server.deliver(begun) == ["early"]
    assert await lost_lines.skip_missing(store, begun.arrived_at + 2001, CONFIG) == 1
    assert (await server.state()).suspended == ""
    assert await server.deliver(server.cut(*logs.kick_off()[1:])) == ["applied"]


async def test_what_a_run_left_unread_suspends_when_another_takes_over(server: Server) -> None:
    await server.begin()
    server.cut(SHOT)  # never delivered
    assert await server.deliver(server.cut(logs.kill(logs.CT[1], logs.T[1]))) == ["early"]
    server.instance, server.offset = "restarted", 0
    await server.send(logs.kill(logs.CT[2], logs.T[2]))
    state = await server.state()
    assert state.suspended == LOG_GAP
    assert state.current is not None and state.current.gap


async def test_times_never_go_back(store: Store, server: Server) -> None:
    """A log played much faster than it was written: each body covers many source seconds."""
    arrival = NOW
    offset = 0
    for bodies in (logs.kick_off(), logs.live(), logs.ct_win(1, 0), logs.freeze(1, 0), logs.live()):
        text = b"".join(logs.body(line, second=offset + at * 7) for at, line in enumerate(bodies))
        arrival, offset = arrival + 100, offset + 100
        batch = Batch(
            id=str(arrival), match_id=server.match.id, number=1, arrived_at=arrival, body=text, instance=""
        )
        await server.deliver(batch)
    async with store.autocommit() as tx:
        times = [event.at for event in await history.timeline(tx, server.match.id)]
        (played,) = await history.rounds(tx, server.match.id)
    assert times == sorted(times) and len(times) == 5
    assert NOW <= played.started_at <= times[0] and times[-1] <= played.ended_at <= arrival


async def test_what_follows_from_a_log_carries_its_arrival(store: Store, server: Server) -> None:
    await server.begin()
    rows = await stored.changes_after(store, 0)
    created = [row for row in rows if row.at <= NOW]
    played = {row.arrived_at for row in rows if row.message and row not in created}
    assert created and {row.arrived_at for row in created} == {0}
    assert played <= {NOW + 1000, NOW + 2000, NOW + 3000} and NOW + 3000 in played


async def test_what_is_held_back_of_a_match_is_bounded(server: Server) -> None:
    """In number and in bytes; a dropped batch leaves a gap."""
    await server.begin()
    missing = server.cut(logs.kill(logs.CT[1], logs.T[1]))
    early = [server.cut(SHOT) for _ in range(300)]
    outcomes = await server.deliver(*early)
    assert outcomes == ["early"] * 256 + ["overflow"] * 44
    assert await server.deliver(missing) == ["applied"]
    assert (await server.state()).doubts == ()
    assert await server.deliver(early[-1]) == ["early"]
    huge = replace(
        early[-1], id="huge", body=b"x" * 9 * 1024 * 1024, begin=server.offset + 1, end=server.offset + 2
    )
    assert await server.deliver(huge) == ["overflow"]
    assert await lost_lines.skip_missing(server.store, early[-1].arrived_at + 2001, CONFIG) == 1
    assert (await server.state()).suspended == LOG_GAP
