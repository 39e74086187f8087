"""A run of certification that is ended from outside ends what it has started, and says why."""

import asyncio
import os
import shlex
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from app.kit.errors import Unavailable
from app.sandbox.certification.clients import Clients
from app.sandbox.certification.ending import Interrupted, interruptible, requiring_broker, undisturbed
from app.store import migrations
from tests.support.eventually import eventually

_DEAF = "import signal, threading; signal.signal(signal.SIGTERM, signal.SIG_IGN)"


class Ended:
    """What is ended over several turns of the loop."""

    def __init__(self) -> None:
        self.done = False

    async def end(self) -> None:
        for _ in range(20):
            await asyncio.sleep(0)
        self.done = True


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_run_and_a_second_one_does_not_disturb_that(number: signal.Signals) -> None:
    notices, service, before = list[str](), Ended(), signal.getsignal(number)
    with pytest.raises(Interrupted, match=number.name):
        async with asyncio.timeout(30), interruptible(notices.append):
            try:
                os.kill(os.getpid(), number)
                await asyncio.Event().wait()
            finally:
                os.kill(os.getpid(), number)
                await undisturbed(service.end())
    assert service.done
    assert len(notices) == 1 and number.name in notices[0]
    assert signal.getsignal(number) is before


async def test_a_signal_while_everything_ends_already_leaves_nothing() -> None:
    service = Ended()
    with pytest.raises(Interrupted):
        async with asyncio.timeout(30), interruptible(lambda _: None):
            os.kill(os.getpid(), signal.SIGTERM)
            await undisturbed(service.end())
            await asyncio.Event().wait()
    assert service.done


async def test_a_failure_of_its_own_is_raised_as_it_is() -> None:
    with pytest.raises(Unavailable, match="the database"):
        async with interruptible(lambda _: None):
            try:
                os.kill(os.getpid(), signal.SIGTERM)
                await asyncio.Event().wait()
            finally:
                raise Unavailable("the database is not dropped")


async def test_a_broker_that_is_gone_ends_the_run_with_one_sentence() -> None:
    """And nothing else is said of what could not be removed from it."""

    async def check() -> None:
        raise Unavailable("RabbitMQ does not answer")

    service = Ended()
    with pytest.raises(Unavailable) as raised:
        async with asyncio.timeout(30), requiring_broker(check, gone=0.0, every=0.0):
            try:
                await asyncio.Event().wait()
            finally:
                await undisturbed(service.end())
                await check()
    assert service.done
    what = "the broker does not answer any more, so certification has ended without a result"
    assert str(raised.value) == f"{what}: RabbitMQ does not answer"


async def test_a_broker_that_answers_again_ends_nothing() -> None:
    answers, again = iter([False, True, False, True]), asyncio.Event()

    async def check() -> None:
        answered = next(answers, None)
        if answered is None:
            again.set()
        elif not answered:
            raise Unavailable("RabbitMQ does not answer")

    async with asyncio.timeout(30), requiring_broker(check, gone=600.0, every=0.0):
        await again.wait()


def _running(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


async def _client(directory: Path, *, deaf: bool) -> tuple[Clients, Callable[[], list[int]]]:
    """A client that runs, and its pids: its own, and that of a child that ignores SIGTERM, as it does
    itself if it is `deaf`."""
    file = directory / "pids"
    child = f"{_DEAF}; print('up', flush=True); threading.Event().wait()"
    code = f"""
import os, pathlib, subprocess, sys
{_DEAF if deaf else ""}
child = subprocess.Popen([sys.executable, '-c', {child!r}], stdout=subprocess.PIPE)
child.stdout.readline()
pathlib.Path({str(file)!r}).write_text(f"{{os.getpid()}} {{child.pid}}\\n")
child.wait()
"""
    clients = Clients(shlex.join((sys.executable, "-c", code)), directory, lambda number: {})
    await clients.start()
    await eventually(lambda: file.exists() and file.read_text().endswith("\n"))
    return clients, lambda: [pid for pid in map(int, file.read_text().split()) if _running(pid)]


@pytest.mark.parametrize("deaf", [True, False])
async def test_what_the_client_has_started_ends_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, deaf: bool
) -> None:
    """Also if the run is cancelled while a client is being ended that takes its time."""
    clients, running = await _client(tmp_path, deaf=deaf)
    assert len(running()) == 2
    ending = asyncio.create_task(clients.stop())
    await asyncio.sleep(0)
    ending.cancel()
    await asyncio.wait({ending})
    monkeypatch.setattr("app.sandbox.certification.clients._END_SECONDS", 0.1)
    await clients.stop_all()
    await eventually(running, lambda pids: not pids)


async def test_a_migration_that_is_cancelled_ends_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "pid"
    code = f"import os, pathlib, threading; pathlib.Path({str(file)!r}).write_text(f'{{os.getpid()}}\\n')"
    monkeypatch.setattr(migrations, "_COMMAND", ("-c", f"{code}; threading.Event().wait()"))
    migrating = asyncio.create_task(migrations._run_piccolo("postgresql://nowhere/none"))
    await eventually(lambda: file.exists() and file.read_text().endswith("\n"))
    migrating.cancel()
    await asyncio.wait({migrating})
    assert migrating.cancelled() and not _running(int(file.read_text()))
