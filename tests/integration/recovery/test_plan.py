"""What is replayed, in which order, and that folding it ends in the truth."""

import asyncio
from uuid import uuid4

import pytest
from msgspec.structs import replace

from app.amqp.envelope import MatchMessage
from app.domain.market import MarketStatus, Result
from app.domain.match import Match, Status
from app.domain.recovery import RecoveryKind
from app.domain.settlement import VoidWindow
from app.store import matches, notifications
from tests.integration.recovery.conftest import Replay
from tests.support.stored import present
from tests.support.story import Story, offer
from tests.support.tenants import book


def by_message(messages: list[MatchMessage], name: str) -> list[MatchMessage]:
    return [message for message in messages if message.name == name]


async def test_a_full_snapshot_is_the_open_markets_of_all_that_is_not_over(
    replay: Replay, story: Story
) -> None:
    live, bare, over = await story.match(), await story.match(status=Status.UPCOMING), await story.match()
    await story.offer(live, offer(1), offer(2), offer(3))
    await story.settle(live, offer(1))
    await story.offer(live, replace(offer(3), status=MarketStatus.SUSPENDED, reason="paused"))
    await story.finish(over)
    messages = await replay()
    assert [(message.name, message.number) for message in messages] == [
        ("odds_change", live.number),
        ("odds_change", bare.number),
    ]
    statuses = {market.specifiers: market.status for market in messages[0].markets}
    assert statuses == {offer(2).specifiers: MarketStatus.ACTIVE, offer(3).specifiers: MarketStatus.SUSPENDED}
    assert list(messages[1].markets) == []
    assert messages[1].status and messages[1].status.status is Status.UPCOMING


async def test_odds_carry_a_fresh_stamp_and_the_change_that_they_were_read_at(
    replay: Replay, story: Story
) -> None:
    match = await story.match(offer(1))
    before = await present(story.store, match)
    (first,) = await replay(now=0)
    (second,) = await replay(now=before.last_stamp + 1000)
    assert (first.at, second.at) == (before.last_stamp + 1, before.last_stamp + 1000)
    assert first.seq == second.seq == before.last_seq
    await story.offer(match, offer(2))
    assert story.at > second.at, "what is published live afterwards is newer"


async def test_a_fresh_stamp_invalidates_cached_bodies_of_the_match(replay: Replay, story: Story) -> None:
    match = await story.match()
    received = notifications.listen(story.store, notifications.SHOWN)
    async with asyncio.timeout(60):
        assert await anext(received) == ""
        await replay()
        assert await anext(received) == notifications.match_payload(match)


async def test_an_incremental_one_adds_what_was_settled_and_voided_since(
    replay: Replay, story: Story
) -> None:
    match = await story.match(*map(offer, range(1, 7)))
    await story.settle(match, offer(1))
    after = story.at
    await story.settle(match, offer(2), offer(3))
    settled_at = story.at
    await story.settle(match, offer(4), result=Result.LOST)
    await story.void(match, offer(5))
    messages = await replay(after=after)
    assert [message.name for message in messages] == [
        "odds_change",
        "bet_settlement",
        "bet_settlement",
        "bet_cancel",
    ]
    assert [market.specifiers for market in messages[0].markets] == [offer(6).specifiers]
    together = messages[1]
    assert {entry.specifiers for entry in together.entries} == {offer(2).specifiers, offer(3).specifiers}
    assert all(entry.at == together.at for entry in together.entries) and together.at < settled_at
    assert {message.seq for message in messages} == {messages[0].seq}
    again = await replay(after=after)
    assert again[1:] == messages[1:], "only the odds are stamped anew"


async def test_results_are_replayed_match_by_match_in_the_order_of_their_timestamps(
    replay: Replay, story: Story
) -> None:
    first, second = await story.match(), await story.match()
    for match in (first, second):
        await story.offer(match, offer(1), offer(2), offer(3))
    after = story.at
    await story.settle(second, offer(1))
    await story.void(first, offer(1))
    await story.settle(first, offer(2))
    await story.void(second, offer(2))
    messages = await replay(after=after)
    assert [(message.name, message.number) for message in messages] == [
        *(("odds_change", first.number), ("odds_change", second.number)),
        *(("bet_cancel", first.number), ("bet_settlement", first.number)),
        *(("bet_settlement", second.number), ("bet_cancel", second.number)),
    ]
    assert all(one.at < two.at for one, two in (messages[2:4], messages[4:6]))


async def test_only_the_latest_transition_of_a_market_is_told(replay: Replay, story: Story) -> None:
    match = await story.match(offer(1), offer(2), offer(3))
    after = story.at
    await story.settle(match, offer(1), offer(2))
    await story.take_back(match, offer(1), offer(2))
    await story.settle(match, offer(1), result=Result.LOST)
    await story.void(match, offer(3))
    await story.take_back(match, offer(3))
    canonical = await replay(after=after)
    (settlement,) = by_message(canonical, "bet_settlement")
    assert [(each.specifiers, each.result) for each in settlement.entries] == [
        (offer(1).specifiers, Result.LOST)
    ]
    assert {message.name for message in canonical} == {"odds_change", "bet_settlement"}
    everything = await replay(RecoveryKind.FACADE_FULL, after)
    assert [message.name for message in everything] == [
        "odds_change",
        "bet_settlement",
        "rollback_bet_settlement",
        "rollback_bet_cancel",
    ]
    assert [entry.specifiers for entry in everything[2].entries] == [offer(2).specifiers]


async def test_void_bets_are_told_beside_what_became_of_their_market(replay: Replay, story: Story) -> None:
    match, early, late = await story.match(), VoidWindow(1, 5), VoidWindow(2, 7)
    await story.offer(match, offer(1), offer(2))
    await story.void_bets(match, VoidWindow(1, 2), offer(1))
    after = story.at
    await story.void_bets(match, early, offer(1), offer(2))
    voided_at = story.at
    await story.settle(match, offer(1))
    await story.void_bets(match, late, offer(2))
    await story.void_bets(match, late, offer(2), rolled_back=True)
    messages = await replay(after=after)
    assert [message.name for message in messages] == ["odds_change", "bet_cancel", "bet_settlement"]
    assert {(each.key, each.void_window) for each in messages[1].entries} == {
        (offer(1).key, early),
        (offer(2).key, early),
    }
    assert messages[1].at < voided_at, "the stamp that it had"
    assert [market.specifiers for market in messages[0].markets] == [offer(2).specifiers]
    everything = await replay(RecoveryKind.FACADE_FULL, after)
    assert everything[1:3] == messages[1:]
    (back,) = everything[3:]
    assert (back.name, [each.void_window for each in back.entries]) == ("rollback_bet_cancel", [late])
    stateful = await replay(RecoveryKind.EVENT_STATEFUL, match=match)
    windows = [each.void_window for message in stateful for each in message.entries]
    assert sorted(windows, key=str) == sorted([VoidWindow(1, 2), early, early, None], key=str)


async def test_the_global_order(replay: Replay, story: Story) -> None:
    early = await story.match(status=Status.UPCOMING)
    await story.start(early)
    after = story.at
    started, called_off, live = [await story.match(status=Status.UPCOMING) for _ in range(3)]
    await story.start(started)
    await story.cancel(called_off)
    for match in (live, started):
        await story.offer(match, offer(1), offer(2))
        await story.settle(match, offer(1), offer(2))
        await story.take_back(match, offer(2))
    messages = await replay(RecoveryKind.FACADE_FULL, after)
    order = ["fixture_change", "odds_change", "bet_settlement", "rollback_bet_settlement"]
    assert [message.name for message in messages] == sorted((f.name for f in messages), key=order.index)
    fixtures = by_message(messages, "fixture_change")
    assert [(each.number, each.change_type) for each in fixtures] == [
        (started.number, 1),
        (called_off.number, 3),
    ]
    assert all(each.at > after for each in fixtures)
    assert {message.number for message in by_message(messages, "odds_change")} == {
        match.number for match in (early, started, called_off, live)
    }
    full = await replay(RecoveryKind.FACADE_FULL)
    assert {message.name for message in full} == {"odds_change"}


async def test_every_kind_of_the_global_order_with_the_stamps_of_then(replay: Replay, story: Story) -> None:
    earlier, begun = await story.match(status=Status.UPCOMING), await story.match(status=Status.UPCOMING)
    await story.cancel(earlier)
    after = story.at
    await story.start(begun)
    await story.offer(begun, *map(offer, range(1, 6)))
    await story.settle(begun, offer(1), offer(2))
    await story.void(begun, offer(3), offer(4))
    await story.take_back(begun, offer(2))
    await story.take_back(begun, offer(4))
    await story.finish(begun)
    now = story.at + 60_000
    messages = await replay(RecoveryKind.FACADE_FULL, after, now=now)
    assert [message.name for message in messages] == [
        *("fixture_change", "odds_change", "bet_settlement", "bet_cancel"),
        *("rollback_bet_settlement", "rollback_bet_cancel"),
    ], "the end of the match is no fixture change"
    assert messages[0].change_type == 1
    assert messages[1].at == now and all(message.at < now for message in (messages[0], *messages[2:]))
    later = await replay(RecoveryKind.FACADE_FULL, after, now=now + 60_000)
    assert [messages[0], *messages[2:]] == [later[0], *later[2:]]


async def test_what_ended_since_is_told_as_ended(replay: Replay, story: Story) -> None:
    match, old = await story.match(), await story.match()
    await story.offer(match, offer(1), offer(2))
    async with story.store.transaction() as tx:
        await tx.write([matches.save_statement(replace(old, status=Status.FINISHED, finished_at=1))])
    after = story.at
    await story.settle(match, offer(1))
    await story.void(match, offer(2))
    await story.finish(match)
    messages = await replay(after=after)
    assert {message.number for message in messages} == {match.number}
    odds = messages[0]
    assert odds.status and odds.status.status.code == 4 and odds.status.winner == "home"
    assert {market.status for market in odds.markets} == {MarketStatus.SETTLED, MarketStatus.CANCELLED}


@pytest.mark.parametrize(
    "kind", [RecoveryKind.FACADE_FULL, RecoveryKind.EVENT_ODDS, RecoveryKind.EVENT_STATEFUL]
)
async def test_a_match_that_was_given_back_after_the_request_is_not_told(
    replay: Replay, story: Story, kind: RecoveryKind
) -> None:
    match = await story.match(offer(1), offer(2))
    after = story.at
    await story.settle(match, offer(1))
    plan = replay.plan(kind, after, None if kind is RecoveryKind.FACADE_FULL else match)
    steps = await plan.steps()
    await book(story.store, match, False)
    assert [message for step in steps for message in await plan.messages(step, 0)] == []


async def test_unbooked_matches_are_left_out(replay: Replay, story: Story) -> None:
    kept, given_back = await story.match(status=Status.UPCOMING), await story.match(status=Status.UPCOMING)
    await story.offer(kept, offer(1))
    after = story.at
    for match in (kept, given_back):
        await story.start(match)
        await story.offer(match, offer(2))
        await story.settle(match, offer(2))
    await book(story.store, given_back, False)
    for kind in (RecoveryKind.REST_FULL, RecoveryKind.FACADE_FULL):
        assert {message.number for message in await replay(kind, after)} == {kept.number}


async def test_the_event_level_ones_tell_one_match(replay: Replay, story: Story) -> None:
    match, other = await story.match(), await story.match()
    for each in (match, other):
        await story.offer(each, offer(1), offer(2), offer(3), offer(4))
        await story.settle(each, offer(1))
        await story.void(each, offer(2))
        await story.settle(each, offer(3))
        await story.take_back(each, offer(3))
    (odds,) = await replay(RecoveryKind.EVENT_ODDS, match=match)
    assert (odds.name, odds.number, len(odds.markets)) == ("odds_change", match.number, 2)
    stateful = await replay(RecoveryKind.EVENT_STATEFUL, match=match)
    assert [(message.name, message.number) for message in stateful] == [
        ("bet_settlement", match.number),
        ("bet_cancel", match.number),
    ]


@pytest.mark.parametrize("cancelled", [False, True])
async def test_the_odds_of_an_ended_match_are_an_empty_list(
    replay: Replay, story: Story, cancelled: bool
) -> None:
    match = await story.match(offer(1), offer(2))
    await story.settle(match, offer(1))
    await story.void(match, offer(2))
    await (story.cancel(match) if cancelled else story.finish(match))
    (odds,) = await replay(RecoveryKind.EVENT_ODDS, match=match)
    assert (odds.name, list(odds.markets)) == ("odds_change", [])
    assert odds.status and odds.status.status is (Status.CANCELLED if cancelled else Status.FINISHED)
    assert b"<odds/>" in odds.body(1, "7")
    stateful = await replay(RecoveryKind.EVENT_STATEFUL, match=match)
    assert [message.name for message in stateful] == ["bet_settlement", "bet_cancel"]


async def test_a_market_that_is_open_again_on_an_ended_match_is_told_as_such(
    replay: Replay, story: Story
) -> None:
    match = await story.match(offer(1), offer(2))
    await story.settle(match, offer(1), offer(2))
    await story.finish(match)
    after = story.at
    await story.take_back(match, offer(1))
    (odds, *_) = await replay(after=after)
    assert {market.specifiers: market.status for market in odds.markets} == {
        offer(1).specifiers: MarketStatus.SUSPENDED,
        offer(2).specifiers: MarketStatus.SETTLED,
    }


@pytest.mark.parametrize("incremental", [False, True])
async def test_a_market_that_is_open_again_is_told_to_whoever_recovers_later(
    replay: Replay, story: Story, incremental: bool
) -> None:
    """The self-check expects it in the book, whenever it was opened again."""
    match, other = await story.match(), await story.match()
    await story.offer(match, offer(1))
    await story.settle(match, offer(1))
    await story.finish(match)
    await story.finish(other)
    await story.take_back(match, offer(1))
    messages = await replay(after=story.at + 60_000 if incremental else 0)
    assert [(message.name, message.number) for message in messages] == [("odds_change", match.number)]
    assert [market.status for market in messages[0].markets] == [MarketStatus.SUSPENDED]


@pytest.mark.parametrize("kind", [RecoveryKind.REST_FULL, RecoveryKind.FACADE_FULL])
async def test_a_full_snapshot_has_open_markets_only_of_a_match_that_is_over(
    replay: Replay, story: Story, kind: RecoveryKind
) -> None:
    match = await story.match(*map(offer, range(1, 4)))
    await story.settle(match, offer(1), offer(2))
    await story.void(match, offer(3))
    await story.finish(match)
    await story.take_back(match, offer(1))
    (odds,) = await replay(kind)
    assert [(each.specifiers, each.status) for each in odds.markets] == [
        (offer(1).specifiers, MarketStatus.SUSPENDED)
    ]
    assert odds.status and odds.status.status is Status.FINISHED


async def test_many_matches_are_read_in_pages(replay: Replay, story: Story) -> None:
    numbers = [(await story.match()).number for _ in range(120)]
    plan = replay.plan()
    steps = await plan.steps()
    assert [len(step.match_ids) for step in steps] == [50, 50, 20]
    messages = [message for step in steps for message in await plan.messages(step, 1)]
    assert [message.number for message in messages] == numbers


async def test_what_is_settled_between_two_reads_is_left_to_the_live_feed(
    replay: Replay, story: Story
) -> None:
    match = await story.match(offer(1), offer(2))
    after = story.at
    await story.settle(match, offer(1))
    plan = replay.plan(after=after)
    odds, ledger = await plan.steps()
    (read,) = await plan.messages(odds, 1)
    await story.settle(match, offer(2))
    (settlement,) = await plan.messages(ledger, 1)
    assert [entry.specifiers for entry in settlement.entries] == [offer(1).specifiers]
    assert [market.specifiers for market in read.markets] == [offer(2).specifiers]


async def test_a_match_that_is_gone_is_left_out(replay: Replay) -> None:
    gone = Match(uuid4(), 1, "Northwind", "Harbour", "Test Cup")
    for kind in (RecoveryKind.EVENT_ODDS, RecoveryKind.EVENT_STATEFUL):
        assert await replay(kind, match=gone) == []
