"""Alerts about dead processes, losses, parked batches and late heads: begin, end, list, count."""

import httpx
import pytest
from prometheus_client import REGISTRY

from app.access import admin
from app.commands.match_commands import AwardMatch
from app.ingest import lost_lines
from app.ledger.writer import LedgerWriter
from app.operations.api.alerts import AlertMonitor
from app.settings import Settings
from app.store import alerts, cursors, heartbeats
from app.store.alerts import AlertKind, AlertSubject
from app.store.connections import Store
from app.store.cursors import TenantReport
from tests.integration.ingest.conftest import CONFIG, NOW, Server
from tests.support import logs
from tests.support.clocks import ManualClock
from tests.support.matches import create_match, execute
from tests.support.stored import all_alerts, open_alerts
from tests.support.tenants import give_vhost

DEAD = 15


@pytest.fixture
def monitor(store: Store, clock: ManualClock) -> AlertMonitor:
    return AlertMonitor(store, clock, dead_seconds=DEAD)


async def subjects(store: Store, kind: AlertKind) -> list[str]:
    return sorted(str(one.match_id or one.subject) for one in await open_alerts(store, kind))


async def test_a_process_that_beats_no_more_is_dead_until_one_beats(
    store: Store, monitor: AlertMonitor, clock: ManualClock
) -> None:
    await monitor.update()
    assert await subjects(store, AlertKind.DEAD_PROCESS) == []
    clock.now += DEAD * 1000
    async with store.transaction() as tx:
        await heartbeats.record(tx, "one", heartbeats.FEED, clock.now)
    await monitor.update()
    assert await subjects(store, AlertKind.DEAD_PROCESS) == ["ingest"]
    async with store.transaction() as tx:
        await heartbeats.record(tx, "two", heartbeats.INGEST, clock.now)
    await monitor.update()
    assert await subjects(store, AlertKind.DEAD_PROCESS) == []


async def test_the_ledger_without_a_head_for_longer_than_an_hour_is_an_alert(
    store: Store, settings: Settings, monitor: AlertMonitor, clock: ManualClock
) -> None:
    writer = LedgerWriter(store, settings.secret_key, clock)
    for wait, late in ((0, []), (4_199_999, []), (1, ["ledger"])):
        clock.now += wait
        await monitor.update()
        assert await subjects(store, AlertKind.LEDGER_HEAD_LATE) == late
        if not wait:
            await writer.catch_up()
    await writer.catch_up()
    await monitor.update()
    assert await subjects(store, AlertKind.LEDGER_HEAD_LATE) == []


async def test_a_parked_batch_is_an_alert_until_a_complete_round_begins(
    store: Store, monitor: AlertMonitor, server: Server
) -> None:
    await server.begin()
    end = server.cut(*logs.ct_win(1, 0))
    await lost_lines.park(store, end, "ValueError('nonsense')", server.now, CONFIG)
    await monitor.update()
    (alert,) = await all_alerts(store, AlertKind.PARKED_BATCH)
    assert (alert.match_id, alert.ended_at) == (server.match.id, None)
    assert "nonsense" in alert.detail
    await server.send(*logs.freeze(1, 0))
    await monitor.update()
    assert await subjects(store, AlertKind.PARKED_BATCH) == []


async def test_of_the_alerts_of_a_match_that_is_over_those_that_wait_for_a_decision_stay(
    store: Store, monitor: AlertMonitor, clock: ManualClock
) -> None:
    match = await create_match(store, clock.now)
    await execute(store, match, AwardMatch(winner="team_a"), clock.now)
    waiting = {
        AlertKind.FORMAT_CONTRADICTION,
        AlertKind.MAP_CONTRADICTION,
        AlertKind.LINE_NOT_UNDERSTOOD,
        AlertKind.STATISTICS_CONTRADICTION,
    }
    ending = {AlertKind.SILENT_SOURCE, AlertKind.RESTARTED_LOWER, AlertKind.SCORE_CONTRADICTION}
    async with store.transaction() as tx:
        for kind in waiting | ending:
            await alerts.begin(tx, AlertSubject(kind, match_id=match.id), "why", clock.now)
    await monitor.update()
    assert {alert.kind for alert in await open_alerts(store, match=match)} == waiting


@pytest.fixture
async def leased(store: Store) -> None:
    """Tenant `acme`, to whom a feed process publishes."""
    async with store.transaction() as tx:
        await admin.create_tenant(tx, "acme", "Acme", by="tester", now=1)
    await give_vhost(store)
    async with store.transaction() as tx:
        await cursors.create_missing(tx)
        await cursors.acquire(tx, "feed", 1, 60_000)


@pytest.mark.usefixtures("leased")
async def test_a_tenant_that_loses_messages_is_an_alert(store: Store) -> None:
    assert (await _noted(store, 3)).startswith("3 messages")
    (alert,) = await all_alerts(store, AlertKind.TENANT_LOSING_MESSAGES)
    assert (alert.tenant, alert.ended_at) == ("acme", None)
    async with store.transaction() as tx:
        await tx.execute("UPDATE tenant_cursor SET dropped_at = dropped_at - 300000")
    assert await _noted(store, 3) == ""
    (alert,) = await all_alerts(store, AlertKind.TENANT_LOSING_MESSAGES)
    assert alert.ended_at is not None


async def _noted(store: Store, dropped: int, *, owed: bool = False, bound: str = "") -> str:
    """The alert's detail after the tenant's holder recorded this; "" when none is open."""
    async with store.transaction() as tx:
        tenant_id = await tx.value("SELECT tenant_id FROM tenant_cursor")
        await cursors.save_reports(tx, "feed", {tenant_id: TenantReport("", 0, dropped, -1, owed, bound)})
    await AlertMonitor(store, ManualClock(NOW), dead_seconds=DEAD).update()
    return "".join(alert.detail for alert in await open_alerts(store, AlertKind.TENANT_LOSING_MESSAGES))


@pytest.mark.usefixtures("leased")
async def test_an_alert_about_losses_counts_from_its_beginning(store: Store) -> None:
    assert await _noted(store, 40, owed=True) == "40 messages lost since the alert began"
    async with store.transaction() as tx:
        await tx.execute("UPDATE tenant_cursor SET dropped_at = dropped_at - 300000, notice_pending = false")
    assert await _noted(store, 40, bound='["q"]') == ""
    assert await _noted(store, 40, owed=True, bound="[]") == "live messages passed while no queue was bound"
    assert await _noted(store, 40, bound='["q"]') == ""
    assert await _noted(store, 42, owed=True, bound='["q"]') == "2 messages lost since the alert began"
    assert await _noted(store, 45, bound='["q"]') == "5 messages lost since the alert began"
    assert "no queue is bound" in await _noted(store, 45, owed=True, bound="[]")


async def test_alerts_about_a_match_end_with_it(
    store: Store, monitor: AlertMonitor, server: Server, client: httpx.AsyncClient
) -> None:
    about = AlertSubject(AlertKind.UNRATED_MATCH, match_id=server.match.id)
    async with store.transaction() as tx:
        await alerts.begin(tx, about, "no rating", NOW)
    await monitor.update()
    assert REGISTRY.get_sample_value("matchfeed_alerts_open", {"kind": "unrated_match"}) == 1
    answer = await client.post(f"/ops/v1/matches/{server.match.id}/cancel")
    assert answer.status_code == 200
    await monitor.update()
    assert REGISTRY.get_sample_value("matchfeed_alerts_open", {"kind": "unrated_match"}) == 0
    (ended,) = (await client.get("/ops/v1/alerts?open=false")).json()["data"]
    assert (ended["kind"], ended["match_id"]) == ("unrated_match", str(server.match.id))


async def test_operators_list_alerts_newest_first(
    store: Store, client: httpx.AsyncClient, server: Server
) -> None:
    rival = AlertSubject(AlertKind.RIVAL_SOURCE, match_id=server.match.id, subject="10.0.0.9:27015")
    losing = AlertSubject(AlertKind.TENANT_LOSING_MESSAGES, tenant="acme")
    async with store.transaction() as tx:
        await alerts.begin(tx, losing, "3 lost", NOW)
        await alerts.begin(tx, rival, "a second source claims the match", NOW + 1)
        await alerts.end(tx, losing, NOW + 2)

    async def kinds(query: str) -> list[str]:
        answer = await client.get(f"/ops/v1/alerts{query}")
        assert answer.status_code == 200, answer.text
        return [one["kind"] for one in answer.json()["data"]]

    assert await kinds("") == ["rival_source", "tenant_losing_messages"]
    assert await kinds("?open=true") == ["rival_source"]
    assert await kinds("?kind=tenant_losing_messages") == ["tenant_losing_messages"]
    assert await kinds(f"?match=od:match:{server.match.number}") == ["rival_source"]
    assert await kinds("?limit=1") == ["rival_source"]
    health = (await client.get("/v1/health")).json()["data"]
    assert health["parts"]["alerts"] == "rival_source: 1"
    assert (await client.get("/ops/v1/alerts?kind=nonsense")).status_code == 422


async def test_an_operator_takes_an_alert_over_http(store: Store, client: httpx.AsyncClient) -> None:
    about = AlertSubject(AlertKind.TENANT_RIGHTS, tenant="acme", subject="queues")
    async with store.transaction() as tx:
        await alerts.begin(tx, about, "too many queues", NOW)
    (alert,) = (await client.get("/ops/v1/alerts")).json()["data"]
    assert alert["taken_by"] is None

    async def post(**command: str) -> httpx.Response:
        return await client.post(f"/ops/v1/alerts/{alert['id']}/commands", json=command)

    taken = (await post(command="take")).json()["data"]
    assert taken["taken_by"] == taken["seen_by"] and taken["taken_by"].startswith("key:house/")
    assert (await post(command="hand_back")).json()["data"]["taken_by"] is None
    ended = (await post(command="end")).json()["data"]
    assert ended["ended_by"] == taken["seen_by"]
    assert (await post(command="take")).status_code == 409
    assert (await post(command="burn")).status_code == 422
