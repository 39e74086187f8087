"""A relay that forwards a log in blocks loses no line, wherever the blocks end."""

import pytest
from msgspec.structs import replace

from app.domain.doubts import LOG_GAP
from app.ingest import lost_lines
from app.ingest.batches import Batch
from app.store import log_state
from app.store.connections import Store
from tests.integration.ingest.conftest import CONFIG, Server
from tests.support import logs, stored


def blocks(whole: Batch, size: int) -> list[Batch]:
    """The batch in blocks of so many bytes; a sender without offsets stays one."""
    return [
        replace(
            whole,
            id=f"{whole.id}/{at}",
            body=whole.body[at : at + size],
            begin=None if whole.begin is None else whole.begin + at,
            end=None if whole.begin is None else min(whole.begin + at + size, whole.begin + len(whole.body)),
        )
        for at in range(0, len(whole.body), size)
    ]


@pytest.mark.parametrize("offsets", [True, False])
@pytest.mark.parametrize("size", [53, 1000])
async def test_blocks_that_end_within_lines(store: Store, server: Server, size: int, offsets: bool) -> None:
    round_of = (*logs.kick_off(), *logs.live(), *logs.ct_win(1, 0), *logs.freeze(1, 0))
    whole = server.cut(*round_of, *logs.live(), *logs.ct_win(2, 0), *logs.freeze(2, 0))
    if not offsets:
        whole = replace(whole, instance="", begin=None, end=None)
    parts = blocks(whole, size)
    assert set(await server.deliver(*parts)) == {"applied"}
    state = await server.state()
    assert (await server.score(), await server.kills(), state.suspended) == ((2, 0), 10, "")
    assert await stored.open_alerts(store, match=state) == []
    async with store.autocommit() as tx:
        assert await log_state.pending(tx, state.id) == []


async def test_blocks_that_come_late_or_twice(server: Server) -> None:
    await server.begin()
    first, second, third = blocks(server.cut(*(logs.kill(logs.CT[0], victim) for victim in logs.T[1:])), 180)
    delivered = await server.deliver(third, first, first, second, second, third)
    assert delivered == ["early", "applied", "repeat", "applied", "repeat", "repeat"]
    assert (await server.kills(), (await server.state()).suspended) == (5, "")


async def test_a_line_whose_rest_does_not_come_is_read_as_it_is(store: Store, server: Server) -> None:
    """Not all programs end a file with a line end."""
    await server.begin()
    whole = server.cut(*(logs.kill(logs.CT[0], victim) for victim in logs.T[1:3]))
    parts = blocks(replace(whole, body=whole.body[:-1]), 80)
    await server.deliver(*parts)
    assert await server.kills() == 2
    await lost_lines.skip_missing(store, whole.arrived_at + CONFIG.gap_millis, CONFIG)
    assert await server.kills() == 2
    await lost_lines.skip_missing(store, whole.arrived_at + CONFIG.gap_millis + 1, CONFIG)
    assert await server.kills() == 3
    await lost_lines.skip_missing(store, whole.arrived_at + 2 * CONFIG.gap_millis, CONFIG)
    assert await server.kills() == 3


async def test_a_line_whose_rest_is_missing_is_not_read(store: Store, server: Server) -> None:
    await server.begin()
    first, _, third = blocks(server.cut(*(logs.kill(logs.CT[0], victim) for victim in logs.T[1:])), 180)
    await server.deliver(first, third)
    await lost_lines.skip_missing(store, third.arrived_at + CONFIG.gap_millis + 1, CONFIG)
    assert LOG_GAP in (await server.state()).suspended
    async with store.autocommit() as tx:
        waiting = await log_state.pending(tx, server.match.id)
    assert waiting == []
