"""Which broker is used: any that lets us administer it, never one that would have to be changed."""

import socket
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from app.broker.permissions import AuthorisationMode
from scripts.local_services import ports, rabbitmq, rabbitmq_package
from scripts.local_services.processes import ServiceError


def silent(line: str) -> None:
    """Nobody wants to know."""


def test_nothing_there_is_no_error() -> None:
    [amqp, api] = ports.free_ports([0, 0])
    assert not rabbitmq.usable(f"amqp://127.0.0.1:{amqp}", f"http://u:p@127.0.0.1:{api}", "http", silent)


def test_a_broker_without_management_is_left_alone_and_named() -> None:
    printed: list[str] = []
    [api] = ports.free_ports([0])
    with socket.create_server((ports.LOOPBACK, 0)) as broker:
        port = broker.getsockname()[1]
        usable = rabbitmq.usable(
            f"amqp://127.0.0.1:{port}", f"http://u:p@127.0.0.1:{api}", "http", printed.append
        )
    assert not usable
    assert f"127.0.0.1:{port} is left alone" in printed[0]
    assert f"management plugin does not answer on port {api}" in printed[0]


@pytest.mark.parametrize(
    ("status", "body", "authorisation", "why"),
    [
        (401, b"{}", "http", "answers 401 to user u"),
        (200, b'{"tags": ["monitoring"]}', "http", "user u is no administrator"),
        (200, b'{"tags": "monitoring,policymaker"}', "http", "user u is no administrator"),
        (200, b'{"tags": ["administrator"]}', "patterns", "does not ask us what tenants may do"),
    ],
)
def test_a_management_that_does_not_serve_us(
    status: int, body: bytes, authorisation: AuthorisationMode, why: str
) -> None:
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    printed: list[str] = []
    with socket.create_server((ports.LOOPBACK, 0)) as broker, HTTPServer((ports.LOOPBACK, 0), Answer) as api:
        Thread(target=api.handle_request).start()
        url = f"amqp://127.0.0.1:{broker.getsockname()[1]}"
        assert not rabbitmq.usable(
            url, f"http://u:p@127.0.0.1:{api.server_port}", authorisation, printed.append
        )
    assert why in printed[0]


def test_without_debian_packages_one_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(rabbitmq_package, "_SERVER", tmp_path / "bin" / "rabbitmq-server")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ServiceError, match="apt-get install rabbitmq-server"):
        rabbitmq_package.programs(silent)


def test_a_broker_without_the_plugin_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    server = tmp_path / "bin" / "rabbitmq-server"
    server.parent.mkdir()
    server.touch()
    monkeypatch.setattr(rabbitmq_package, "_SERVER", server)
    with pytest.raises(ServiceError, match="no management plugin"):
        rabbitmq_package.programs(silent)
