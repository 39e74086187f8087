"""Alerts are stored from when they began until they ended, one open at a time about one thing."""

from uuid import uuid4

from app.store import alerts
from app.store.alerts import AlertKind, AlertSubject
from app.store.connections import Store

MATCH = uuid4()
SILENT = AlertSubject(AlertKind.SILENT_SOURCE, match_id=MATCH)
LOSING = AlertSubject(AlertKind.TENANT_LOSING_MESSAGES, tenant="acme")


async def test_an_alert_is_open_until_it_is_ended(store: Store) -> None:
    async with store.transaction() as tx:
        assert await alerts.begin(tx, SILENT, "no line for 4 s", 1000)
        assert not await alerts.begin(tx, SILENT, "no line for 9 s", 6000)
        (alert,) = await alerts.listing(tx, match_id=MATCH)
    assert (alert.about, alert.detail, alert.since, alert.ended_at) == (SILENT, "no line for 9 s", 1000, None)
    async with store.transaction() as tx:
        assert await alerts.end(tx, SILENT, 7000)
        assert not await alerts.end(tx, SILENT, 8000)
        assert await alerts.begin(tx, SILENT, "again", 9000)
        second, first = await alerts.listing(tx)
    assert (first.since, first.ended_at, second.since, second.ended_at) == (1000, 7000, 9000, None)


async def test_alerts_about_different_subjects_are_independent(store: Store) -> None:
    rivals = [AlertSubject(AlertKind.RIVAL_SOURCE, match_id=MATCH, subject=subject) for subject in "ab"]
    async with store.transaction() as tx:
        for about in (*rivals, SILENT, LOSING):
            assert await alerts.begin(tx, about, "", 1)
        await alerts.end(tx, rivals[0], 2)
        left = {alert.about for alert in await alerts.listing(tx, ended=False)}
    assert left == {rivals[1], SILENT, LOSING}


async def test_sync_opens_what_is_present_and_ends_the_rest_of_its_kind(store: Store) -> None:
    kind = AlertKind.TENANT_LOSING_MESSAGES

    def tenant(slug: str) -> AlertSubject:
        return AlertSubject(kind, tenant=slug)

    async with store.transaction() as tx:
        await alerts.begin(tx, SILENT, "", 1)
        await alerts.sync(tx, kind, {tenant("a"): "1 lost", tenant("b"): "2 lost"}, 5)
        await alerts.sync(tx, kind, {tenant("b"): "3 lost", tenant("c"): "1 lost"}, 9)
        found = {alert.tenant: alert for alert in await alerts.listing(tx, kinds=[kind])}
        assert await alerts.listing(tx, kinds=[AlertKind.SILENT_SOURCE], ended=False)
    assert {slug: (one.since, one.ended_at, one.detail) for slug, one in found.items()} == {
        "a": (5, 9, "1 lost"),
        "b": (5, None, "3 lost"),
        "c": (9, None, "1 lost"),
    }
