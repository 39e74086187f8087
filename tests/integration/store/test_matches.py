import asyncio
from uuid import UUID, uuid4

import msgspec
import pytest
from msgspec.structs import replace

from app.domain.match import CurrentRound, MapPlay, Match, MatchPlayer, Round, Status, TimelineEvent
from app.kit.errors import Conflict, NotFound
from app.store import changes, history, markets, matches
from app.store.changes import ChangeDraft
from app.store.connections import Store
from tests.integration.store.conftest import NewMarket, NewMatch

ROUND = Round(
    id=2,
    map=1,
    number=1,
    winner="home",
    winning_side="CT",
    win_reason="defuse",
    home_score=1,
    away_score=0,
    started_at=10,
    ended_at=90,
)
KILL = TimelineEvent(id=1, type="kill", map=1, round=1, at=15, offset_ms=5, actor=MatchPlayer(5, 'Ünï ☃ "q"'))


async def test_the_whole_state_comes_back(store: Store, new_match: NewMatch) -> None:
    play = MapPlay(number=1, name="de_dust2", status="live", rounds=(ROUND,), home_side="T")
    current = CurrentRound(map=1, number=2, phase="live", events=(KILL,))
    match = await new_match(maps=(play,), current=current, home_strength=0.25, pause="technical")
    async with store.autocommit() as tx:
        assert await matches.get(tx, match.id) == match
        assert await matches.find(tx, str(match.id)) == match
        assert await matches.find(tx, str(match.id).upper()) == match
        assert await matches.find(tx, f"od:match:{match.number}") == match
        for spelled in ("{%s}", "urn:uuid:%s", "--%s", "%s\n"):
            assert await matches.find(tx, spelled % match.id) is None
        assert await matches.find(tx, match.id.hex) is None


UNKNOWN = "00000000-0000-4000-8000-000000000000"


async def test_what_names_no_match_finds_none(store: Store) -> None:
    for ref in ["", "od:match:0", "od:match:99999", "mf:match:1", "x' OR 1=1", UNKNOWN]:
        async with store.autocommit() as tx:
            assert await matches.find(tx, ref) is None, ref


async def test_an_id_is_used_once(store: Store, new_match: NewMatch, match: Match) -> None:
    with pytest.raises(Conflict):
        async with store.transaction() as tx:
            await matches.insert(tx, match)
    with pytest.raises(Conflict):
        await new_match(number=match.number)


async def test_only_a_known_match_is_saved_or_locked(store: Store, new_match: NewMatch) -> None:
    known = await new_match()
    match = msgspec.structs.replace(known, id=uuid4())
    event = history.add_statements(known.id, [], [KILL])
    async with store.transaction() as tx:
        await tx.write([*event, matches.save_statement(known)])
        for writes in ([matches.save_statement(match)], [*event, matches.save_statement(match)]):
            with pytest.raises(NotFound, match=str(match.id)):
                await tx.write(writes)
        with pytest.raises(NotFound):
            await matches.lock(tx, match.id)


async def test_a_locked_match_is_waited_for(store: Store, match: Match) -> None:
    async with store.transaction() as tx:
        locked = await matches.lock(tx, match.id)
        second = asyncio.create_task(_score_again(store, match.id))
        await asyncio.wait({second}, timeout=0.1)
        assert not second.done()
        await tx.write([matches.save_statement(msgspec.structs.replace(locked, score_home=1))])
    assert await second == 2


async def _score_again(store: Store, match_id: UUID) -> int:
    async with store.transaction() as tx:
        match = await matches.lock(tx, match_id)
        await tx.write(
            [matches.save_statement(msgspec.structs.replace(match, score_home=match.score_home + 1))]
        )
    return match.score_home + 1


async def test_listing_by_state_in_order_of_time(store: Store, new_match: NewMatch) -> None:
    late = await new_match(status=Status.UPCOMING, scheduled_at=200)
    soon = await new_match(status=Status.UPCOMING, scheduled_at=100)
    live = await new_match()
    over = await new_match(status=Status.FINISHED, finished_at=50)
    async with store.autocommit() as tx:
        assert await matches.listing(tx, [Status.UPCOMING], limit=9) == [soon, late]
        assert await matches.listing(tx, [Status.UPCOMING], limit=1) == [soon]
        assert await matches.listing(tx, [Status.FINISHED], limit=9) == [over]
        assert live in await matches.listing(tx, [*Status], limit=9)


async def test_silent_are_live_matches_with_a_price_and_no_facts(
    store: Store, new_match: NewMatch, market: NewMarket
) -> None:
    quiet = await new_match(last_arrived_at=100)
    offers = [
        quiet,
        await new_match(last_arrived_at=900),
        await new_match(last_arrived_at=100, suspended="source lost"),
        await new_match(last_arrived_at=100, status=Status.UPCOMING),
    ]
    without_offer = await new_match(last_arrived_at=100)
    async with store.transaction() as tx:
        for match in offers:
            await tx.write(markets.save_statements(match.id, [market()]))
        await tx.write(markets.save_statements(without_offer.id, [market(status=-1)]))
        assert [match.id for match in await matches.quiet(tx, 500)] == [quiet.id]


async def test_trimming_deletes_all_rows_of_a_match(
    store: Store, new_match: NewMatch, market: NewMarket, settlement: ChangeDraft
) -> None:
    old = await new_match(status=Status.FINISHED, finished_at=100)
    remaining = [await new_match(status=Status.FINISHED, finished_at=900), await new_match()]
    for match in [old, *remaining]:
        async with store.transaction() as tx:
            await tx.write(markets.save_statements(match.id, [market()]))
            await tx.write(history.add_statements(match.id, [ROUND], [KILL]))
            await changes.append(tx, match, [settlement], 1000)
    async with store.transaction() as tx:
        assert await matches.trim(tx, 500) == [old.id]
        assert await matches.trim(tx, 500) == []
        for table in ("match", "market", "round", "timeline_event", "ledger_entry", "change"):
            assert await tx.value(f"SELECT count(*) FROM {table}") == 2, table


async def test_trimming_leaves_the_end_of_the_change_log(
    store: Store, new_match: NewMatch, settlement: ChangeDraft
) -> None:
    ended = [await new_match(status=Status.FINISHED, finished_at=100 + number) for number in range(2)]
    for match in ended:
        async with store.transaction() as tx:
            await changes.append(tx, match, [settlement], 1000)
    async with store.transaction() as tx:
        head = await changes.head(tx)
        assert await matches.trim(tx, 500) == [ended[0].id]
        assert await changes.head(tx) == head


async def test_history_stores_what_is_void(store: Store, match: Match) -> None:
    bomb = TimelineEvent(id=3, type="bomb_planted", map=1, round=1, at=20, offset_ms=10, site="A")
    async with store.transaction() as tx:
        await tx.write(history.add_statements(match.id, [ROUND], [KILL, bomb]))
        await tx.write(history.add_statements(match.id, [ROUND], [KILL]))
        assert await history.rounds(tx, match.id) == [ROUND]
        assert await history.timeline(tx, match.id) == [KILL, bomb]
        await history.mark(tx, match.id, {ROUND.id, KILL.id}, void=True)
        assert [(e.id, e.void) for e in await history.timeline(tx, match.id)] == [(1, True), (3, False)]
        assert [r.void for r in await history.rounds(tx, match.id)] == [True]


async def test_what_counts_of_a_history_is_read_at_once(store: Store, match: Match) -> None:
    """Also where the bodies were written while they were void, or are no longer."""
    bombs = [
        TimelineEvent(id=id, type="bomb_planted", map=1, round=1, at=20, offset_ms=10, site="A", void=id > 20)
        for id in (3, 20, 100)
    ]
    async with store.transaction() as tx:
        assert await history.standing(tx, match.id) == ([], [])
        await tx.write(history.add_statements(match.id, [ROUND], [*reversed(bombs), KILL]))
        assert await history.standing(tx, match.id) == ([ROUND], [KILL, *bombs[:2]])
        await history.mark(tx, match.id, {ROUND.id, 3}, void=True)
        await history.mark(tx, match.id, {100}, void=False)
        assert await history.standing(tx, match.id) == ([], [KILL, bombs[1], replace(bombs[2], void=False)])
