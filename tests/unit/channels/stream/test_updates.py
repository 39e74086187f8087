"""What is sent of changes: every event, the newest of each state, and only what a key may receive."""

from decimal import Decimal
from uuid import UUID

import msgspec
import pytest
from msgspec.structs import replace

from app.channels.stream.connection import frame_texts
from app.channels.stream.frames import (
    Entitlements,
    MatchVariant,
    OwnOffer,
    RenderedMatch,
    entitlements_of,
    render,
)
from app.channels.stream.updates import MatchState, apply_changes, past_updates
from app.commands.change_drafts import compose
from app.domain import changes as c
from app.domain import scopes
from app.domain.market import Market, MarketStatus
from app.domain.match import Match, Status, TimelineEvent
from app.domain.tenant import Grant, Tenant
from app.domain.tenant_offer import NO_CHANGES
from app.store.changes import ChangeRow
from app.wire.fields import groups

MATCH = Match(UUID(int=7), 7, "Northwind", "Harbour", "Cup", status=Status.LIVE)
MARKET = Market(13, "map=1|round=1|team=home", MarketStatus.ACTIVE, Decimal("1.80"), 0.5)
KILL = TimelineEvent(id=1, type="kill", map=1, round=1, at=5, offset_ms=5)
EVERYTHING = Entitlements(scopes.ALL, MatchVariant(groups(scopes.ALL), None), False)


def state() -> MatchState:
    return MatchState(MATCH, [], [], [MARKET], {}, {})


def rows(*moves: tuple[Match, Match, tuple[c.MatchChange, ...], tuple[Market, ...]]) -> list[ChangeRow]:
    """The change log after these transactions, numbered from 1."""
    book = {MARKET.key: MARKET}
    found: list[ChangeRow] = []
    for before, after, changes, markets in moves:
        for draft in compose(before, after, changes, book, markets, ()):
            seq = len(found) + 1
            fields = (draft.entity, draft.key, draft.frame, draft.message)
            found.append(ChangeRow(seq, MATCH.id, 7, *fields, seq, seq, 0, draft.body))
        book |= {market.key: market for market in markets}
    return found


def lookup(match_id: UUID) -> RenderedMatch:
    return RenderedMatch(b'{"id":"7"}', "hash")


def sent(log: list[ChangeRow], to: Entitlements = EVERYTHING, **hashes: object) -> list[tuple[str, int]]:
    updates = apply_changes(log, {MATCH.id: state()})
    found = [
        msgspec.json.decode(text)
        for one in render(updates, to, lookup, **hashes)
        for text in frame_texts(one.wire)
    ]
    return [(frame["type"], frame["meta"]["seq"]) for frame in found]


def priced(odds: str, **fields: object) -> Market:
    return replace(MARKET, odds=Decimal(odds), **fields)


def test_only_the_newest_of_several_prices_is_sent() -> None:
    log = rows(*((MATCH, MATCH, (), (priced(odds),)) for odds in ("1.81", "1.82", "1.83")))
    assert sent(log) == [("market.updated", log[-1].seq)]


def test_a_suspension_is_sent_although_newer_states_follow() -> None:
    off = priced("1.80", status=MarketStatus.SUSPENDED)
    log = rows(
        (MATCH, MATCH, (), (off,)), (MATCH, MATCH, (), (priced("1.9"),)), (MATCH, MATCH, (), (priced("2"),))
    )
    assert [kind for kind, _ in sent(log)] == ["market.suspended", "market.unsuspended", "market.updated"]


def test_a_change_that_no_client_sees_is_not_sent() -> None:
    assert sent(rows((MATCH, MATCH, (), (replace(MARKET, probability=0.51),)))) == []


@pytest.mark.parametrize("own", [None, OwnOffer(UUID(int=1), NO_CHANGES)])
def test_who_resumes_at_another_process_receives_what_was_replaced_at_the_first(own: OwnOffer | None) -> None:
    """The first process read everything at once: the price was replaced by a state that looks the same, and
    its client was cut off between the kill and that. The other one has read each change by itself."""
    log = rows(
        (MATCH, MATCH, (), (priced("1.9"),)),
        (MATCH, MATCH, (c.EventAdded(event=KILL),), ()),
        (MATCH, MATCH, (), (priced("1.9", favourite=True),)),
    )
    to = replace(EVERYTHING, own=own)
    (cut_after,) = (row.seq for row in log if row.frame == "event.kill")
    last = log[-1].seq
    assert sent(log, to) == [("event.kill", cut_after), ("market.updated", last)]
    held = {MATCH.id: state()}
    ticks = [apply_changes([row], held) for row in log]
    assert [frame.seq for each in ticks for frame in render(each, to, lookup)][-1] == cut_after
    missed = [one for each in ticks for one in each if one.seq > cut_after]
    assert [frame.seq for frame in render(missed, to, lookup, resuming=True)][-1] == last


def test_every_event_is_sent_and_an_amended_one_in_the_match() -> None:
    first, second = (c.EventAdded(event=replace(KILL, id=number)) for number in (1, 2))
    log = rows((MATCH, MATCH, (first, second), ()), (MATCH, MATCH, (c.EventAmended(event=KILL),), ()))
    assert sent(log) == [("event.kill", 1), ("event.kill", 2), ("match.updated", 3)]


def test_a_match_is_sent_once_in_its_newest_state() -> None:
    renamed = [replace(MATCH, event=f"Cup {number}") for number in range(3)]
    log = rows(*((before, after, (), ()) for before, after in zip([MATCH, *renamed], renamed, strict=False)))
    assert sent(log) == [("match.updated", log[-1].seq)]
    assert sent(log, sent={MATCH.id: "hash"}) == []
    assert sent(log, sent={MATCH.id: "another"}) == [("match.updated", log[-1].seq)]


def test_a_match_is_sent_again_where_what_its_client_put_into_it_is_void() -> None:
    """One that looks as it did before, or as `match.created` had it, since all of it was read at once."""
    kill = c.EventAdded(event=KILL)
    log = rows((MATCH, MATCH, (kill,), ()), (MATCH, MATCH, (c.EventAmended(event=KILL),), ()))
    shown = {MATCH.id: "hash"}
    assert sent(log, sent=shown) == [("event.kill", 1), ("match.updated", 2)]
    assert sent(log[1:], sent=shown) == []


def test_the_end_is_sent_whatever_follows() -> None:
    over = replace(MATCH, status=Status.FINISHED)
    later = replace(over, event="Another Cup")
    kinds = [kind for kind, _ in sent(rows((MATCH, over, (), ()), (over, later, (), ())))]
    assert kinds == ["match.finished", "match.updated"]


@pytest.mark.parametrize("shown", [True, False])
def test_a_change_without_a_frame_for_the_key_is_sent_in_the_match_if_shown_there(shown: bool) -> None:
    granted = frozenset((scopes.LIST, scopes.STREAM_MATCHES, *((scopes.MARKETS,) if shown else ())))
    log = rows((MATCH, MATCH, (), (priced("1.9"),)))
    to = Entitlements(granted, MatchVariant(groups(granted), None), False)
    assert sent(log, to) == ([("match.updated", log[-1].seq)] if shown else [])


def test_past_updates_are_encoded_as_they_were_sent() -> None:
    off = priced("1.80", status=MarketStatus.SUSPENDED)
    over = replace(MATCH, status=Status.FINISHED)
    log = rows(
        (MATCH, MATCH, (c.EventAdded(event=KILL),), (priced("1.9"),)),
        (MATCH, MATCH, (), (off,)),
        (MATCH, over, (c.EventAmended(event=KILL),), (priced("2", status=MarketStatus.SETTLED),)),
    )
    first = apply_changes(log, {MATCH.id: state()})
    again = past_updates(log, {MATCH.id: state()})
    assert [frame.wire for frame in render(first, EVERYTHING, lookup)] == [
        frame.wire for frame in render(again, EVERYTHING, lookup)
    ]


def test_only_keys_that_see_bookings_have_a_profile_of_their_own() -> None:
    tenants = [Tenant(UUID(int=number), "t", "T") for number in (1, 2)]
    for granted, alike in ((scopes.ALL, False), (scopes.BUNDLES["cs2.odds.basic"], True)):
        one, other = (entitlements_of(Grant(UUID(int=9), tenant, granted, frozenset())) for tenant in tenants)
        assert (one == other) is alike
