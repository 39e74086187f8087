"""Open alerts are seen, taken, handed back and ended by operators, and the later one learns who has it."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from app.commands import alert_handling
from app.commands.alert_handling import AnyAlertCommand, End, HandBack, See, Take
from app.kit.errors import Conflict, NotFound
from app.store import alerts
from app.store.alerts import Alert, AlertKind, AlertSubject
from app.store.connections import Store
from tests.support import stored

MATCH = uuid4()
NOW = 1_900_000_000_000
BY_HAND = {"parked_batch", "tenant_rights", "database_failover", "reference_refused", "map_contradiction"}
PARKED = AlertSubject(AlertKind.PARKED_BATCH, match_id=MATCH)


async def begin(store: Store, about: AlertSubject = PARKED, now: int = NOW) -> Alert:
    async with store.transaction() as tx:
        await alerts.begin(tx, about, "as the test says", now)
        return (await alerts.listing(tx, ended=False))[0]


@pytest.fixture
def handle(store: Store) -> Any:
    async def give(alert: Alert, command: AnyAlertCommand, by: str = "ann", now: int = NOW + 1) -> Alert:
        return await alert_handling.handle(store, alert.id, command, by=by, now=now)

    return give


async def test_who_did_what_when_is_stored_and_on_record(store: Store, handle: Any) -> None:
    alert = await begin(store)
    await handle(alert, See(), by="ann", now=NOW + 1)
    await handle(alert, Take(), by="ben", now=NOW + 2)
    await handle(alert, HandBack(), by="ben", now=NOW + 3)
    await handle(alert, Take(), by="cleo", now=NOW + 4)
    after = await handle(alert, End(), by="cleo", now=NOW + 5)
    assert (after.seen_by, after.seen_at) == ("ann", NOW + 1)
    assert (after.taken_by, after.taken_at) == ("cleo", NOW + 4)
    assert (after.ended_by, after.ended_at) == ("cleo", NOW + 5)
    assert await stored.all_alerts(store) == [after]
    records = await stored.records(store, MATCH)
    assert [(each.actor, each.action) for each in reversed(records)] == [
        ("ann", "alert.see"),
        ("ben", "alert.take"),
        ("ben", "alert.hand_back"),
        ("cleo", "alert.take"),
        ("cleo", "alert.end"),
    ]
    assert {each.details["alert"] for each in records} == {alert.id}


async def test_what_changes_nothing_is_not_on_record(store: Store, handle: Any) -> None:
    alert = await begin(store)
    taken = await handle(alert, Take(), by="ann")
    assert (taken.seen_by, taken.taken_by) == ("ann", "ann"), "who takes an alert has seen it"
    assert await handle(alert, Take(), by="ann", now=NOW + 9) == taken
    assert await handle(alert, See(), by="ben", now=NOW + 9) == taken, "the first one stays on record"
    assert len(await stored.records(store, MATCH)) == 1


async def test_the_later_of_two_learns_who_has_it(store: Store, handle: Any) -> None:
    alert = await begin(store)
    results = await asyncio.gather(
        *(handle(alert, Take(), by=each) for each in ("ann", "ben")), return_exceptions=True
    )
    (won,) = [each for each in results if isinstance(each, Alert)]
    (refused,) = [each for each in results if isinstance(each, Conflict)]
    assert won.taken_by and won.taken_by in refused.detail
    later = "ben" if won.taken_by == "ann" else "ann"
    for command in (HandBack(), End(), Take(), Take(instead_of="cleo")):
        with pytest.raises(Conflict, match=f"{won.taken_by} has this alert since"):
            await handle(alert, command, by=later)
    assert (await handle(alert, Take(instead_of=won.taken_by), by=later)).taken_by == later


async def test_an_alert_that_was_handed_back_is_free(store: Store, handle: Any) -> None:
    alert = await begin(store)
    await handle(alert, Take(), by="ann")
    await handle(alert, HandBack(), by="ann")
    with pytest.raises(Conflict, match="Nobody"):
        await handle(alert, HandBack(), by="ann")
    assert (await handle(alert, Take(instead_of="ann"), by="ben")).taken_by == "ben"


@pytest.mark.parametrize("kind", AlertKind)
async def test_only_what_does_not_end_with_its_cause_is_ended_by_hand(
    store: Store, handle: Any, kind: AlertKind
) -> None:
    alert = await begin(store, AlertSubject(kind, match_id=MATCH, subject="x"))
    if kind in BY_HAND:
        assert (await handle(alert, End())).ended_at is not None
        return
    with pytest.raises(Conflict, match="ends with its cause"):
        await handle(alert, End())
    assert await stored.all_alerts(store) == [alert]


async def test_an_ended_alert_is_left_alone_and_its_cause_opens_another(store: Store, handle: Any) -> None:
    alert = await begin(store)
    await handle(alert, Take(), by="ann")
    await handle(alert, End(), by="ann")
    for command in (See(), Take(), HandBack(), End()):
        with pytest.raises(Conflict, match="ended at .* by ann"):
            await handle(alert, command)
    again = await begin(store, now=NOW + 9)
    assert again.id != alert.id
    assert (again.since, again.seen_by, again.taken_by) == (NOW + 9, None, None)
    for unknown in (0, alert.id + 99, 2**63):
        with pytest.raises(NotFound):
            await alert_handling.handle(store, unknown, See(), by="ann", now=NOW)


async def test_what_ends_with_its_cause_has_nobody_who_ended_it(store: Store, handle: Any) -> None:
    alert = await begin(store)
    await handle(alert, Take(), by="ann")
    async with store.transaction() as tx:
        await alerts.end(tx, PARKED, NOW + 3)
        (ended,) = await alerts.listing(tx)
    assert (ended.taken_by, ended.ended_at, ended.ended_by) == ("ann", NOW + 3, None)
