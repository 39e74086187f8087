"""The doctor's findings about this machine."""

import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from app.operations.doctor import machine
from app.operations.doctor.findings import State
from scripts.local_services.certificates import ensure_certificate


@pytest.mark.parametrize(("days", "state"), [(15, State.WELL), (13, State.ILL), (-1, State.ILL)])
def test_a_certificate_is_ill_two_weeks_before_it_expires(tmp_path: Path, days: int, state: State) -> None:
    file = ensure_certificate(tmp_path).certificate
    until = x509.load_pem_x509_certificate(file.read_bytes()).not_valid_after_utc
    assert machine.certificate(str(file), until - timedelta(days=days)).state is state


def test_a_file_that_is_no_certificate_is_ill(tmp_path: Path) -> None:
    other = tmp_path / "other.pem"
    other.write_text("no certificate")
    assert machine.certificate(str(other), datetime.now(UTC)).state is State.ILL
    assert machine.certificate("", datetime.now(UTC)).state is State.WELL


def test_a_port_that_every_address_has_is_known() -> None:
    with socket.create_server(("0.0.0.0", 0)) as open_to_all, socket.create_server(("127.0.0.1", 0)) as own:
        found = machine.listening_everywhere()
        assert open_to_all.getsockname()[1] in found
        assert own.getsockname()[1] not in found
