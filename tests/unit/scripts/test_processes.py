"""Started processes: known again, ended, and never confused with somebody else's."""

import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic

import msgspec
import psutil
import pytest

from scripts.local_services import processes
from scripts.local_services.processes import ServiceError, Started

FOR_EVER = "import sys, threading; print('up', flush=True); threading.Event().wait()"
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + FOR_EVER
PARENT = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {DEAF!r}]).wait()"
Launch = Callable[..., Started]


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Launch]:
    """Start Python code (with a signal that ends it) and wait until it says that it is up; whatever is left
    is ended afterwards."""
    started: list[Started] = []

    def make(code: str, ending: int = signal.SIGTERM) -> Started:
        log = tmp_path / f"{len(started)}.log"
        started.append(processes.launch("it", [sys.executable, "-c", code], log, ending=ending))
        deadline = monotonic() + 20
        while "up" not in log.read_text():
            assert monotonic() < deadline, "the process did not come up"
        return started[-1]

    yield make
    processes.stop(started, patience=0.1)


def test_a_process_is_known_by_pid_and_start(launch: Launch) -> None:
    started = launch(FOR_EVER)
    assert processes.find(started)
    stranger = msgspec.structs.replace(started, ticks=started.ticks - 60)
    assert processes.find(stranger) is None


def test_a_process_is_known_after_the_clock_was_set(launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its time since the epoch is another one then (a laptop slept, a virtual machine was moved)."""
    started = launch(FOR_EVER)
    monkeypatch.setattr(psutil.Process, "create_time", lambda _: 0.0)
    monkeypatch.setattr(psutil, "boot_time", lambda: 0.0)
    assert processes.find(started)


def test_a_stranger_with_the_same_pid_is_left_alone(launch: Launch) -> None:
    started = launch(FOR_EVER)
    processes.stop([msgspec.structs.replace(started, ticks=started.ticks - 60)])
    assert processes.find(started)


def test_stopping_waits_until_the_process_is_gone(launch: Launch) -> None:
    first, second = launch(FOR_EVER), launch(FOR_EVER)
    assert processes.stop([first, second]) == []
    assert processes.find(first) is None
    assert processes.find(second) is None
    assert processes.stop([first]) == []


def test_a_deaf_process_is_killed_and_named(launch: Launch) -> None:
    started = launch(DEAF)
    assert processes.stop([started], patience=0.2) == ["it"]
    assert processes.find(started) is None


def test_children_go_with_their_parent(launch: Launch) -> None:
    parent = launch(PARENT)
    found = processes.find(parent)
    assert found
    [child] = found.children()
    processes.stop([parent], patience=2)
    assert not child.is_running() or child.status() == "zombie"


def test_a_signal_of_its_own_ends_a_process(launch: Launch, tmp_path: Path) -> None:
    code = "import signal, sys; signal.signal(signal.SIGINT, lambda *_: sys.exit('by INT')); " + FOR_EVER
    processes.stop([launch(code, signal.SIGINT)])
    assert processes.last_words(tmp_path / "0.log") == "by INT"


def test_what_cannot_be_run_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match="cannot run /nowhere/server: No such file"):
        processes.launch("it", ["/nowhere/server"], tmp_path / "it.log")


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("", "no output"),
        ("one\ntwo\n\n", "two"),
        ('{"event": "it went wrong", "level": "error"}\n', "it went wrong"),
    ],
)
def test_last_words(tmp_path: Path, text: str, last: str) -> None:
    log = tmp_path / "it.log"
    log.write_text(text)
    assert processes.last_words(log) == last


def test_a_log_that_is_not_there_says_so(tmp_path: Path) -> None:
    assert processes.last_words(tmp_path / "none.log") == "no output"
