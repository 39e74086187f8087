"""What `./scripts/cluster` prints about a running cluster."""

import os
from argparse import Namespace

import pytest

from scripts.lab import cluster
from scripts.lab.record import Record
from scripts.local_services.processes import Started, start_ticks


def test_the_status_has_processes_of_hosts_and_those_of_all_hosts(capsys: pytest.CaptureFixture[str]) -> None:
    mapper = Started("loopback/epmd", os.getpid(), start_ticks(os.getpid()))
    found = Record(False, {}, [mapper, Started("db1/postgresql", 2**22, 0)])
    cluster._status(found, Namespace())
    first, second = capsys.readouterr().out.splitlines()
    assert first.split() == ["loopback/epmd", "runs"]
    assert second.split() == ["db1/postgresql", found.hosts.address("db1"), "has", "ended", "(primary)"]
