"""Histories: the same seed gives the same one, and each can be run."""

from itertools import pairwise

import msgspec
import pytest

from app.commands.trading_commands import AnyCommand
from scripts.histories.history import MATCHES, SECONDS, TENANTS, Break, History, Order, Play, generated
from scripts.lab.faults import FAULTS
from scripts.lab.hosts import ALL

_PICKED = {"follow_source": {"source": "a"}}
_MARKET = {"market_id": 1, "specifiers": "map=1"}


def test_the_same_seed_gives_the_same_history() -> None:
    assert generated(7) == generated(7)
    assert len({msgspec.json.encode(generated(seed).steps) for seed in range(50)}) == 50


@pytest.mark.parametrize("seed", range(100))
def test_a_history_is_valid(seed: int) -> None:
    history = generated(seed)
    moments = [step.at for step in history.steps]
    assert moments == sorted(moments)
    assert moments[0] >= 0
    assert moments[-1] < history.seconds
    assert history.seconds == pytest.approx(
        max(step.at + getattr(step, "seconds", 0) for step in history.steps)
    )
    for step in history.steps:
        assert getattr(step, "tenant", 0) < TENANTS
        assert getattr(step, "match", 0) < MATCHES
        if isinstance(step, Order):
            picked = {} if step.pick is None else _PICKED.get(step.command, _MARKET)
            msgspec.convert({"command": step.command, **step.fields, **picked}, AnyCommand)
    assert any(isinstance(step, Play) for step in history.steps)


@pytest.mark.parametrize("seed", range(100))
def test_two_faults_of_different_hosts_overlap(seed: int) -> None:
    breaks = [step for step in generated(seed).steps if isinstance(step, Break)]
    assert len(breaks) == 2
    for first, second in pairwise(breaks):
        assert first.host != second.host
        assert first.at < second.at < first.at + first.seconds
    for step in breaks:
        assert step.host in FAULTS[step.fault].hosts


def test_every_fault_comes_up_on_hosts_of_the_cluster() -> None:
    assert {fault for seed in range(400) for fault in generated(seed).faults} == FAULTS.keys()
    assert {host for fault in FAULTS.values() for host in fault.hosts} <= set(ALL)


def test_a_history_without_faults_has_an_end() -> None:
    assert generated(1, count=0).seconds == SECONDS
    assert generated(1, count=0).faults == ()


def test_only_the_given_faults_come_up() -> None:
    some = [fault for fault in FAULTS.values() if not fault.separate]
    for seed in range(20):
        assert set(generated(seed, some, 3).faults) <= {fault.name for fault in some}


def test_the_first_fault_is_one_of_those_to_begin_with() -> None:
    first = [fault for fault in FAULTS.values() if fault.synchronous]
    histories = [generated(seed, first=first) for seed in range(20)]
    breaks = [[step for step in history.steps if isinstance(step, Break)] for history in histories]
    assert {each[0].fault for each in breaks} == {fault.name for fault in first}
    assert len({each[1].fault for each in breaks}) > 5


def test_a_history_is_stored_as_json() -> None:
    history = generated(3)
    assert msgspec.json.decode(msgspec.json.encode(history), type=History) == history
