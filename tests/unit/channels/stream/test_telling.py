"""What is told of changes: happenings one by one, states as they are at the end; to each what it may hear."""

from decimal import Decimal
from uuid import UUID

import msgspec
import pytest
from msgspec.structs import replace

from app.channels.stream.frames import MatchData, render
from app.channels.stream.lines import texts
from app.channels.stream.profile import Profile, Variant, profile
from app.channels.stream.standing import Standing
from app.channels.stream.telling import retell, tell
from app.domain import changes as c
from app.domain import scopes
from app.domain.market import Market, MarketStatus
from app.domain.match import Match, Status, TimelineEvent
from app.domain.tenant import Grant, Tenant
from app.ingest.drafts import compose
from app.store.changes import ChangeRow
from app.wire.fields import groups

MATCH = Match(UUID(int=7), 7, "Northwind", "Harbour", "Cup", status=Status.LIVE)
MARKET = Market(13, "map=1|round=1|team=home", MarketStatus.ACTIVE, Decimal("1.80"), 0.5)
KILL = TimelineEvent(id=1, type="kill", map=1, round=1, at=5, offset_ms=5)
EVERYTHING = Profile(scopes.ALL, Variant(groups(scopes.ALL), None), False)


def standing() -> Standing:
    return Standing(MATCH, [], [], [MARKET], {}, {})


def rows(*moves: tuple[Match, Match, tuple[c.Change, ...], tuple[Market, ...]]) -> list[ChangeRow]:
    """The change log after these transactions, numbered from 1."""
    book = {MARKET.key: MARKET}
    found: list[ChangeRow] = []
    for before, after, changes, markets in moves:
        for draft in compose(before, after, changes, book, markets, ()):
            seq = len(found) + 1
            said = (draft.entity, draft.key, draft.frame, draft.message)
            found.append(ChangeRow(seq, MATCH.id, 7, *said, seq, seq, 0, draft.body))
        book |= {market.key: market for market in markets}
    return found


def look(match_id: UUID) -> MatchData:
    return MatchData(b'{"id":"7"}', "digest")


def heard(log: list[ChangeRow], by: Profile = EVERYTHING, **known: object) -> list[tuple[str, int]]:
    told = tell(log, {MATCH.id: standing()})
    found = [msgspec.json.decode(text) for one in render(told, by, look, **known) for text in texts(one.wire)]
    return [(frame["type"], frame["meta"]["seq"]) for frame in found]


def priced(odds: str, **fields: object) -> Market:
    return replace(MARKET, odds=Decimal(odds), **fields)


def test_only_the_newest_of_several_prices_is_told() -> None:
    log = rows(*((MATCH, MATCH, (), (priced(odds),)) for odds in ("1.81", "1.82", "1.83")))
    assert heard(log) == [("market.updated", log[-1].seq)]


def test_a_suspension_is_told_although_it_was_overtaken() -> None:
    off = priced("1.80", status=MarketStatus.SUSPENDED)
    log = rows(
        (MATCH, MATCH, (), (off,)), (MATCH, MATCH, (), (priced("1.9"),)), (MATCH, MATCH, (), (priced("2"),))
    )
    assert [kind for kind, _ in heard(log)] == ["market.suspended", "market.unsuspended", "market.updated"]


def test_a_change_that_nobody_sees_is_not_told() -> None:
    assert heard(rows((MATCH, MATCH, (), (replace(MARKET, probability=0.51),)))) == []


def test_every_event_is_told_and_an_amended_one_by_the_match() -> None:
    first, second = (c.Happened(event=replace(KILL, id=number)) for number in (1, 2))
    log = rows((MATCH, MATCH, (first, second), ()), (MATCH, MATCH, (c.Amended(event=KILL),), ()))
    assert heard(log) == [("event.kill", 1), ("event.kill", 2), ("match.updated", 3)]


def test_a_match_is_told_once_as_it_is_in_the_end() -> None:
    renamed = [replace(MATCH, event=f"Cup {number}") for number in range(3)]
    log = rows(*((before, after, (), ()) for before, after in zip([MATCH, *renamed], renamed, strict=False)))
    assert heard(log) == [("match.updated", log[-1].seq)]
    assert heard(log, known={MATCH.id: "digest"}) == []
    assert heard(log, known={MATCH.id: "another"}) == [("match.updated", log[-1].seq)]


def test_the_end_is_told_whatever_follows() -> None:
    over = replace(MATCH, status=Status.FINISHED)
    later = replace(over, event="Another Cup")
    assert [kind for kind, _ in heard(rows((MATCH, over, (), ()), (over, later, (), ())))] == [
        "match.finished",
        "match.updated",
    ]


@pytest.mark.parametrize("shown", [True, False])
def test_what_has_no_frame_for_a_key_is_told_by_the_match_if_it_shows_there(shown: bool) -> None:
    granted = frozenset((scopes.LIST, scopes.STREAM_MATCHES, *((scopes.MARKETS,) if shown else ())))
    log = rows((MATCH, MATCH, (), (priced("1.9"),)))
    by = Profile(granted, Variant(groups(granted), None), False)
    assert heard(log, by) == ([("match.updated", log[-1].seq)] if shown else [])


def test_what_is_told_again_is_what_was_told() -> None:
    off = priced("1.80", status=MarketStatus.SUSPENDED)
    over = replace(MATCH, status=Status.FINISHED)
    log = rows(
        (MATCH, MATCH, (c.Happened(event=KILL),), (priced("1.9"),)),
        (MATCH, MATCH, (), (off,)),
        (MATCH, over, (c.Amended(event=KILL),), (priced("2", status=MarketStatus.SETTLED),)),
    )
    first = tell(log, {MATCH.id: standing()})
    again = retell(log, {MATCH.id: standing()})
    assert [frame.wire for frame in render(first, EVERYTHING, look)] == [
        frame.wire for frame in render(again, EVERYTHING, look)
    ]


def test_only_keys_that_see_bookings_have_a_profile_of_their_own() -> None:
    tenants = [Tenant(UUID(int=number), "t", "T") for number in (1, 2)]
    for granted, alike in ((scopes.ALL, False), (scopes.BUNDLES["cs2.odds.basic"], True)):
        one, other = (profile(Grant(UUID(int=9), tenant, granted, frozenset())) for tenant in tenants)
        assert (one == other) is alike
