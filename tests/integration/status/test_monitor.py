"""Incidents begin, change and end by what processes record in the database; and what is known without it."""

import asyncio
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import msgspec
import pytest

from app.domain.daily_files import DAY_MILLIS, day_of
from app.domain.service_status import Incident, IncidentKind, Part, PartState
from app.kit.errors import Unavailable
from app.status.days import record_complete
from app.status.monitor import ServiceStatus, StatusConfig, StatusMonitor
from app.status.publication import day_views
from app.store import alerts, heartbeats, incidents
from app.store.alerts import AlertKind, AlertSubject
from app.store.connections import Store, open_store
from app.store.tables.operations import WorkerBeat
from tests.support.clocks import ManualClock
from tests.support.matches import create_match
from tests.support.route import Route
from tests.support.web import Headers

START = 2_000_000_000_000
CONFIG = StatusConfig(3, 2, 30, 0.999, ingest_dead_seconds=15, alive_seconds=10)


class Service:
    """The processes of a service as the database sees them, and a monitor of them."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.clock = ManualClock(START)
        self.monitor = self.new_monitor()
        self.alive = {heartbeats.INGEST, heartbeats.FEED}
        self.reaches_broker = True

    def new_monitor(self) -> StatusMonitor:
        return StatusMonitor(self.store, self.clock, CONFIG)

    async def beat(self) -> None:
        async with self.store.transaction() as tx:
            for kind in self.alive:
                await heartbeats.record(tx, f"{kind}-1", kind, self.clock.now)
            await heartbeats.record_web(tx, "web-1", listens=False, reaches_broker=self.reaches_broker)
            stamped = WorkerBeat.update({WorkerBeat.at: self.clock.now}).where(WorkerBeat.worker == "web-1")
            await tx.change(stamped)

    async def pass_seconds(self, seconds: int) -> ServiceStatus:
        """Time passes; processes that live send heartbeats, and the monitor observes, each second."""
        for _ in range(seconds):
            self.clock.now += 1_000
            await self.beat()
            await self.monitor.observe()
        return self.monitor.status


@pytest.fixture
def service(store: Store) -> Service:
    return Service(store)


def open_kinds(status: ServiceStatus) -> set[IncidentKind]:
    return {each.kind for each in status.incidents if each.ended_at is None}


def texts(one: Incident) -> list[str]:
    return [each.text for each in one.updates]


async def test_nothing_is_invented_while_everything_works(service: Service) -> None:
    status = await service.pass_seconds(40)
    assert status.incidents == () and set(status.parts.values()) == {PartState.OK}
    assert status.state is PartState.OK


async def test_nothing_is_known_before_the_first_observation(service: Service) -> None:
    with pytest.raises(Unavailable):
        _ = service.monitor.status


async def test_an_old_status_is_not_passed_off_as_present(service: Service) -> None:
    await service.pass_seconds(1)
    service.clock.now += 25_000
    with pytest.raises(Unavailable):
        _ = service.monitor.status


@pytest.mark.parametrize(
    ("process", "kind", "part"),
    [(heartbeats.INGEST, IncidentKind.INGEST, Part.PRICES), (heartbeats.FEED, IncidentKind.FEED, Part.FEED)],
)
async def test_a_dead_process_is_an_incident_from_its_last_heartbeat_until_it_is_back(
    service: Service, process: str, kind: IncidentKind, part: Part
) -> None:
    await service.pass_seconds(5)
    service.alive.discard(process)
    assert (await service.pass_seconds(14)).incidents == ()
    status = await service.pass_seconds(1)
    assert open_kinds(status) == {kind} and status.parts[part] is PartState.DOWN
    service.alive.add(process)
    assert open_kinds(await service.pass_seconds(8)) == {kind}
    [ended] = (await service.pass_seconds(1)).incidents
    assert ended.ended_at == START + 21_000 and ended.state is PartState.OK
    assert ended.began_at == START + 5_000
    assert (await service.pass_seconds(20)).incidents == (ended,)


async def test_processes_that_were_never_there_count_from_the_start(service: Service) -> None:
    service.alive.clear()
    assert (await service.pass_seconds(14)).incidents == ()
    assert open_kinds(await service.pass_seconds(1)) == {IncidentKind.INGEST, IncidentKind.FEED}


async def test_a_process_that_deletes_its_heartbeat_is_missed_as_late_as_any(service: Service) -> None:
    """As one does that ends in good order, before another one of its kind starts."""
    await service.pass_seconds(5)
    service.alive.discard(heartbeats.FEED)
    async with service.store.transaction() as tx:
        await heartbeats.remove(tx, "feed-1")
    assert (await service.pass_seconds(14)).incidents == ()
    assert open_kinds(await service.pass_seconds(1)) == {IncidentKind.FEED}


async def test_the_broker_is_away_while_no_web_process_reaches_it(service: Service) -> None:
    await service.pass_seconds(2)
    service.reaches_broker = False
    assert open_kinds(await service.pass_seconds(2)) == set()  # a blip
    status = await service.pass_seconds(1)
    assert open_kinds(status) == {IncidentKind.BROKER} and status.parts[Part.LOGS] is PartState.DOWN
    service.reaches_broker = True
    [ended] = (await service.pass_seconds(9)).incidents
    assert (ended.began_at, ended.ended_at) == (START + 3_000, START + 6_000)


async def test_one_silent_match_is_no_incident_and_most_of_them_are(service: Service) -> None:
    matches = [await create_match(service.store, START) for _ in range(3)]
    async with service.store.transaction() as tx:
        await tx.execute("UPDATE match SET status = 'live'")
    for count, (match, expected) in enumerate(zip(matches, (False, True, True), strict=True), 1):
        async with service.store.transaction() as tx:
            subject = AlertSubject(AlertKind.SILENT_SOURCE, match_id=match.id, subject="server")
            await alerts.begin(tx, subject, "silent", service.clock.now)
        status = await service.pass_seconds(4)
        assert (open_kinds(status) == {IncidentKind.SOURCES}) is expected, count
    assert status.parts[Part.PRICES] is PartState.DEGRADED


async def test_alerts_about_one_tenant_or_one_match_are_no_incidents(
    service: Service, basic: Headers
) -> None:
    async with service.store.transaction() as tx:
        for kind in AlertKind:
            if kind is not AlertKind.DEAD_PROCESS:
                await alerts.begin(tx, AlertSubject(kind, tenant="acme", subject=uuid4().hex), "x", START)
    assert (await service.pass_seconds(30)).incidents == ()


async def test_incidents_begin_and_end_once_whoever_observes(service: Service) -> None:
    others = [service.new_monitor() for _ in range(3)]
    service.alive.discard(heartbeats.INGEST)
    for second in range(40):
        if second == 25:
            service.alive.add(heartbeats.INGEST)
        service.clock.now += 1_000
        await service.beat()
        await asyncio.gather(*(each.observe() for each in (service.monitor, *others)))
    [ended] = service.monitor.status.incidents
    assert [each.state for each in ended.updates] == [PartState.DOWN, PartState.OK]
    assert {each.status.incidents for each in others} == {(ended,)}


async def test_an_incident_goes_on_when_its_observer_is_replaced(service: Service) -> None:
    service.alive.discard(heartbeats.INGEST)
    [before] = (await service.pass_seconds(16)).incidents
    service.monitor = service.new_monitor()
    assert (await service.pass_seconds(2)).incidents == (before,)
    service.alive.add(heartbeats.INGEST)
    [ended] = (await service.pass_seconds(9)).incidents
    assert ended.id == before.id and ended.ended_at is not None


@pytest.mark.parametrize("behind", [-2_000, -500, 500, 2_000])
async def test_clocks_that_differ_make_no_second_incident(service: Service, behind: int) -> None:
    """One process crosses each limit before another one does."""
    other_clock = ManualClock(START + behind)
    other = StatusMonitor(service.store, other_clock, CONFIG)
    await service.pass_seconds(5)
    for second in range(60):
        if second == 5:
            service.alive.discard(heartbeats.INGEST)
        if second == 40:
            service.alive.add(heartbeats.INGEST)
        service.clock.now += 1_000
        other_clock.now = service.clock.now + behind
        await service.beat()
        await service.monitor.observe()
        await other.observe()
    [ended] = service.monitor.status.incidents
    assert [each.state for each in ended.updates] == [PartState.DOWN, PartState.OK]


@pytest.mark.parametrize(
    ("process", "kind"),
    [(heartbeats.INGEST, IncidentKind.INGEST), (heartbeats.FEED, IncidentKind.FEED)],
)
async def test_a_new_web_process_does_not_end_what_goes_on(
    service: Service, process: str, kind: IncidentKind
) -> None:
    """The dead process ended in good order and left no heartbeat: the new web process has never seen one."""
    await service.pass_seconds(2)
    service.alive.discard(process)
    async with service.store.transaction() as tx:
        await heartbeats.remove(tx, f"{process}-1")
    [before] = (await service.pass_seconds(16)).incidents
    service.monitor = service.new_monitor()
    assert (await service.pass_seconds(20)).incidents == (before,)
    service.alive.add(process)
    [ended] = (await service.pass_seconds(9)).incidents
    assert (ended.id, ended.kind, ended.ended_at) == (before.id, kind, service.clock.now - 8_000)


async def test_an_outage_of_the_database_does_not_end_what_goes_on(service: Service) -> None:
    await service.pass_seconds(2)
    service.alive.discard(heartbeats.INGEST)
    [before] = (await service.pass_seconds(16)).incidents
    service.clock.now += 9_000
    service.monitor._failing_since = service.clock.now - 9_000
    status = await service.pass_seconds(20)
    assert before in status.incidents
    assert {each.kind for each in status.incidents} == {IncidentKind.INGEST, IncidentKind.DATABASE}


async def test_a_service_that_was_away_says_so_when_it_is_back(service: Service) -> None:
    await service.pass_seconds(3)
    service.clock.now += 25_000
    others = [service.new_monitor() for _ in range(2)]
    service.monitor = others[0]
    await service.beat()
    for each in others:
        await each.observe()
    status = await service.pass_seconds(1)
    gap = next(each for each in status.incidents if each.kind is IncidentKind.REST)
    assert (gap.began_at, gap.ended_at) == (START + 3_000, START + 28_000)
    assert gap.parts == (Part.REST, Part.STREAM, Part.LOGS)
    assert [each.kind for each in status.incidents] == [IncidentKind.REST]


async def test_a_restart_within_seconds_is_no_incident(service: Service) -> None:
    await service.pass_seconds(3)
    service.clock.now += 8_000
    service.monitor = service.new_monitor()
    assert (await service.pass_seconds(1)).incidents == ()


async def test_without_the_database_the_status_says_so_and_the_incident_is_written_after(
    store: Store, database_url: str
) -> None:
    address = urlsplit(database_url)
    assert address.hostname and address.port
    async with Route(address.hostname, address.port).open() as route:
        netloc = address.netloc.rpartition(":")[0] + f":{route.port}"
        through = urlunsplit(address._replace(netloc=netloc))
        async with await open_store(through, 2) as cut_store:
            service = Service(store)
            service.monitor = StatusMonitor(cut_store, service.clock, CONFIG)
            await service.pass_seconds(2)
            await route.cut()
            service.clock.now += 1_000
            await service.monitor.observe()
            assert service.monitor.status.incidents == ()  # a blip
            service.clock.now += 20_000
            await service.monitor.observe()
            status = service.monitor.status
            [away] = status.incidents
            assert (away.kind, away.id, away.began_at) == (IncidentKind.DATABASE, 0, START + 3_000)
            assert status.parts[Part.DATABASE] is status.parts[Part.REST] is PartState.DOWN
            assert status.parts[Part.LOGS] is PartState.OK
            await route.restore()
            status = await service.pass_seconds(1)
            [ended] = status.incidents
            assert (ended.kind, ended.began_at) == (IncidentKind.DATABASE, START + 3_000)
            assert ended.ended_at == service.clock.now and status.state is PartState.OK
    assert (await service.pass_seconds(0)).incidents == (ended,)


async def test_processes_of_one_outage_write_one_incident(service: Service) -> None:
    """The second one that was cut off extends what the first one has written."""
    await service.pass_seconds(1)
    async with service.store.transaction() as tx:
        await incidents.observe(tx, service.clock.now)
    first, second = service.new_monitor(), service.new_monitor()
    for each in (first, second):
        await each.observe()
    first._failing_since, second._failing_since = service.clock.now, service.clock.now - 500
    for each in (first, second):
        service.clock.now += 9_000
        await service.beat()
        await each.observe()
    [written] = second.status.incidents
    assert (written.began_at, written.ended_at) == (START + 500, START + 19_000)
    assert [each.at for each in written.updates] == [START + 1_000, START + 19_000]
    assert [each.state for each in written.updates] == [PartState.DOWN, PartState.OK]


async def test_a_day_is_shown_until_its_figures_are_stored(service: Service) -> None:
    """A day is complete a quarter of an hour after its end, and no day is missing until then."""
    monitor = service.monitor
    midnight = (START // DAY_MILLIS + 1) * DAY_MILLIS
    minutes = {-1: ["-"], 0: ["-", "-"], 5: ["-", "-"], 16: ["-", "complete"], 17: ["-", "complete"]}
    for minute, expected in minutes.items():
        service.clock.now = midnight + minute * 60_000 - (1 if minute < 0 else 0)
        if minute == 17:
            assert await record_complete(service.store, service.clock.now) == 1
        await service.pass_seconds(1)
        shown = day_views(monitor.status.days, monitor.status.at, CONFIG)
        assert shown[0].day == str(day_of(service.clock.now))
        found = ["complete" if each.complete else "-" for each in shown]
        assert found == expected, minute
        assert len({each.day for each in shown}) == len(shown)


async def test_incidents_name_no_process_and_no_match(service: Service) -> None:
    service.alive.clear()
    service.reaches_broker = False
    status = await service.pass_seconds(30)
    assert len(status.incidents) == 3
    body = msgspec.json.encode([each.updates for each in status.incidents]).decode()
    assert "web-1" not in body and "od:match" not in body and "acme" not in body
