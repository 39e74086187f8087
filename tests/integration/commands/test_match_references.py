"""Reference prices: imported once, followed at once, and no price moves by more than a stated bound whatever
they are."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from app.commands import creation, match_references, reference_import
from app.commands import match_commands as c
from app.commands.creation import NewMatch
from app.commands.reference_import import ImportedPrice, ReferenceCounts
from app.domain.match import Match, Status
from app.ingest import match_checks
from app.ingest.log_update import IngestConfig
from app.kit.errors import Invalid
from app.store import alerts, matches
from app.store.alerts import AlertKind
from app.store.connections import Store
from app.trading.divergence import own_chance
from app.trading.market_anchor import MOST
from app.trading.model import logistic, logit
from app.trading.reference_prices import fair
from tests.support import stored
from tests.support.matches import execute

NOW = 1_800_000_000_000
CONFIG = IngestConfig()
PRICING = CONFIG.pricing
STALE = PRICING.reference_stale_seconds * 1000
HOME_WINS = (1, "team=home")
EVEN, FAVOURITE = (1.9, 1.9), (1.5, 2.6)
DIVERGED, WRONG = AlertKind.REFERENCE_DIVERGENCE, AlertKind.REFERENCE_PRICES


async def new_match(store: Store, **fields: object) -> Match:
    new = NewMatch(home="Northwind", away="Harbour", event="Cup", best_of=3, scheduled_at=NOW + 3_600_000)
    strengths = {"home_strength": 1500.0, "away_strength": 1500.0}
    return await creation.create_match(store, replace(new, **strengths | fields), NOW, PRICING)


def quote(match: Match, odds: Sequence[float], source: str = "one", at: int = NOW) -> list[ImportedPrice]:
    return [
        ImportedPrice(source=source, match=str(match.id), specifiers=f"team={team}", odds=price, at=at)
        for team, price in zip(("home", "away"), odds, strict=True)
    ]


async def do_import(store: Store, *rows: ImportedPrice, now: int = NOW) -> ReferenceCounts:
    async with store.transaction() as tx:
        placed = [(("rows", at), row) for at, row in enumerate(rows)]
        found = await reference_import.import_references(tx, placed, by="tester", now=now)
    await match_references.refresh(store, found.match_ids, now, PRICING)
    return found.counts


async def chance(store: Store, match: Match) -> float:
    return (await stored.book(store, match))[HOME_WINS].probability


async def open_alerts(store: Store) -> set[AlertKind]:
    async with store.autocommit() as tx:
        return {one.kind for one in await alerts.listing(tx, ended=False)}


async def test_prices_follow_an_import_at_once(store: Store) -> None:
    match = await new_match(store)
    before = await chance(store, match)
    assert await do_import(store, *quote(match, FAVOURITE)) == ReferenceCounts(2, 0, 1)
    after = await stored.present(store, match)
    assert after.references.state == "followed" and after.anchor is not None
    theirs = fair(FAVOURITE)[0]
    assert before < await chance(store, match) < theirs
    weight = after.anchor.weight
    blended = logistic(weight * logit(theirs) + (1 - weight) * logit(own_chance(after)))
    assert await chance(store, match) == pytest.approx(blended, abs=0.005)
    assert await open_alerts(store) == set()


async def test_a_repeated_import_changes_nothing_and_a_series_is_never_overwritten(store: Store) -> None:
    match = await new_match(store)
    rows = [*quote(match, FAVOURITE), *quote(match, EVEN, at=NOW - 1000)]
    await do_import(store, *rows)
    once = await stored.present(store, match)
    assert await do_import(store, *rows, now=NOW + 1000) == ReferenceCounts(0, 4, 0)
    assert await stored.present(store, match) == once
    with pytest.raises(Invalid) as refused:
        await do_import(store, replace(rows[0], odds=1.4))
    assert [(one.loc, one.type) for one in refused.value.fields] == [(("rows", 0, "odds"), "contradiction")]
    async with store.autocommit() as tx:
        assert await tx.value("SELECT count(*) FROM reference_price") == 4
        recorded = await tx.fetch("SELECT actor FROM audit WHERE action = 'references.import'")
    assert len(recorded) == 1


@pytest.mark.parametrize(
    ("change", "field", "kind"),
    [
        ({"at": NOW + 1}, "at", "in_the_future"),
        ({"match": "od:match:999999"}, "match", "no_match"),
        ({"match": "Northwind"}, "match", "match_id"),
        ({"market_id": 999}, "market_id", "unknown_market"),
        ({"specifiers": "map=1"}, "specifiers", "specifiers"),
        ({"specifiers": "colour=red"}, "specifiers", "value_error"),
    ],
)
async def test_what_is_wrong_is_named_and_nothing_is_stored(
    store: Store, change: dict[str, object], field: str, kind: str
) -> None:
    match = await new_match(store)
    good, other = quote(match, FAVOURITE)
    with pytest.raises(Invalid) as refused:
        await do_import(store, good, replace(other, **change))
    assert [(one.loc, one.type) for one in refused.value.fields] == [(("rows", 1, field), kind)]
    async with store.autocommit() as tx:
        assert await tx.value("SELECT count(*) FROM reference_price") == 0


@pytest.mark.parametrize("odds", [(1.01, 15.0), (15.0, 1.01), (1.001, 900.0), (1.3, 3.4)])
async def test_one_hostile_source_moves_a_price_by_no_more_than_the_bound(
    store: Store, odds: tuple[float, float]
) -> None:
    """Swapped teams and odds of 1.01: an alert, and past the second setting a suspension."""
    match = await new_match(store, home_strength=1300.0, away_strength=1700.0)
    own = own_chance(match)
    await do_import(store, *quote(match, odds))
    after = await stored.present(store, match)
    moved = logit(await chance(store, match)) - logit(await chance(store, await new_match_like(store, match)))
    assert abs(moved) <= MOST + 0.05
    difference = abs(logit(fair(odds)[0]) - logit(own))
    assert (DIVERGED in await open_alerts(store)) is (difference >= PRICING.reference_alert_logits)
    assert bool(after.suspended) is (difference >= PRICING.reference_suspend_logits)


async def new_match_like(store: Store, match: Match) -> Match:
    return await new_match(store, home_strength=match.home_strength, away_strength=match.away_strength)


@pytest.mark.parametrize("mad", [(1.01, 15.0), (2.6, 1.5), (1.01, 1.01), (90.0, 90.0)])
async def test_one_source_of_three_gone_mad_moves_nothing(store: Store, mad: tuple[float, float]) -> None:
    match = await new_match(store)
    sound = [*quote(match, FAVOURITE, "one"), *quote(match, FAVOURITE, "two")]
    await do_import(store, *sound)
    before = await chance(store, match)
    await do_import(store, *quote(match, mad, "three"))
    assert await chance(store, match) == pytest.approx(before, abs=0.003)
    assert await open_alerts(store) == {WRONG}
    await do_import(store, *quote(match, FAVOURITE, "three", at=NOW + 1), now=NOW + 1)
    assert await open_alerts(store) == set()


async def test_two_sources_that_differ_move_nothing(store: Store) -> None:
    match = await new_match(store)
    before = await chance(store, match)
    await do_import(store, *quote(match, FAVOURITE, "one"), *quote(match, FAVOURITE[::-1], "two"))
    assert (await stored.present(store, match)).references.state == "disagreeing"
    assert await chance(store, match) == before
    assert await open_alerts(store) == {WRONG}


async def test_yesterdays_prices_move_nothing(store: Store) -> None:
    match = await new_match(store)
    before = await chance(store, match)
    await do_import(store, *quote(match, FAVOURITE, at=NOW - 86_400_000))
    assert (await stored.present(store, match)).references.state == "stale"
    assert await chance(store, match) == before
    assert await open_alerts(store) == {WRONG}


async def test_time_alone_makes_prices_stale_and_new_ones_end_that(store: Store) -> None:
    match = await new_match(store)
    before = await chance(store, match)
    await do_import(store, *quote(match, FAVOURITE))
    anchored = await chance(store, match)
    assert await match_checks.follow_references(store, NOW + 1, CONFIG) == 0
    assert await match_checks.follow_references(store, NOW + STALE // 2, CONFIG) == 1
    assert before < await chance(store, match) < anchored
    await match_checks.follow_references(store, NOW + STALE + 1, CONFIG)
    assert (await stored.present(store, match)).references.state == "stale"
    assert await chance(store, match) == pytest.approx(before, abs=0.003)
    assert await open_alerts(store) == {WRONG}
    assert await match_checks.follow_references(store, NOW + 3 * STALE, CONFIG) == 0
    later = NOW + 3 * STALE
    await do_import(store, *quote(match, FAVOURITE, at=later), now=later)
    assert (await stored.present(store, match)).references.state == "followed"
    assert await open_alerts(store) == set()


async def test_an_import_that_nobody_followed_is_followed_by_the_next_check(store: Store) -> None:
    match = await new_match(store)
    async with store.transaction() as tx:
        placed = [(("rows", at), row) for at, row in enumerate(quote(match, FAVOURITE))]
        await reference_import.import_references(tx, placed, by="tester", now=NOW)
    assert await match_checks.follow_references(store, NOW, CONFIG) == 1
    assert (await stored.present(store, match)).references.state == "followed"


async def test_an_operator_switches_them_off_and_on(store: Store) -> None:
    match = await new_match(store)
    before = await chance(store, match)
    await do_import(store, *quote(match, FAVOURITE))
    followed = await chance(store, match)
    off = await execute(store, match, c.FollowReferences(follow=False), NOW)
    assert (off.references.state, off.anchor, await chance(store, match)) == ("switched_off", None, before)
    await do_import(store, *quote(match, FAVOURITE, at=NOW + 1), now=NOW + 1)
    assert await chance(store, match) == before
    await execute(store, match, c.FollowReferences(follow=None), NOW + 1)
    assert await chance(store, match) == pytest.approx(followed, abs=0.003)


async def test_a_suspension_for_divergence_is_an_operators_to_end(store: Store) -> None:
    match = await new_match(store)
    await do_import(store, *quote(match, (1.08, 7.5)))
    assert (await stored.present(store, match)).suspended
    assert all(one.status != 1 for one in (await stored.book(store, match)).values())
    lifted = await execute(store, match, c.Unsuspend(), NOW)
    assert not lifted.suspended and lifted.references.far
    await do_import(store, *quote(match, (1.08, 7.6), at=NOW + 1), now=NOW + 1)
    assert not (await stored.present(store, match)).suspended, "they decided"
    await do_import(store, *quote(match, EVEN, at=NOW + 2), now=NOW + 2)
    assert await open_alerts(store) == set()
    await do_import(store, *quote(match, (1.08, 7.5), at=NOW + 3), now=NOW + 3)
    assert (await stored.present(store, match)).suspended, "anew"
    off = await execute(store, match, c.FollowReferences(follow=False), NOW + 3)
    assert not off.suspended and await open_alerts(store) == set()


async def test_other_teams_have_other_prices(store: Store) -> None:
    match = await new_match(store)
    await do_import(store, *quote(match, FAVOURITE))
    swapped = c.SetTeams(team_a="Harbour", team_b="Northwind", strength_a=1500.0, strength_b=1500.0)
    after = await execute(store, match, swapped, NOW + 1)
    assert (after.anchor, after.references.state) == (None, "none")
    await match_checks.follow_references(store, NOW + STALE // 2, CONFIG)
    assert (await stored.present(store, match)).anchor is None


async def test_our_own_price_that_moves_is_compared_again(store: Store) -> None:
    match = await new_match(store)
    await do_import(store, *quote(match, EVEN))
    after = await execute(store, match, c.Rate(strength_a=2200.0, strength_b=1000.0), NOW)
    assert after.references.state == "diverged" and DIVERGED in await open_alerts(store)


async def test_in_play_the_anchor_stays_as_it_was(store: Store) -> None:
    match = await new_match(store)
    await do_import(store, *quote(match, FAVOURITE))
    async with store.transaction() as tx:
        before = await matches.lock(tx, match.id)
        live = replace(before, status=Status.LIVE, started_at=NOW + 10)
        await tx.write([matches.save_statement(live)])
    await do_import(store, *quote(match, (1.01, 20.0), at=NOW + 20), now=NOW + 20)
    await match_checks.follow_references(store, NOW + 2 * STALE, CONFIG)
    assert (await stored.present(store, match)).anchor == before.anchor
    again = await execute(store, match, c.FollowReferences(follow=True), NOW + 30)
    assert again.anchor is not None and before.anchor is not None
    assert again.anchor.home == before.anchor.home, "prices of the time of play do not count"


async def test_a_process_of_the_version_before_leaves_them_alone(store: Store) -> None:
    """It writes the state without the fields that it does not know."""
    match = await new_match(store)
    await do_import(store, *quote(match, FAVOURITE))
    await execute(store, match, c.FollowReferences(follow=True), NOW)
    async with store.transaction() as tx:
        before = await matches.get(tx, match.id)
        unknown = "'{anchor, references, follows_references}'::text[]"
        await tx.execute(f"UPDATE match SET state = (state::jsonb - {unknown})::json")
        assert await matches.get(tx, match.id) == before
    assert before is not None and before.anchor is not None and before.follows_references


async def test_a_removed_match_takes_its_prices_along(store: Store) -> None:
    match = await new_match(store)
    await do_import(store, *quote(match, FAVOURITE))
    async with store.transaction() as tx:
        await matches._remove(tx, [match.id])
        assert await tx.value("SELECT count(*) FROM reference_price") == 0
