"""What is written down about private servers."""

import stat
from pathlib import Path

import pytest

from scripts.local_services import state as states
from scripts.local_services.processes import ServiceError, Started
from scripts.local_services.state import State


def test_what_is_remembered_is_there_at_once(tmp_path: Path) -> None:
    state = State(ports={"redis": 7000}, passwords={"rabbitmq": "secret"})
    started = Started("redis", 12345, 1)
    states.remember(tmp_path, state, started, REDIS_URL="redis://127.0.0.1:7000/0")
    read = states.load(tmp_path)
    assert read == state
    assert read.processes == [started]
    assert read.private == {"REDIS_URL": "redis://127.0.0.1:7000/0"}


def test_only_the_owner_reads_passwords(tmp_path: Path) -> None:
    states.save(tmp_path, State(passwords={"rabbitmq": "secret"}))
    assert stat.S_IMODE((tmp_path / "services.json").stat().st_mode) == 0o600


def test_a_directory_without_state_is_empty(tmp_path: Path) -> None:
    assert states.load(tmp_path) == State()


def test_a_broken_state_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "services.json").write_text("{")
    with pytest.raises(ServiceError, match=f"remove {tmp_path}"):
        states.load(tmp_path)


def test_one_at_a_time(tmp_path: Path) -> None:
    with (
        states.locked(tmp_path),
        pytest.raises(ServiceError, match="another start or stop"),
        states.locked(tmp_path),
    ):
        pytest.fail("two hold the lock")
    with states.locked(tmp_path):
        pass
