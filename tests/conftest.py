"""Fixtures for all tests. What needs servers uses the fixture `services`, so unit tests start none.

Integration tests get a database of their own each (`database_url`, `store`), one vhost for internal queues
a run, and `settings` that lead to both. Tests are marked by the folder that they lie in.

Every test has an event loop of its own (`support.own_loops`).
"""

import asyncio
import gzip
import os
import secrets
import signal
from collections import Counter
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path

import hypothesis
import pytest
from hypothesis import Phase
from xdist.remote import Producer

from app.kit.garbage_collection import freeze_existing_objects
from app.settings import Settings
from app.store.connections import Store, open_store
from scripts.services import Services
from tests.support import databases, scheduler, standby
from tests.support import services as support

# A hook: pytest finds it here.
from tests.support.own_loops import pytest_fixture_setup  # noqa: F401

ROOT = Path(__file__).resolve().parents[1]
KINDS = ("unit", "integration", "contract", "e2e", "faults")
_SHOWN_LINES = 60  #: of each log of a test that failed

#: Without `explain`, which traces every line. `gate` is for `scripts/test`: the same examples each time, half
#: as many where a test does not say how many; a failure is reported at once, and not shrunk, which can take
#: minutes.
_SEARCH = (Phase.explicit, Phase.reuse, Phase.generate, Phase.target)
hypothesis.settings.register_profile(
    "project", deadline=None, print_blob=True, phases=(*_SEARCH, Phase.shrink)
)
hypothesis.settings.register_profile("gate", deadline=None, derandomize=True, max_examples=50, phases=_SEARCH)
hypothesis.settings.load_profile("project")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Mark tests by their folder, before `-m` selects; in a parallel run, order them for the scheduler."""
    for item in items:
        kind = item.path.relative_to(ROOT / "tests").parts[0]
        if kind in KINDS:
            item.add_marker(kind)
    yield
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: scheduler.rank(item.nodeid))


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name a case of bytes by its place. What compressed bytes begin with says when they were made, and
    processes that share the tests must name them alike."""
    return argname if isinstance(val, bytes) else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> scheduler.FileScheduling:
    return scheduler.FileScheduling(config, log)


def pytest_collection_finish() -> None:
    """Spare the garbage collector the code and the tests: half a million objects, a second or more each time,
    in which everything that a test waits for stands still."""
    freeze_existing_objects()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show with a failure how the logs end of the processes that the test started."""
    report = yield
    directory = getattr(item, "funcargs", {}).get("tmp_path")
    if report.when == "call" and report.failed and directory:
        for log in sorted(directory.glob("*.log")):
            lines = log.read_text(errors="replace").splitlines()
            report.sections.append((f"end of {log.name}", "\n".join(lines[-_SHOWN_LINES:])))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What judges said of the API documents; how many tests of each kind ran, and how many did not."""
    judged = [
        says
        for report in _called(terminalreporter)
        for name, says in report.user_properties
        if name == "judged"
    ]
    for says in sorted(map(str, judged)):
        terminalreporter.write_line(f"judged: {says}")
    ran = Counter(_kind(report) for report in terminalreporter.getreports("passed"))
    ran += Counter(_kind(report) for report in terminalreporter.getreports("failed"))
    kinds = ", ".join(f"{ran[kind]} {kind}" for kind in KINDS if ran[kind])
    terminalreporter.write_line(f"ran: {kinds}; skipped: {len(terminalreporter.getreports('skipped'))}")


def _called(reporter: pytest.TerminalReporter) -> list[pytest.TestReport]:
    return [each for outcome in ("passed", "failed") for each in reporter.getreports(outcome)]


def _kind(report: pytest.TestReport) -> str:
    return report.nodeid.split("/")[1]


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> Iterator[None]:
    """Ctrl-C reaches what tests start: a shell that runs the tests in the background has it ignored, which
    programs inherit."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def services() -> Iterator[Services]:
    """PostgreSQL, Redis and RabbitMQ with management; the same for the whole run."""
    with support.running(os.environ.get(support.SHARED)) as found:
        yield found


@pytest.fixture(scope="session")
def template(services: Services) -> Iterator[str]:
    """The name of a migrated, empty database to copy."""
    name = asyncio.run(databases.make_template(services.database_url))
    yield name
    asyncio.run(databases.drop(services.database_url, name))


@pytest.fixture(scope="session")
def empty_databases(services: Services, template: str) -> Iterator[databases.Databases]:
    """Migrated, empty databases, one for each test."""
    with databases.Databases(services.database_url, template) as found:
        yield found


@pytest.fixture(scope="session")
def standby_data() -> Iterator[Path]:
    """What a PostgreSQL primary and its standby begin with (`tests.support.standby`)."""
    with standby.made_data() as directory:
        yield directory


@pytest.fixture
def database_url(empty_databases: databases.Databases) -> Iterator[str]:
    """A migrated, empty database of this test's own."""
    url = empty_databases.take()
    yield url
    empty_databases.give_back(url)


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    async with await open_store(database_url, 4) as store:
        yield store


@pytest.fixture(scope="session")
def vhost(services: Services) -> Iterator[str]:
    """The vhost of this run's internal queues."""
    with support.vhost(services) as name:
        yield name


@pytest.fixture
def settings(services: Services, database_url: str, vhost: str) -> Settings:
    """Settings that lead to this test's database and this run's vhost."""
    return support.settings_for(services, database_url, rabbitmq_internal_vhost=vhost)


@pytest.fixture
async def slug(services: Services) -> AsyncIterator[str]:
    """A name for a tenant; the vhost and the user that it gets are gone afterwards."""
    name = f"t-{secrets.token_hex(6)}"
    async with support.withdrawn(services, name):
        yield name


@pytest.fixture(scope="session")
def data() -> Path:
    """The files that lie beside the checkout and not in it; skips, saying so, when they are missing."""
    place = Path(os.environ.get("MATCHFEED_DATA", ROOT.parent / "shared" / "data"))
    if not place.is_dir():
        pytest.skip(
            f"needs the data files that lie beside the checkout; {place} is missing (or set MATCHFEED_DATA)"
        )
    return place


@pytest.fixture(scope="session")
def real_log(data: Path) -> str:
    """The text of a real server's log: one map of Inferno, with all that goes on around it."""
    log = data / "cs2-server-inferno.log.gz"
    if not log.exists():
        pytest.skip(f"needs the real server log; {log} is missing")
    return gzip.decompress(log.read_bytes()).decode()
